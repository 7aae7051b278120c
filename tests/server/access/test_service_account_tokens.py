"""Signed tokens of service accounts: the key, the time, and restarts."""

import stat
import sys
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from tests.server.caller import CONFIG_MAPS, Caller

from listwatch.errors import ConfigError
from listwatch.server.access.signing_keys import SharedSecret, signing_key
from listwatch.server.api_server import APIServer
from listwatch.testing.clocks import VirtualClock

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


async def token_of(call: Caller, name: str = "robot") -> str:
    await call("POST", ACCOUNTS, {"metadata": {"name": name}})
    found: str = (await call("POST", f"{ACCOUNTS}/{name}/token", {"spec": {}})).json["status"]["token"]
    return found


async def review(call: Caller, token: str) -> dict[str, Any]:
    status: dict[str, Any] = (await call("POST", REVIEWS, {"spec": {"token": token}})).json["status"]
    return status


def modes_of_keys(folder: Path) -> list[int]:
    return [stat.S_IMODE(file.stat().st_mode) for file in folder.glob("service-accounts.*")]


@pytest.fixture
def without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)


async def test_everybody_can_verify_a_token_with_the_published_key():
    async with APIServer() as server, Caller(server) as call:
        token = await token_of(call)
        [key] = (await call("GET", "/openid/v1/jwks")).json["keys"]
    assert (key["kty"], key["crv"], key["alg"]) == ("EC", "P-256", "ES256")
    signed, _, signature = token.rpartition(".")
    half = len(urlsafe_b64decode(signature + "==")) // 2
    raw = urlsafe_b64decode(signature + "==")
    both = encode_dss_signature(int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big"))
    public = EllipticCurvePublicNumbers(number(key["x"]), number(key["y"]), SECP256R1()).public_key()
    public.verify(both, signed.encode(), ECDSA(SHA256()))


async def test_a_token_expires():
    clock = VirtualClock()
    async with APIServer(clock=clock) as server, Caller(server) as call:
        token = await token_of(call)
        await clock.advance(3600)
        assert (await review(call, token))["authenticated"]
        await clock.advance(61)
        assert (await review(call, token))["error"] == "[invalid bearer token, service account token has expired]"
        async with Caller(server, token=token) as robot:
            assert (await robot("GET", CONFIG_MAPS)).status == 401


async def test_a_token_ends_with_its_service_account():
    async with APIServer() as server, Caller(server) as call:
        token = await token_of(call)
        await call("DELETE", f"{ACCOUNTS}/robot")
        assert (await review(call, token))["error"] == '[invalid bearer token, serviceaccounts "robot" not found]'
        assert await token_of(call) != token
        error = (await review(call, token))["error"]
        assert error.startswith("[invalid bearer token, service account UID (")


async def test_a_token_of_another_server_is_not_valid():
    async with APIServer() as first, APIServer() as second, Caller(first) as call, Caller(second) as other:
        token = await token_of(call)
        await token_of(other)
        assert (await review(other, token))["error"] == "[invalid bearer token, invalid signature, no keys found]"


@pytest.mark.parametrize("has_cryptography", [True, False])
async def test_a_restarted_server_accepts_its_tokens(
    tmp_path: Path, has_cryptography: bool, request: pytest.FixtureRequest
):
    if not has_cryptography:
        request.getfixturevalue("without_cryptography")
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        token = await token_of(call)
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        assert (await review(call, token))["authenticated"]
    assert modes_of_keys(tmp_path) == [0o600]


async def test_without_cryptography_tokens_are_signed_with_a_secret(without_cryptography: None):
    async with APIServer() as server, Caller(server) as call:
        token = await token_of(call)
        assert (await review(call, token))["authenticated"]
        header, body, signature = token.split(".")
        assert not (await review(call, f"{header}.{body}.{signature[::-1]}")).get("authenticated")
        assert (await call("GET", "/openid/v1/jwks")).json == {"keys": []}


def test_a_damaged_key_is_an_error_that_names_the_file(tmp_path: Path):
    (tmp_path / "service-accounts.pem").write_bytes(b"damaged")
    with pytest.raises(ConfigError, match=r"service-accounts\.pem.* is not a private key .* delete it"):
        signing_key(tmp_path)


def test_a_key_does_not_show_its_secret():
    assert "hidden" not in repr(SharedSecret(b"hidden"))
    assert "PRIVATE" not in repr(signing_key())
