"""The five processes of the control plane: their command lines, and where each says that it is healthy.

All listen on loopback only and speak TLS with the sandbox's own authorities.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.certificates import (
    CLUSTER_AUTHORITY,
    ETCD_AUTHORITY,
    PROXY_AUTHORITY,
    SERVICE_ACCOUNT_KEY,
    certificate_file,
    key_file,
)
from sandbox.ports import LOOPBACK
from sandbox.state_folder import StateFolder

PART_NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
"""In the order in which they need each other."""

SERVICE_CIDR = "10.100.0.0/16"
"""What EKS gives services where the VPC doesn't use that range."""

POD_CIDR = "10.64.0.0/16"
"""Where simulated pods get their addresses; nothing answers on them."""

NODE_LEASE_SECONDS = 10
"""A restarted KWOK plays no node before the killed one's leases have run out. A kubelet's have 40 s."""

CONTROLLERS_OFF = (
    # They talk to a cloud, to kubelets that join, or to volumes that are attached: none of that exists here.
    "cloud-node-lifecycle-controller",
    "node-route-controller",
    "service-lb-controller",
    "node-ipam-controller",
    "persistentvolume-attach-detach-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
)

CLIENT_REQUESTS_PER_SECOND = 100
"""The default, 20, makes a fresh cluster wait for its own service accounts."""


@dataclass(frozen=True)
class Part:
    """One process: its command line, where it says that it is healthy, and the files that it reads only at start."""

    name: str
    command: tuple[str, ...]
    health_url: str
    reads: tuple[Path, ...]

    @property
    def digest(self) -> str:
        """Changes with the command line and with what is in the files: then the process must be started anew."""
        digest = hashlib.sha256("\0".join(self.command).encode())
        for path in self.reads:
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]


def parts(folder: StateFolder, ports: Mapping[str, int], executable: Callable[[str], Path]) -> tuple[Part, ...]:
    """All parts in start order; ``executable`` finds a program by its name."""
    certificates = folder.certificates

    def certificate(name: str) -> str:
        return str(certificate_file(certificates, name))

    def key(name: str) -> str:
        return str(key_file(certificates, name))

    def secure(name: str) -> tuple[str, ...]:
        return (
            f"--bind-address={LOOPBACK}",
            f"--secure-port={ports[name]}",
            f"--tls-cert-file={certificate('serving')}",
            f"--tls-private-key-file={key('serving')}",
            "--profiling=false",
        )

    def client(name: str) -> tuple[str, ...]:
        kubeconfig = kubeconfig_file(folder, name)
        return (
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--leader-elect=false",
            f"--kube-api-qps={CLIENT_REQUESTS_PER_SECOND}",
            f"--kube-api-burst={2 * CLIENT_REQUESTS_PER_SECOND}",
        )

    etcd_url = f"https://{LOOPBACK}:{ports['etcd']}"
    peer_url = f"https://{LOOPBACK}:{ports['etcd-peer']}"
    flags: dict[str, tuple[str, ...]] = {
        "etcd": (
            "--name=sandbox",
            f"--data-dir={folder.etcd_data}",
            f"--listen-client-urls={etcd_url}",
            f"--advertise-client-urls={etcd_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=sandbox={peer_url}",
            *(
                flag
                for prefix in ("", "peer-")
                for flag in (
                    f"--{prefix}trusted-ca-file={certificate(ETCD_AUTHORITY)}",
                    f"--{prefix}cert-file={certificate('etcd')}",
                    f"--{prefix}key-file={key('etcd')}",
                    f"--{prefix}client-cert-auth=true",
                )
            ),
            # A process may die at any time without harm; only a power cut can lose data, and ``up`` repairs that.
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
        "kube-apiserver": (
            *secure("kube-apiserver"),
            f"--etcd-servers={etcd_url}",
            f"--etcd-cafile={certificate(ETCD_AUTHORITY)}",
            f"--etcd-certfile={certificate('etcd')}",
            f"--etcd-keyfile={key('etcd')}",
            f"--client-ca-file={certificate(CLUSTER_AUTHORITY)}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key(SERVICE_ACCOUNT_KEY)}",
            f"--service-account-signing-key-file={key(SERVICE_ACCOUNT_KEY)}",
            f"--service-cluster-ip-range={SERVICE_CIDR}",
            # For aggregated APIs, such as KEDA's external metrics.
            f"--requestheader-client-ca-file={certificate(PROXY_AUTHORITY)}",
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificate('front-proxy')}",
            f"--proxy-client-key-file={key('front-proxy')}",
            # Endpoints may not be loopback addresses, so the service `kubernetes` has none here; no pod would call it.
            f"--advertise-address={LOOPBACK}",
            "--endpoint-reconciler-type=none",
        ),
        "kube-controller-manager": (
            *secure("kube-controller-manager"),
            *client("kube-controller-manager"),
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={key(SERVICE_ACCOUNT_KEY)}",
            f"--root-ca-file={certificate(CLUSTER_AUTHORITY)}",
            # KEDA's stand-in serves no metrics: only the bounds count, and 15 s a look would only make people wait.
            "--horizontal-pod-autoscaler-sync-period=2s",
            f"--controllers=*,{','.join('-' + name for name in CONTROLLERS_OFF)}",
        ),
        "kube-scheduler": (*secure("kube-scheduler"), *client("kube-scheduler")),
        "kwok": (
            f"--kubeconfig={kubeconfig_file(folder, 'kwok')}",
            f"--config={stages_file(folder)}",
            "--manage-all-nodes=true",
            f"--server-address={LOOPBACK}:{ports['kwok']}",
            f"--tls-cert-file={certificate('serving')}",
            f"--tls-private-key-file={key('serving')}",
            f"--cidr={POD_CIDR}",
            f"--node-lease-duration-seconds={NODE_LEASE_SECONDS}",
        ),
    }
    health_urls = {
        "etcd": f"{etcd_url}/health",
        "kube-apiserver": f"https://{LOOPBACK}:{ports['kube-apiserver']}/readyz",
        "kube-controller-manager": f"https://{LOOPBACK}:{ports['kube-controller-manager']}/healthz",
        "kube-scheduler": f"https://{LOOPBACK}:{ports['kube-scheduler']}/readyz",
        "kwok": f"https://{LOOPBACK}:{ports['kwok']}/readyz",
    }
    serving = certificate_file(certificates, "serving")
    reads = {
        "etcd": (certificate_file(certificates, "etcd"),),
        "kube-apiserver": (serving,),
        "kube-controller-manager": (serving, kubeconfig_file(folder, "kube-controller-manager")),
        "kube-scheduler": (serving, kubeconfig_file(folder, "kube-scheduler")),
        "kwok": (serving, kubeconfig_file(folder, "kwok"), stages_file(folder)),
    }
    return tuple(
        Part(name, (str(executable(name)), *flags[name]), health_urls[name], reads[name]) for name in PART_NAMES
    )


API_CLIENTS = ("kube-controller-manager", "kube-scheduler", "kwok")
"""The parts that reach the API server with a kubeconfig of their own."""


def kubeconfig_file(folder: StateFolder, part: str) -> Path:
    """The kubeconfig with which a part reaches the API server."""
    return folder.configuration / f"{part}.kubeconfig"


def stages_file(folder: StateFolder) -> Path:
    """What KWOK does to nodes, pods and volume claims."""
    return folder.configuration / "kwok-stages.yaml"
