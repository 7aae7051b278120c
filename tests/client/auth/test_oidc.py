import base64
import json
import logging
import ssl
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import trustme
import yaml

from listwatch.client.auth.credentials import Credential, IssuedCredentials, credentials_for
from listwatch.client.auth.oidc import OIDCProvider
from listwatch.client.config.client_config import ClientConfig, KubeconfigUser, OIDCConfig
from listwatch.errors import ConnectRefusedError, CredentialError
from listwatch.testing.clocks import START, VirtualClock

CANARY = "c4n4ry-in-the-mine"
ISSUER = "http://idp.example.com/realm"
DISCOVERY = f"{ISSUER}/.well-known/openid-configuration"
ENDPOINT = "http://idp.example.com/token"


def id_token(seconds: float, **claims: Any) -> str:
    """A token that expires so many seconds after the clock's start."""
    claims = {"sub": "jane", "exp": (START + timedelta(seconds=seconds)).timestamp()} | claims
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.c2ln"


class ScriptedProvider:
    """An identity provider with scripted responses. It keeps the requests."""

    def __init__(self, *tokens: Any, discovery: Any = None, statuses: tuple[int, ...] = ()) -> None:
        self.requests: list[tuple[str, str]] = []
        self.forms: list[dict[str, str]] = []
        self.headers: list[Mapping[str, str]] = []
        self.tls: list[ssl.SSLContext | None] = []
        self._discovery = discovery or {"token_endpoint": ENDPOINT, "issuer": ISSUER}
        self._tokens = iter(tokens)
        self._statuses = iter(statuses)

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, tls: ssl.SSLContext | None
    ) -> tuple[int, bytes]:
        self.requests.append((method, url))
        self.headers.append(headers)
        self.tls.append(tls)
        if method == "GET":
            return next(self._statuses, 200), _encoded(self._discovery)
        self.forms.append(dict(parse_qsl((body or b"").decode())))
        return next(self._statuses, 200), _encoded(next(self._tokens))


def _encoded(response: Any) -> bytes:
    return response if isinstance(response, bytes) else json.dumps(response).encode()


def described(**fields: Any) -> OIDCConfig:
    return OIDCConfig(**{"issuer_url": ISSUER, "client_id": "me", "refresh_token": "r1", **fields})


def credentials(provider: Any, clock: VirtualClock, **fields: Any) -> IssuedCredentials:
    return IssuedCredentials(OIDCProvider(described(**fields), fetch=provider, clock=clock), clock=clock)


# Renewal


async def test_an_id_token_is_used_until_ten_seconds_before_it_expires():
    clock, old, new = VirtualClock(), id_token(60), id_token(3600)
    provider = ScriptedProvider({"id_token": new})
    found = credentials(provider, clock, id_token=old)
    assert await found.current() == Credential(f"Bearer {old}")
    clock.jump(50)
    assert await found.current() == Credential(f"Bearer {old}")
    assert provider.requests == []
    clock.jump(0.1)
    assert await found.current() == Credential(f"Bearer {new}")
    assert provider.requests == [("GET", DISCOVERY), ("POST", ENDPOINT)]


async def test_the_refresh_token_is_sent_with_the_clients_id():
    provider = ScriptedProvider({"id_token": id_token(60)})
    await credentials(provider, VirtualClock()).current()
    assert provider.forms == [{"grant_type": "refresh_token", "refresh_token": "r1", "client_id": "me"}]
    assert provider.headers[1]["Content-Type"] == "application/x-www-form-urlencoded"
    assert "Authorization" not in provider.headers[1]


async def test_a_client_secret_is_sent_in_the_header_and_if_that_fails_in_the_form():
    provider = ScriptedProvider({"error": "invalid_client"}, {"id_token": id_token(60)}, statuses=(200, 401, 200))
    await credentials(provider, VirtualClock(), client_id="me&co", client_secret="s s").current()
    header = base64.b64encode(b"me%26co:s+s").decode()
    assert provider.headers[1]["Authorization"] == f"Basic {header}"
    assert provider.forms[0] == {"grant_type": "refresh_token", "refresh_token": "r1"}
    assert "Authorization" not in provider.headers[2]
    assert provider.forms[1] == {
        "grant_type": "refresh_token",
        "refresh_token": "r1",
        "client_id": "me&co",
        "client_secret": "s s",
    }


async def test_a_new_refresh_token_replaces_the_old_one():
    clock = VirtualClock()
    responses = [
        {"id_token": id_token(60), "refresh_token": "r2"},
        {"id_token": id_token(120)},
        {"id_token": id_token(180)},
    ]
    provider = ScriptedProvider(*responses)
    found = credentials(provider, clock)
    for _ in range(3):
        await found.current()
        clock.jump(60)
    assert [form["refresh_token"] for form in provider.forms] == ["r1", "r2", "r2"]


async def test_a_rejected_id_token_is_renewed_even_if_it_has_not_expired():
    old, new = id_token(3600), id_token(7200)
    found = credentials(ScriptedProvider({"id_token": new}), VirtualClock(), id_token=old)
    assert await found.renew(await found.current()) is True
    assert await found.current() == Credential(f"Bearer {new}")


@pytest.mark.parametrize("wrong", ["", "no token", "a.b.c", "a.!!.c", id_token(60, exp=None), id_token(60, exp=1e300)])
async def test_an_id_token_that_cannot_be_read_is_renewed(wrong: str):
    provider = ScriptedProvider({"id_token": id_token(60)})
    assert await credentials(provider, VirtualClock(), id_token=wrong).current() == Credential(f"Bearer {id_token(60)}")


async def test_an_id_token_may_end_in_a_line_feed():
    found = credentials(ScriptedProvider(), VirtualClock(), id_token=f"{id_token(60)}\n")
    assert await found.current() == Credential(f"Bearer {id_token(60)}")


async def test_a_token_without_an_expiry_is_not_renewed():
    clock, provider = VirtualClock(), ScriptedProvider({"id_token": "opaque"})
    found = credentials(provider, clock)
    await found.current()
    clock.jump(1e9)
    assert await found.current() == Credential("Bearer opaque")


async def test_the_providers_own_authority_is_trusted():
    authority = trustme.CA().cert_pem.bytes()
    endpoint = {"token_endpoint": "https://idp.example.com/token"}
    provider = ScriptedProvider({"id_token": id_token(60)}, discovery=endpoint)
    await credentials(provider, VirtualClock(), issuer_url="https://idp.example.com", ca_data=authority).current()
    for context in provider.tls:
        assert context is not None
        assert context.cert_store_stats()["x509"] == 1


async def test_a_config_with_a_provider_uses_it():
    config = ClientConfig(host="https://x", auth_provider=described(id_token=id_token(60)))
    found = credentials_for(config, fetch=ScriptedProvider(), clock=VirtualClock())
    assert await found.current() == Credential(f"Bearer {id_token(60)}")


# Writing back


def kubeconfig(path: Path) -> OIDCConfig:
    said = {"idp-issuer-url": ISSUER, "client-id": "me", "refresh-token": "r1", "id-token": id_token(-60)}
    user = {"name": "jane", "user": {"auth-provider": {"name": "oidc", "config": said}}}
    path.write_text(yaml.safe_dump({"users": [user], "comment": "kept"}))
    return described(kubeconfig_user=KubeconfigUser(str(path), "jane"))


async def test_new_tokens_are_written_back(tmp_path: Path):
    config = kubeconfig(tmp_path / "config")
    provider = ScriptedProvider({"id_token": id_token(60), "refresh_token": "r2"})
    await OIDCProvider(config, fetch=provider, clock=VirtualClock()).issue(renew=False)
    written = yaml.safe_load((tmp_path / "config").read_text())
    assert written["users"][0]["user"]["auth-provider"]["config"] == {
        "idp-issuer-url": ISSUER,
        "client-id": "me",
        "refresh-token": "r2",
        "id-token": id_token(60),
    }
    assert written["comment"] == "kept"


async def test_tokens_that_cannot_be_written_back_are_still_used(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    config = kubeconfig(tmp_path / "config")
    (tmp_path / "config.lock").touch()
    provider = ScriptedProvider({"id_token": CANARY, "refresh_token": CANARY})
    issued = await OIDCProvider(config, fetch=provider, clock=VirtualClock()).issue(renew=False)
    assert issued.credential == Credential(f"Bearer {CANARY}")
    message = f"The new tokens of the identity provider {ISSUER} could not be saved: {tmp_path}/config: is locked by"
    assert message in caplog.text
    assert CANARY not in caplog.text


# Failures


SECRETIVE: dict[str, Any] = {"client_secret": CANARY, "refresh_token": CANARY, "id_token": CANARY}


@pytest.mark.parametrize(
    ("provider", "complaint"),
    [
        (ScriptedProvider(discovery=CANARY.encode()), "its response is not valid for OpenID Connect"),
        (ScriptedProvider(discovery={"token_endpoint": 3}), "its response is not valid for OpenID Connect"),
        (ScriptedProvider(discovery=b"\xff"), "its response is not valid for OpenID Connect"),
        (ScriptedProvider(statuses=(404,)), f"{DISCOVERY} names no token endpoint (status 404)"),
        (ScriptedProvider(discovery={"issuer": CANARY}), f"{DISCOVERY} names no token endpoint (status 200)"),
        (ScriptedProvider(discovery={"token_endpoint": f"ftp://{CANARY}"}), "names no token endpoint"),
        (
            ScriptedProvider(
                {"error": "x"}, {"error": "invalid_grant", "error_description": CANARY}, statuses=(200, 400, 400)
            ),
            "it rejected the refresh token (status 400, invalid_grant); log in again",
        ),
        (
            ScriptedProvider({"error": CANARY}, {"error": CANARY}, statuses=(200, 400, 400)),
            "it rejected the refresh token (status 400); log in again",
        ),
        (
            ScriptedProvider(CANARY.encode(), CANARY.encode(), statuses=(200, 500, 500)),
            "it cannot renew the token (status 500)",
        ),
        (
            ScriptedProvider({"access_token": CANARY}),
            "its response has no ID token; log in again with the scope openid",
        ),
        (ScriptedProvider({"id_token": f"{CANARY}\n"}), "its response has no ID token"),
        (ScriptedProvider({"id_token": [CANARY]}), "its response is not valid for OpenID Connect"),
        (ScriptedProvider(CANARY.encode()), "its response is not valid for OpenID Connect"),
    ],
)
async def test_errors_about_a_provider_do_not_quote_its_response(
    provider: ScriptedProvider, complaint: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    found = OIDCProvider(
        described(**SECRETIVE, kubeconfig_user=KubeconfigUser("/home/config", "jane")),
        fetch=provider,
        clock=VirtualClock(),
    )
    with pytest.raises(CredentialError) as caught:
        await found.issue(renew=True)
    assert str(caught.value).startswith(f'/home/config: user "jane": the identity provider {ISSUER}: ')
    assert complaint in str(caught.value)
    behind = f"{caught.value.__cause__!r} {caught.value.__context__!r}"
    assert CANARY not in f"{caught.value} {caught.value!r} {behind} {found!r} {caplog.text}"


async def test_a_password_in_the_issuers_url_is_not_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    issuer = f"http://joe:{CANARY}@idp.example.com"
    origin = KubeconfigUser(str(tmp_path / "nowhere"), "jane")
    with pytest.raises(CredentialError, match="names no token endpoint") as caught:
        await credentials(ScriptedProvider(statuses=(404,)), VirtualClock(), issuer_url=issuer).current()
    provider = ScriptedProvider({"id_token": id_token(60)})
    await credentials(provider, VirtualClock(), issuer_url=issuer, kubeconfig_user=origin).current()
    assert "could not be saved" in caplog.text
    assert CANARY not in f"{caught.value} {caught.value!r} {caplog.text}"


@pytest.mark.parametrize("endpoint", ["https://[bad", "http://", "http://a b", "http://idp:port/"])
async def test_an_invalid_token_endpoint_is_an_error(endpoint: str):
    with pytest.raises(CredentialError, match="names no token endpoint"):
        await credentials(ScriptedProvider(discovery={"token_endpoint": endpoint}), VirtualClock()).current()


async def test_without_a_refresh_token_the_error_advises_to_log_in_again():
    found = credentials(ScriptedProvider(), VirtualClock(), id_token=id_token(-60), refresh_token="")
    with pytest.raises(
        CredentialError, match="the ID token has expired or was rejected, and there is no refresh token; log in again"
    ):
        await found.current()


async def test_a_provider_that_cannot_be_reached_is_named():
    async def unreachable(method: str, url: str, **_: Any) -> tuple[int, bytes]:
        raise ConnectRefusedError("connection refused", doing=f"{method} {url}", host="idp.example.com")

    with pytest.raises(CredentialError, match=f"{ISSUER}: it cannot be reached: GET {DISCOVERY}: idp.example.com"):
        await credentials(unreachable, VirtualClock()).current()


async def test_an_authority_of_the_provider_that_cannot_be_read_is_named():
    found = credentials(ScriptedProvider(), VirtualClock(), issuer_url="https://idp", ca_file="/nowhere/ca.crt")
    with pytest.raises(CredentialError, match=r"its certificate authority cannot be used: /nowhere/ca\.crt: ca_file: "):
        await found.current()
