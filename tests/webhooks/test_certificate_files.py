"""Certificates from files: reloads, and files that are missing, damaged or expired."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.webhooks.reviews import AUTHORITY, Fleet, fleet, review, serving, write_certificate

from listwatch.certificate_signing import create_authority
from listwatch.clock import SystemClock
from listwatch.errors import ConfigError, UsageError
from listwatch.server.access.certificates import CertificateAuthority
from listwatch.testing.clocks import VirtualClock
from listwatch.webhooks import CertificateFiles, Webhooks
from listwatch.webhooks.certificates.certificate_keeper import CertificateKeeper
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate
from listwatch.webhooks.certificates.validity import read_validity

PATH = "/validate/accept.fleets.example.com"
DAY = 86_400.0


def declared(folder: Path) -> Webhooks:
    hooks = Webhooks("fleets", certificates=CertificateFiles(folder, interval=60), port=0, register=False)

    @hooks.validate(Fleet)
    def accept(obj: Fleet) -> None: ...

    return hooks


class MountedSecret:
    """A folder as a kubelet mounts it: links to files below a link, which is replaced at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._versions = 0

    def update(self, authority: CertificateAuthority = AUTHORITY) -> bytes:
        self._versions += 1
        version = self.folder / f"..version_{self._versions}"
        write_certificate(version, authority)
        (self.folder / "..next").symlink_to(version.name)
        os.replace(self.folder / "..next", self.folder / "..data")
        for name in ("tls.crt", "tls.key", "ca.crt"):
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(f"..data/{name}")
        return (self.folder / "tls.crt").read_bytes()


async def test_a_mounted_secret_is_reloaded_when_the_kubelet_replaces_it(tmp_path: Path):
    clock, secret = VirtualClock(start=datetime.now(UTC)), MountedSecret(tmp_path)
    async with serving(declared(tmp_path), clock=clock) as (_, caller):
        # Without a certificate, connections fail and the program is not ready, but healthy.
        with pytest.raises(aiohttp.ClientError):
            await caller.post(PATH, review(fleet()))
        status, line = await caller.probe("/readyz")
        assert (status, line) == (
            503,
            f"[-] webhooks: no certificate: cannot read {tmp_path}/tls.crt: No such file or directory",
        )
        assert (await caller.probe("/healthz"))[0] == 200

        first = secret.update()
        await clock.advance(60)
        assert await caller.presented() == first
        assert (await caller.probe("/readyz")) == (200, "[+] webhooks")
        assert (await caller.post(PATH, review(fleet()))).response["allowed"] is True

        second = secret.update()
        assert await caller.presented() == first
        await clock.advance(60)
        assert await caller.presented() == second != first


async def test_files_that_cannot_be_used_are_reported_and_the_last_certificate_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    clock = VirtualClock(start=datetime.now(UTC))
    write_certificate(tmp_path)
    good = (tmp_path / "tls.crt").read_bytes()
    other = AUTHORITY.issue("other", hosts=["127.0.0.1"])
    expired = CertificateAuthority.create(clock=VirtualClock()).issue("old", hosts=["127.0.0.1"])
    async with serving(declared(tmp_path), clock=clock) as (_, caller):
        for name, content, why in (
            ("tls.key", other.key, "cannot be used: the key does not belong to it"),
            ("tls.crt", b"garbage", "cannot be used: it or its key is damaged or encrypted"),
            ("tls.crt", b"x" * (1 << 21), "is larger than 1 MiB"),
        ):
            before = (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(content)
            caplog.clear()
            await clock.advance(120)
            errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
            assert [why in each for each in errors] == [True], errors
            assert other.key.decode() not in caplog.text
            assert await caller.presented() == good
            assert (await caller.probe("/readyz"))[0] == 200
            (tmp_path / name).write_bytes(before)
            await clock.advance(60)
        (tmp_path / "tls.crt").write_bytes(expired.certificate)
        (tmp_path / "tls.key").write_bytes(expired.key)
        await clock.advance(60)
        assert await caller.presented() == good


async def test_an_expired_certificate_makes_health_fail_until_it_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING)
    clock = VirtualClock(start=datetime.now(UTC))
    write_certificate(tmp_path)
    end = read_validity((tmp_path / "tls.crt").read_bytes()).end
    async with serving(declared(tmp_path), clock=clock) as (_, caller):
        clock.jump(330 * DAY)
        await clock.advance(60)
        assert (await caller.probe("/healthz"))[0] == 200
        assert [record.message for record in caplog.records] == [
            f"The certificate in {tmp_path}/tls.crt was not replaced in time: it expires at {end}"
        ]
        clock.jump(36 * DAY)
        await clock.advance(60)
        for probe in ("/healthz", "/readyz"):
            status, line = await caller.probe(probe)
            assert status == 503
            assert f"the certificate in {tmp_path}/tls.crt expired at {end:%Y-%m-%d %H:%M:%S} UTC: replace it" in line

        write_certificate(tmp_path, CertificateAuthority.create(clock=clock))
        await clock.advance(60)
        assert (await caller.probe("/healthz"))[0] == 200
        assert (await caller.probe("/readyz"))[0] == 200


def test_a_file_is_read_where_no_link_is(tmp_path: Path):
    write_certificate(tmp_path / "a")
    read = CertificateFiles(tmp_path / "a", ca="").read()
    assert (read.ca_bundle, b"PRIVATE" in read.key, "PRIVATE" in repr(read)) == (b"", True, False)
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(ConfigError, match=r"cannot read .*tls.crt: No such file"):
        CertificateFiles(tmp_path / "a").read()
    with pytest.raises(UsageError, match="greater than 0"):
        CertificateFiles(tmp_path, interval=0)


def test_the_validity_of_a_certificate_is_read_like_openssl_does(tmp_path: Path):
    for years in (1, 40):
        authority = CertificateAuthority.create(
            clock=VirtualClock(start=datetime(2025, 5, 6, 7, 8, 9, tzinfo=UTC) + timedelta(days=365 * years))
        )
        start, end = read_validity(b"a comment\n" + authority.certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=authority.certificate.decode())
        [known] = context.get_ca_certs()
        for found, expected in ((start, known["notBefore"]), (end, known["notAfter"])):
            assert found.timestamp() == ssl.cert_time_to_seconds(str(expected))


@given(st.data())
def test_a_damaged_certificate_is_a_config_error_or_has_a_validity(data: st.DataObject):
    der = bytearray(ssl.PEM_cert_to_DER_cert(AUTHORITY.certificate.decode()))
    for _ in range(data.draw(st.integers(1, 4))):
        der[data.draw(st.integers(0, 120))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(der)))
    with contextlib.suppress(ConfigError):
        read_validity(ssl.DER_cert_to_PEM_cert(bytes(der[:cut])).encode())


async def test_an_unexpected_error_is_reported_and_the_next_attempt_succeeds(tmp_path: Path):
    write_certificate(tmp_path)
    certificate = CertificateFiles(tmp_path).read()
    failures: list[Exception] = [ArithmeticError("of a library")]

    async def load() -> ServingCertificate:
        for error in failures:
            raise error
        return certificate

    async def publish(_: ServingCertificate) -> None: ...

    keeper = CertificateKeeper(load, publish, interval=60, clock=SystemClock())
    await keeper.refresh()
    with pytest.raises(ConfigError, match="no certificate: ArithmeticError: of a library"):
        keeper.check_ready()
    failures.clear()
    await keeper.refresh()
    keeper.check_ready()


async def test_a_certificate_that_is_not_valid_yet_does_not_replace_a_valid_one():
    clock = VirtualClock()
    now, day = clock.now(), timedelta(days=1)
    periods = [(now - day, now + 9 * day), (now + day, now + 20 * day)]
    pairs = [create_authority("webhooks", each) for each in periods]
    current, following = (ServingCertificate(each.certificate, each.key, source="a file") for each in pairs)
    found = [current]

    async def load() -> ServingCertificate:
        return found[-1]

    async def publish(_: ServingCertificate) -> None: ...

    keeper = CertificateKeeper(load, publish, interval=60, clock=clock)
    await keeper.refresh()
    found.append(following)
    for days, end in ((0.0, current.validity.end), (2.0, following.validity.end)):
        clock.jump(days * DAY)
        await keeper.refresh()
        assert keeper.expires_at == end
        keeper.check_ready()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no folder in memory")
def test_a_certificate_needs_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_certificate(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert CertificateFiles(tmp_path).read().context().get_ca_certs() == []
