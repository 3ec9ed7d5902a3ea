"""What a vLLM version decides: entrypoint, argument forms, defaults, metric names, user, known vulnerabilities.

No other module compares versions: it asks a ``VllmVersion``. Sources and dates stand in ``data/vllm.yaml``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from catalog.facts import Fact, UnknownFactError, load_yaml

_OLDEST = Version("0")


class Metric(Fact):
    """A metric on vLLM's /metrics page; ``until`` is the first version without it (or with it hidden)."""

    meaning: str
    name: str
    kind: Literal["gauge", "counter", "histogram"]
    since: str = "0"
    until: str | None = None

    def exists_in(self, version: Version) -> bool:
        """Whether this version shows the metric by default."""
        return Version(self.since) <= version and (self.until is None or version < Version(self.until))


class Vulnerability(Fact):
    """A published vulnerability: ``introduced`` <= affected versions < ``fixed``."""

    id: str
    introduced: str
    fixed: str
    severity: Literal["low", "medium", "high", "critical"]
    what: str
    confirmed: bool = True

    def affects(self, version: Version) -> bool:
        """Whether ``version`` lies in the affected range (a development build counts as its release)."""
        return Version(self.introduced) <= version < Version(self.fixed)


@cache
def metrics() -> tuple[Metric, ...]:
    """Every metric of every version."""
    return tuple(Metric.model_validate(row) for row in load_yaml("vllm.yaml")["metrics"])


@cache
def vulnerabilities() -> tuple[Vulnerability, ...]:
    """Every published vulnerability of the table."""
    return tuple(Vulnerability.model_validate(row) for row in load_yaml("vllm.yaml")["vulnerabilities"])


@dataclass(frozen=True)
class VllmVersion:
    """One vLLM version, and what it decides. Make it with ``vllm_version("v0.33.0")``."""

    release: Version

    def __str__(self) -> str:
        """The version as vLLM's tags write it, without the v."""
        return str(self.release)

    def _fact(self, key: str) -> Any:
        rows = load_yaml("vllm.yaml")["changes"][key]
        return [row["value"] for row in rows if Version(str(row["since"])) <= self.release][-1]

    @property
    def image(self) -> str:
        """The stock image, pinned by its tag."""
        return f"{load_yaml('vllm.yaml')['image_repository']}:v{self.release}"

    @property
    def command(self) -> tuple[str, ...] | None:
        """What our manifests state as ``command``; None leaves the image's entrypoint alone."""
        value = self._fact("command")
        return tuple(value) if value else None

    @property
    def model_is_positional(self) -> bool:
        """Whether the model is the first argument (else ``--model=…``)."""
        return bool(self._fact("model_argument") == "positional")

    @property
    def chunked_prefill_argument(self) -> str:
        """The argument that switches chunked prefill on, in the form that this version's parser takes."""
        return str(self._fact("chunked_prefill_argument"))

    @property
    def prefix_caching_default(self) -> bool:
        """Whether prefix caching is on without an argument."""
        return bool(self._fact("prefix_caching_default"))

    @property
    def trust_remote_code_default(self) -> bool:
        """Whether our manifests trust remote code where the stack does not say."""
        return bool(self._fact("trust_remote_code_default"))

    @property
    def gpu_memory_utilization_default(self) -> float:
        """The share of GPU memory that vLLM takes without an argument."""
        return float(self._fact("gpu_memory_utilization_default"))

    @property
    def hugging_face_token_variable(self) -> str:
        """The environment variable that carries the Hugging Face token."""
        return str(self._fact("hugging_face_token_variable"))

    @property
    def max_num_seqs_depends_on_gpu(self) -> bool:
        """Whether the default of ``--max-num-seqs`` changes with the GPU, so that a manifest should state it."""
        return bool(self._fact("max_num_seqs_depends_on_gpu"))

    @property
    def kv_cache_dtypes(self) -> tuple[str, ...]:
        """What ``--kv-cache-dtype`` may be."""
        return tuple(self._fact("kv_cache_dtypes"))

    @property
    def has_shutdown_timeout(self) -> bool:
        """Whether ``--shutdown-timeout`` (drain on SIGTERM) exists."""
        return bool(self._fact("shutdown_timeout_flag"))

    @property
    def engine_ready_timeout_variable(self) -> str | None:
        """The variable that bounds engine start in seconds, or None where there is no such limit."""
        value = self._fact("engine_ready_timeout_variable")
        return str(value) if value else None

    @property
    def engine_ready_timeout_default_seconds(self) -> int | None:
        """After how many seconds vLLM gives up on its own engine, unless told otherwise."""
        value = self._fact("engine_ready_timeout_default_seconds")
        return int(value) if value else None

    @property
    def run_as_user(self) -> int | None:
        """The uid of the image's non-root user; None where the image runs as root only."""
        value = self._fact("run_as_user")
        return None if value is None else int(value)

    @property
    def run_as_group(self) -> int | None:
        """The gid that goes with ``run_as_user``."""
        value = self._fact("run_as_group")
        return None if value is None else int(value)

    @property
    def home(self) -> str:
        """The home folder; caches live under ``<home>/.cache``."""
        return str(self._fact("home"))

    @property
    def hides_no_prefix(self) -> bool:
        """Whether switches are pairs --enable-x/--disable-x, with --no-enable-x taken but not listed."""
        return bool(self._fact("boolean_pairs") == "enable-disable")

    @property
    def has_ray_in_image(self) -> bool:
        """Whether the stock image contains Ray."""
        return bool(self._fact("ray_in_image"))

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that this version shows by default, by name."""
        return {metric.name: metric for metric in metrics() if metric.exists_in(self.release)}

    def metric(self, meaning: str) -> str:
        """The name of the metric with this meaning, e.g. ``kv_cache_usage``; the newer one where two exist.

        Raises:
            UnknownFactError: this version has no metric with that meaning.
        """
        names = [metric.name for metric in self.metrics.values() if metric.meaning == meaning]
        if not names:
            raise UnknownFactError(f"vLLM {self} shows no metric that means {meaning!r}")
        return names[-1]

    @cached_property
    def vulnerabilities(self) -> tuple[Vulnerability, ...]:
        """The published vulnerabilities that affect this version."""
        return tuple(row for row in vulnerabilities() if row.affects(self.release))


@cache
def vllm_version(text: str) -> VllmVersion:
    """The version written as ``0.33.0`` or ``v0.33.0``.

    Raises:
        UnknownFactError: the text is no version.
    """
    try:
        return VllmVersion(Version(re.sub(r"^v", "", text.strip())))
    except InvalidVersion:
        raise UnknownFactError(
            f"{text!r} is no vLLM version: write it like {default_vllm_version()} or v{default_vllm_version()}"
        ) from None


def default_vllm_version() -> str:
    """The version that is deployed where a stack does not say."""
    return str(load_yaml("vllm.yaml")["default_version"])


@cache
def first_version_without_known_vulnerability() -> str:
    """The oldest version that no listed vulnerability affects and that comes after every fix."""
    return str(max((Version(row.fixed) for row in vulnerabilities()), default=_OLDEST))
