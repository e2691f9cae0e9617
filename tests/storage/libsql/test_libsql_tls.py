"""Real TLS over the loopback: a certificate of our own, and who is trusted."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import BadConfig, Unwritable
from tests.engines import Sqld, missing
from tests.storage.libsql.proxy import Proxy

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"
USE = "keyUsage=critical,digitalSignature,keyCertSign"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Signed by itself; its key is beside it."""
    if not (program := shutil.which("openssl")):
        missing("TLS", "there is no openssl to make a certificate with")
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    made = ["-keyout", str(path.with_suffix(".key")), "-out", str(path), "-subj", "/CN=localhost"]
    command = [str(program), "req", *kind, *made, "-addext", NAMES, "-addext", USE]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.fixture
def encrypted(sqld: Sqld, certificate: Path) -> Iterator[str]:
    """The address of a new store behind a proxy that speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    proxy = Proxy(sqld.port, context)
    yield sqld.database().replace(str(sqld.port), str(proxy.port))
    proxy.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_store_behind_an_authority_of_ones_own(encrypted: str, certificate: Path, host: str) -> None:
    address = encrypted.replace("127.0.0.1", host) + "?tls=1"
    with Retentive.open(address, embedder="hashing", ca_file=str(certificate)) as store:
        store.add("Nobody on the way reads it")
        assert [hit.content for hit in store.search("who reads it on the way")] == ["Nobody on the way reads it"]
    again = encrypted.replace("libsql://127.0.0.1", f"https://{host}")
    with Retentive.open(again, embedder="hashing", ca_file=str(certificate)) as store:
        assert len(store.list()) == 1


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(encrypted: str) -> None:
    with pytest.raises(Unwritable, match="not trusted") as refusal:
        Retentive.open(f"{encrypted}?tls=1", embedder="none")
    assert "ca_file" in refusal.value.hint


def test_a_server_that_does_not_encrypt_is_named(sqld: Sqld) -> None:
    with pytest.raises(Unwritable, match="does not speak TLS") as refusal:
        Retentive.open(f"{sqld.database()}?tls=1", embedder="none")
    assert "?tls=0" in refusal.value.hint


def test_a_file_without_certificates_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for name in ("empty.pem", "none.pem"):
        with pytest.raises(BadConfig, match=name):
            Retentive.open("libsql://localhost:1?tls=1", embedder="none", ca_file=str(tmp_path / name))
