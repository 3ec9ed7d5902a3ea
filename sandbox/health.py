"""Whether a part answers, and answers that it is well."""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from sandbox.api import tls_context
from sandbox.certificates import CLUSTER_AUTHORITY, ETCD_AUTHORITY
from sandbox.parts import Part

TIMEOUT_SECONDS = 2.0


def tls_contexts(certificates: Path) -> dict[str, ssl.SSLContext]:
    """By part name, the TLS settings of its health check: so a foreign program on its port is not taken for it."""
    cluster = tls_context(certificates, CLUSTER_AUTHORITY, "administrator")
    return {
        "etcd": tls_context(certificates, ETCD_AUTHORITY, "etcd"),
        "kube-apiserver": cluster,
        "kube-controller-manager": cluster,
        "kube-scheduler": cluster,
        "kwok": cluster,
    }


def problem(part: Part, context: ssl.SSLContext) -> str | None:
    """What is wrong with this part, or None when it is healthy."""
    url = urlsplit(part.health_url)
    connection = http.client.HTTPSConnection(str(url.hostname), url.port, timeout=TIMEOUT_SECONDS, context=context)
    try:
        connection.request("GET", url.path)
        response = connection.getresponse()
        body = response.read().decode("utf-8", errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return f"does not answer ({error})"
    finally:
        connection.close()
    if response.status != http.client.OK:
        failed = [line for line in body.splitlines() if line.startswith("[-]")]
        return f"answers {response.status}: {'; '.join(failed) or body.strip()[:200]}"
    return None
