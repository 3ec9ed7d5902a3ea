"""Certificates: each verifies under its own authority only, says who it is, and its key is private."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.certificates import IDENTITIES, Identity, certificate_file, ensure, key_file
from sandbox.kubeconfig import kubeconfig


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sandbox") / "certificates"
    ensure(path)
    return path


def read(folder: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(certificate_file(folder, name).read_bytes())


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.name)
def test_signed_by_its_authority_and_by_no_other(folder: Path, identity: Identity) -> None:
    certificate = read(folder, identity.name)
    certificate.verify_directly_issued_by(read(folder, identity.authority))
    for other in {each.authority for each in IDENTITIES} - {identity.authority}:
        with pytest.raises(ValueError, match="does not match"):
            certificate.verify_directly_issued_by(read(folder, other))


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.name)
def test_says_who_it_is_for_years(folder: Path, identity: Identity) -> None:
    certificate = read(folder, identity.name)
    subject = certificate.subject
    assert [name.value for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == [identity.user]
    groups = [name.value for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert groups == ([identity.group] if identity.group else [])
    now = datetime.datetime.now(datetime.UTC)
    assert certificate.not_valid_before_utc < now < certificate.not_valid_after_utc - datetime.timedelta(days=3000)


def test_keys_are_private_and_fit_their_certificates(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    for path in folder.glob("*.key"):
        assert path.stat().st_mode & 0o777 == 0o600
    for identity in IDENTITIES:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_cert_chain(certificate_file(folder, identity.name), key_file(folder, identity.name))
    assert isinstance(read(folder, "serving").public_key(), ec.EllipticCurvePublicKey)


def test_they_are_made_once(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ensure(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_killed_maker_leaves_none_and_the_next_makes_all(tmp_path: Path) -> None:
    unfinished = tmp_path / ".certificates.new"
    unfinished.mkdir()
    unfinished.joinpath("serving.key").touch()
    ensure(tmp_path / "certificates")
    assert {path.name for path in tmp_path.iterdir()} == {"certificates"}


def test_the_kubeconfig_holds_all_it_needs(folder: Path) -> None:
    document = yaml.safe_load(kubeconfig(folder, "administrator", 20001))
    context = next(c["context"] for c in document["contexts"] if c["name"] == document["current-context"])
    assert context["cluster"] == document["clusters"][0]["name"]
    assert context["user"] == document["users"][0]["name"]
    cluster = document["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:20001"
    assert "insecure-skip-tls-verify" not in cluster
