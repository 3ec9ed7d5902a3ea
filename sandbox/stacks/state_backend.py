"""A home for the team's Pulumi state in AWS: a versioned, encrypted bucket without public access, and a KMS key.

Made once, outside any stack, since a stack can't hold its own state. Each step looks first, so a second run changes
nothing and an interrupted one goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.stacks.doctor import Ask, CliError

KEY_ALIAS = "alias/gpu-inference-pulumi-state"


@dataclass(frozen=True)
class StateBackend:
    """Where the state is, as `pulumi login` and `--secrets-provider` want it."""

    bucket: str
    region: str

    @property
    def url(self) -> str:
        """For ``pulumi login`` or PULUMI_BACKEND_URL."""
        return f"s3://{self.bucket}?region={self.region}"

    @property
    def secrets_provider(self) -> str:
        """For ``pulumi stack init --secrets-provider``."""
        return f"awskms:///{KEY_ALIAS}?region={self.region}"


def bucket_name(account: str, region: str) -> str:
    """One bucket an account and region; names are unique in all of AWS."""
    return f"gpu-inference-pulumi-state-{account}-{region}"


def prepare(account: str, region: str, ask: Ask, report: Callable[[str], None]) -> StateBackend:
    """Make what is missing, and say each step.

    Raises:
        CliError: AWS refuses a step; what was made before stays, and a second run goes on from there.
    """
    backend = StateBackend(bucket_name(account, region), region)
    in_region = ["--region", region]
    if not _exists(ask, ["kms", "describe-key", "--key-id", KEY_ALIAS, *in_region]):
        report(f"Making the KMS key {KEY_ALIAS}, with rotation")
        description = ["--description", "Encrypts the Pulumi state of gpu-inference"]
        key = ask(["kms", "create-key", *description, *in_region])["KeyMetadata"]["KeyId"]
        ask(["kms", "enable-key-rotation", "--key-id", key, *in_region])
        ask(["kms", "create-alias", "--alias-name", KEY_ALIAS, "--target-key-id", key, *in_region])
    of_bucket = ["--bucket", backend.bucket]
    if not _exists(ask, ["s3api", "head-bucket", *of_bucket, *in_region]):
        report(f"Making the bucket {backend.bucket}")
        # us-east-1 is where S3 makes a bucket by itself, and it refuses to be told so.
        place = [] if region == "us-east-1" else ["--create-bucket-configuration", f"LocationConstraint={region}"]
        ask(["s3api", "create-bucket", *of_bucket, *place, *in_region])
    report("Versioning on, encryption by the key, no public access")
    ask(["s3api", "put-bucket-versioning", *of_bucket, "--versioning-configuration", "Status=Enabled", *in_region])
    encryption = {
        "Rules": [
            {
                "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY_ALIAS},
                "BucketKeyEnabled": True,
            }
        ]
    }
    document = ["--server-side-encryption-configuration", json.dumps(encryption)]
    ask(["s3api", "put-bucket-encryption", *of_bucket, *document, *in_region])
    names = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    closed = ["--public-access-block-configuration", ",".join(f"{name}=true" for name in names)]
    ask(["s3api", "put-public-access-block", *of_bucket, *closed, *in_region])
    return backend


def _exists(ask: Ask, question: list[str]) -> bool:
    """Whether AWS knows the thing; any answer but "not found" is an error, or a bucket of somebody else's is taken."""
    try:
        ask(question)
    except CliError as error:
        if any(word in str(error) for word in ("NotFoundException", "(404)", "Not Found")):
            return False
        raise
    return True
