"""The few calls to the Kubernetes API that the sandbox makes itself: JSON over verified TLS with a client certificate.

The official client takes a second to import and does far more than this needs.
"""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import Any, Self

from sandbox.certificates import CLUSTER_AUTHORITY, certificate_file, key_file
from sandbox.errors import SandboxError
from sandbox.ports import LOOPBACK

FIELD_MANAGER = "gpu-inference-sandbox"
TIMEOUT_SECONDS = 10.0
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"

Object = dict[str, Any]
"""A Kubernetes object as JSON has it."""


class ApiError(SandboxError):
    """The API server refused a request; ``status`` is its HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def tls_context(certificates: Path, authority: str, identity: str) -> ssl.SSLContext:
    """Trusts only ``authority`` and presents the certificate of ``identity``."""
    context = ssl.create_default_context(cafile=str(certificate_file(certificates, authority)))
    context.load_cert_chain(certificate_file(certificates, identity), key_file(certificates, identity))
    return context


class Api:
    """One connection to the sandbox's API server, as its administrator. Use it in a ``with`` statement."""

    def __init__(self, certificates: Path, port: int) -> None:
        context = tls_context(certificates, CLUSTER_AUTHORITY, "administrator")
        self._connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS, context=context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def request(
        self, method: str, path: str, body: Object | None = None, content_type: str = "application/json"
    ) -> Object:
        """Send one request and return the answer.

        Raises:
            ApiError: the API server answers with an error status.
            SandboxError: it doesn't answer.
        """
        try:
            self._connection.request(
                method,
                path,
                body=json.dumps(body) if body is not None else None,
                headers={"Content-Type": content_type},
            )
            response = self._connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            raise SandboxError(
                f"The sandbox's API server does not answer ({error}). Repair it: python -m sandbox up."
            ) from error
        if response.status >= http.client.BAD_REQUEST:
            raise ApiError(f"{method} {path}: {answer.get('message', response.reason)}", response.status)
        return dict(answer)

    def apply(self, path: str, body: Object) -> Object:
        """Create the object at ``path`` or bring it to what ``body`` says (server-side apply)."""
        return self.request("PATCH", f"{path}?fieldManager={FIELD_MANAGER}&force=true", body, APPLY)

    def items(self, path: str) -> list[Object]:
        """All objects of a collection."""
        return list(self.request("GET", path)["items"])

    def delete(self, path: str, grace_period_seconds: int | None = None) -> None:
        """Delete an object; one that is gone already is fine."""
        body = None if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds}
        try:
            self.request("DELETE", path, body)
        except ApiError as error:
            if error.status != http.client.NOT_FOUND:
                raise
