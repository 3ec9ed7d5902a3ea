"""The sandbox's own certificate authorities and what they sign.

Three authorities, as on a real cluster: one for the API and its clients, one for etcd (a scheduler's certificate must
not open etcd), one for the API server as a proxy to aggregated APIs. Everything lives as long as the folder; ten years
of validity mean that nothing expires under a running sandbox.
"""

from __future__ import annotations

import datetime
import ipaddress
import shutil
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.ports import LOOPBACK

VALIDITY = datetime.timedelta(days=3650)
CLOCK_SKEW = datetime.timedelta(minutes=5)
"""Backdating, so that a clock that is set back a little does not make the certificates invalid."""
SERVICE_ACCOUNT_KEY = "service-account"
CLUSTER_AUTHORITY = "cluster-authority"
ETCD_AUTHORITY = "etcd-authority"
PROXY_AUTHORITY = "front-proxy-authority"

ADMINISTRATORS = "system:masters"
"""The group that RBAC always lets through."""


@dataclass(frozen=True)
class Identity:
    """One certificate: who signs it, and the user (common name) and group (organization) that it stands for."""

    name: str
    authority: str
    user: str
    group: str | None = None


IDENTITIES = (
    Identity("serving", CLUSTER_AUTHORITY, "sandbox"),
    Identity("administrator", CLUSTER_AUTHORITY, "sandbox-administrator", ADMINISTRATORS),
    Identity("kube-controller-manager", CLUSTER_AUTHORITY, "system:kube-controller-manager"),
    Identity("kube-scheduler", CLUSTER_AUTHORITY, "system:kube-scheduler"),
    # KWOK plays every kubelet and the volume provisioner at once, and no built-in role is that wide.
    Identity("kwok", CLUSTER_AUTHORITY, "sandbox-kwok", ADMINISTRATORS),
    Identity("etcd", ETCD_AUTHORITY, "etcd"),
    Identity("front-proxy", PROXY_AUTHORITY, "front-proxy"),
)


def certificate_file(folder: Path, name: str) -> Path:
    """The certificate called ``name`` (an identity's or an authority's) in PEM."""
    return folder / f"{name}.crt"


def key_file(folder: Path, name: str) -> Path:
    """The private key called ``name`` in PEM, mode 0600."""
    return folder / f"{name}.key"


def ensure(folder: Path) -> None:
    """Make all certificates and keys, unless they are there. They appear in one step, so never half of them."""
    if folder.is_dir():
        return
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    authorities = {name: _authority(new, name) for name in (CLUSTER_AUTHORITY, ETCD_AUTHORITY, PROXY_AUTHORITY)}
    for identity in IDENTITIES:
        _leaf(new, identity, *authorities[identity.authority])
    _key(new, SERVICE_ACCOUNT_KEY)
    new.rename(folder)


def _key(folder: Path, name: str) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    path = key_file(folder, name)
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    return key


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + VALIDITY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _authority(folder: Path, name: str) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = _key(folder, name)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"gpu-inference sandbox {name}")])
    certificate = (
        _builder(subject, subject, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file(folder, name).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _leaf(
    folder: Path, identity: Identity, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey
) -> None:
    key = _key(folder, identity.name)
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, identity.user)]
    if identity.group:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, identity.group))
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(LOOPBACK))]
    certificate = (
        _builder(x509.Name(attributes), authority.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    certificate_file(folder, identity.name).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
