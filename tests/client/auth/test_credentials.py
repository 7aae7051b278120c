import asyncio
import base64
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from listwatch.client.auth.credential import IssuedCredential
from listwatch.client.auth.credentials import (
    Credential,
    Credentials,
    FixedCredentials,
    IssuedCredentials,
    TokenFileCredentials,
    credentials_for,
)
from listwatch.client.config.client_config import ClientConfig, ExecConfig, OIDCConfig
from listwatch.client.config.tls import ClientCertificate
from listwatch.errors import CredentialError
from listwatch.testing.clocks import START, VirtualClock

CANARY = "c4n4ry-in-the-mine"
HOST = "https://10.0.0.1:6443"
PLUGIN = ExecConfig(command="/nowhere/plugin")
PROVIDER = OIDCConfig(issuer_url="https://idp", client_id="c", id_token="t")


async def unused(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, tls: Any
) -> tuple[int, bytes]:
    raise AssertionError("must not be called")


def credentials(clock: VirtualClock | None = None, **fields: Any) -> Credentials:
    return credentials_for(ClientConfig(host=HOST, **fields), fetch=unused, clock=clock)


# Fixed credentials


@pytest.mark.parametrize(
    ("fields", "authorization"),
    [
        ({}, ""),
        ({"token": "t"}, "Bearer t"),
        ({"token": " t\n"}, "Bearer t"),
        ({"username": "jane", "password": "ö:x"}, "Basic " + base64.b64encode("jane:ö:x".encode()).decode()),
        ({"username": "jane"}, "Basic amFuZTo="),
        ({"client_cert_data": b"c", "client_key_data": b"k"}, ""),
        # With another credential, no plugin is started and no provider is called.
        ({"token": "t", "exec": PLUGIN}, "Bearer t"),
        ({"username": "jane", "exec": PLUGIN}, "Basic amFuZTo="),
        ({"client_cert_data": b"c", "client_key_data": b"k", "exec": PLUGIN}, ""),
        ({"token": "t", "auth_provider": PROVIDER}, "Bearer t"),
    ],
)
async def test_fixed_credentials_are_sent_and_never_renewed(fields: dict[str, Any], authorization: str):
    found = credentials(**fields)
    credential = await found.current()
    assert credential == Credential(authorization)
    assert await found.current() is credential
    assert await found.renew(credential) is False
    await found.aclose()


# Token files


async def test_a_token_file_is_read_again_when_its_token_is_fifty_seconds_old(tmp_path: Path):
    path, clock = tmp_path / "token", VirtualClock()
    path.write_text("first\n")
    found = credentials(clock, token_file=str(path))
    assert await found.current() == Credential("Bearer first")
    path.write_text("second")
    clock.jump(49.9)
    assert await found.current() == Credential("Bearer first")
    clock.jump(0.1)
    assert await found.current() == Credential("Bearer second")
    path.write_text("third")
    clock.jump(49)
    assert await found.current() == Credential("Bearer second")
    await found.aclose()


async def test_the_last_token_is_used_while_the_file_cannot_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path, clock = tmp_path / "token", VirtualClock()
    path.write_text("first")
    found = credentials(clock, token_file=str(path))
    await found.current()
    for broken in (path.unlink, path.touch, lambda: path.write_text(f"{CANARY}\n{CANARY}")):
        broken()
        clock.jump(50)
        assert await found.current() == Credential("Bearer first")
    assert caplog.text.count("Using the last token") == 1
    path.write_text("second")
    assert await found.current() == Credential("Bearer second"), "a failed read is repeated at once"
    assert CANARY not in caplog.text


@pytest.mark.parametrize("content", ["", " \n", "two\nlines", "ünicode"])
async def test_a_file_without_a_token_is_an_error_that_does_not_show_it(tmp_path: Path, content: str):
    (tmp_path / "token").write_text(content)
    with pytest.raises(CredentialError) as caught:
        await credentials(token_file=str(tmp_path / "token")).current()
    assert str(caught.value).startswith(f"{tmp_path}/token: token_file: th")
    assert "lines" not in str(caught.value)


async def test_a_missing_token_file_is_an_error_each_time(tmp_path: Path):
    found = credentials(token_file=str(tmp_path / "token"))
    for _ in range(2):
        with pytest.raises(CredentialError, match="token_file: the token cannot be read: No such file or directory"):
            await found.current()
    (tmp_path / "token").write_text("t")
    assert await found.current() == Credential("Bearer t")


async def test_the_token_file_takes_precedence_as_soon_as_it_can_be_read(tmp_path: Path):
    path, clock = tmp_path / "token", VirtualClock()
    found = credentials(clock, token="given", token_file=str(path))
    assert await found.current() == Credential("Bearer given")
    path.write_text("from file")
    assert await found.current() == Credential("Bearer from file")
    path.unlink()
    clock.jump(50)
    assert await found.current() == Credential("Bearer from file")


async def test_a_rejected_token_is_retried_if_the_file_has_a_new_one(tmp_path: Path):
    path = tmp_path / "token"
    path.write_text("first")
    found = credentials(VirtualClock(), token_file=str(path))
    first = await found.current()
    assert await found.renew(first) is False
    path.write_text("second")
    assert await found.renew(first) is True
    assert await found.current() == Credential("Bearer second")
    assert await found.renew(first) is True, "another request that was sent with the old one"
    path.unlink()
    assert await found.renew(await found.current()) is False


# Issued credentials


class ScriptedIssuer:
    """Issues scripted credentials, when `may_respond` is set."""

    def __init__(self, *results: IssuedCredential | CredentialError) -> None:
        self.calls: list[bool] = []
        self.may_respond = asyncio.Event()
        self.may_respond.set()
        self._results = iter(results)

    async def issue(self, *, renew: bool) -> IssuedCredential:
        self.calls.append(renew)
        result = next(self._results)
        await self.may_respond.wait()
        if isinstance(result, CredentialError):
            raise result
        return result


def issued(token: str, seconds: float | None = None) -> IssuedCredential:
    return IssuedCredential(
        Credential(f"Bearer {token}"), START + timedelta(seconds=seconds) if seconds is not None else None
    )


async def test_an_issued_credential_is_used_until_it_has_expired():
    clock, issuer = VirtualClock(), ScriptedIssuer(issued("a", 60), issued("b", 120), issued("c"))
    found = IssuedCredentials(issuer, clock=clock)
    assert await found.current() == Credential("Bearer a")
    clock.jump(60)
    assert await found.current() == Credential("Bearer a"), "its last moment"
    clock.jump(0.1)
    assert await found.current() == Credential("Bearer b")
    clock.jump(3600)
    assert await found.current() == Credential("Bearer c")
    clock.jump(1e9)
    assert await found.current() == Credential("Bearer c"), "it never expires"
    assert issuer.calls == [False, False, False]


async def test_a_rejected_credential_is_renewed_once():
    issuer = ScriptedIssuer(issued("a"), issued("b"))
    found = IssuedCredentials(issuer, clock=VirtualClock())
    first = await found.current()
    assert await asyncio.gather(*(found.renew(first) for _ in range(5))) == [True] * 5
    assert await found.renew(first) is True, "a late response to an old request"
    assert await found.current() == Credential("Bearer b")
    assert issuer.calls == [False, True]


async def test_a_renewal_with_the_same_credential_is_not_retried():
    certificate = ClientCertificate(b"c", b"k")
    again = [
        IssuedCredential(Credential("Bearer a", certificate)),
        IssuedCredential(Credential("Bearer a", ClientCertificate(b"c", b"k"))),
    ]
    found = IssuedCredentials(ScriptedIssuer(*again), clock=VirtualClock())
    first = await found.current()
    assert await found.renew(first) is False
    assert await found.renew(first) is False, "nor is the issuer called a third time"


async def test_a_rejection_without_a_new_credential_is_logged(caplog: pytest.LogCaptureFixture):
    found = IssuedCredentials(ScriptedIssuer(issued("a"), CredentialError("the plugin failed")), clock=VirtualClock())
    first = await found.current()
    assert await found.renew(first) is False
    assert "The server rejected the credentials, and renewing them failed: the plugin failed" in caplog.text
    assert await found.current() is first


async def test_concurrent_requests_share_one_renewal():
    issuer = ScriptedIssuer(issued("a"))
    issuer.may_respond.clear()
    found = IssuedCredentials(issuer, clock=VirtualClock())
    waiting = [asyncio.create_task(found.current()) for _ in range(10)]
    await asyncio.sleep(0)
    issuer.may_respond.set()
    assert set(await asyncio.gather(*waiting)) == {Credential("Bearer a")}
    assert len(issuer.calls) == 1


async def test_concurrent_requests_share_one_failure_and_the_next_request_retries():
    issuer = ScriptedIssuer(CredentialError("no"), issued("a"))
    found = IssuedCredentials(issuer, clock=VirtualClock())
    results = await asyncio.gather(*(found.current() for _ in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["no"] * 3
    assert await found.current() == Credential("Bearer a")
    assert len(issuer.calls) == 2


async def test_cancelling_one_request_does_not_cancel_the_renewal():
    issuer = ScriptedIssuer(issued("a"))
    issuer.may_respond.clear()
    found = IssuedCredentials(issuer, clock=VirtualClock())
    first, second = (asyncio.create_task(found.current()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    issuer.may_respond.set()
    assert await second == Credential("Bearer a")


async def test_a_failed_renewal_without_waiting_requests_is_not_reported():
    issuer = ScriptedIssuer(CredentialError("no"), issued("a"))
    issuer.may_respond.clear()
    found = IssuedCredentials(issuer, clock=VirtualClock())
    waiting = asyncio.create_task(found.current())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    issuer.may_respond.set()
    with pytest.raises(CredentialError, match="no"):
        await found.current()
    assert await found.current() == Credential("Bearer a")


async def test_closing_cancels_a_pending_renewal():
    issuer = ScriptedIssuer(issued("a"))
    issuer.may_respond.clear()
    found = IssuedCredentials(issuer, clock=VirtualClock())
    waiting = asyncio.create_task(found.current())
    await asyncio.sleep(0)
    await found.aclose()
    with pytest.raises(CredentialError, match="the client was closed while it waited for credentials"):
        await waiting
    await found.aclose()


# Secrets


def test_credentials_show_no_secret():
    credential = Credential(f"Bearer {CANARY}", ClientCertificate(CANARY.encode(), CANARY.encode()))
    shown = [credential, IssuedCredential(credential), FixedCredentials(credential)]
    assert CANARY not in repr(shown)
    assert repr(credential) == "Credential(<hidden: authorization, certificate>)"
    assert repr(Credential()) == "Credential(<hidden: nothing>)"


async def test_no_secret_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "token").write_text(CANARY)
    clock = VirtualClock()
    found = TokenFileCredentials(str(tmp_path / "token"), clock=clock)
    await found.current()
    (tmp_path / "token").write_text(f"{CANARY}\n{CANARY}")
    clock.jump(50)
    await found.current()
    assert CANARY not in caplog.text + repr(found)


# How often an issuer is used


class CountingIssuer:
    """Issues what a function returns, and counts."""

    def __init__(self, issue: Callable[[int], IssuedCredential]) -> None:
        self.runs = 0
        self._issue = issue

    async def issue(self, *, renew: bool) -> IssuedCredential:
        self.runs += 1
        return self._issue(self.runs)


def failing(_: int) -> IssuedCredential:
    raise CredentialError("the plugin failed", file="/config", entry='user "jane"')


async def send(found: IssuedCredentials, *, is_accepted: bool) -> None:
    """Do with credentials what the transport does for one request."""
    with suppress(CredentialError):
        credential = await found.current()
        if not is_accepted:
            await found.renew(credential)


@pytest.mark.parametrize(
    ("issue", "is_accepted"),
    [
        (lambda number: issued(f"expired {number}", -1), True),
        (lambda number: issued(f"expired {number}", -1), False),
        (lambda number: issued(f"rejected {number}"), False),
        (lambda _: issued("always the same"), False),
        (failing, True),
    ],
    ids=["expired", "expired and rejected", "rejected", "the same again", "failing"],
)
async def test_a_useless_issuer_is_used_with_a_backoff(issue: Callable[[int], IssuedCredential], is_accepted: bool):
    clock, issuer = VirtualClock(), CountingIssuer(issue)
    found = IssuedCredentials(issuer, clock=clock)
    runs = []
    for _ in range(6):  # minutes
        before = issuer.runs
        for _ in range(600):
            await send(found, is_accepted=is_accepted)
            clock.jump(0.1)
        runs.append(issuer.runs - before)
    assert runs[0] <= 8
    assert 0 < sum(runs[1:]) <= 8, "it is still used"


async def test_a_failure_is_repeated_until_the_next_attempt():
    clock = VirtualClock()
    issuer = ScriptedIssuer(CredentialError("no", file="f"), CredentialError("no", file="f"), issued("a"))
    found = IssuedCredentials(issuer, clock=clock)
    messages = []
    for _ in range(3):
        with pytest.raises(CredentialError) as caught:
            await found.current()
        messages.append(str(caught.value))
    assert messages == ["f: no", "f: no", "f: no; the next attempt is possible in 1.0 s"]
    clock.jump(1)
    assert await found.current() == Credential("Bearer a")


async def test_an_expired_credential_is_sent_while_no_new_one_may_be_requested():
    issuer = CountingIssuer(lambda number: issued(f"{number}", -1))
    found = IssuedCredentials(issuer, clock=VirtualClock())
    tokens = [(await found.current()).authorization for _ in range(4)]
    assert tokens == ["Bearer 1", "Bearer 2", "Bearer 2", "Bearer 2"]


async def test_a_credential_that_was_valid_for_a_while_is_renewed_at_once():
    clock = VirtualClock()
    issuer = CountingIssuer(lambda number: issued(f"{number}"))
    found = IssuedCredentials(issuer, clock=clock)
    for number in range(1, 20):
        credential = await found.current()
        assert credential == Credential(f"Bearer {number}")
        clock.jump(11)
        assert await found.renew(credential) is True


async def test_short_lived_credentials_are_renewed_each_time_they_expire():
    clock = VirtualClock()
    issuer = CountingIssuer(lambda number: issued(f"{number}", 2 * number))
    found = IssuedCredentials(issuer, clock=clock)
    for number in range(1, 50):
        assert await found.current() == Credential(f"Bearer {number}")
        clock.jump(2.001 if number == 1 else 2)


# Invalid token files


async def test_a_token_file_of_any_size_is_an_error(tmp_path: Path):
    (tmp_path / "token").touch()
    os.truncate(tmp_path / "token", 2**40)  # takes no space
    with pytest.raises(CredentialError, match="the token cannot be read: it has more than 1,048,576 bytes"):
        await credentials(token_file=str(tmp_path / "token")).current()


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "fifo"])
async def test_a_token_file_that_is_not_a_regular_file_is_an_error(tmp_path: Path, path: str):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CredentialError, match="the token cannot be read: it is not a regular file"):
        await credentials(token_file=str(tmp_path / path)).current()
