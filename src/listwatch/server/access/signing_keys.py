"""Keys that sign the tokens of service accounts.

With the `cryptography` package, which `listwatch[server]` installs, a token has a signature that any program can verify
with the public key (ES256). Without it, only this server can verify its tokens (HS256).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from listwatch.errors import ConfigError
from listwatch.json_value import JSONObject
from listwatch.server.access.persisted_secrets import read_or_create
from listwatch.server.access.service_account_tokens import SigningKey, base64_encoded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["EllipticCurveKey", "SharedSecret", "signing_key"]

_PEM_FILE = "service-accounts.pem"
_SECRET_FILE = "service-accounts.key"
_COORDINATE_SIZE = 32
_SECRET_SIZE = 32


def signing_key(folder: str | os.PathLike[str] | None = None) -> SigningKey:
    """Return the key of a data directory, which is created if it is missing; without a folder, return a new key."""
    try:
        import cryptography  # noqa: F401  # only whether it is there
    except ImportError:
        return SharedSecret(_content(folder, _SECRET_FILE, lambda: secrets.token_bytes(_SECRET_SIZE)))
    return EllipticCurveKey(_content(folder, _PEM_FILE, EllipticCurveKey.new_pem), folder)


class SharedSecret:
    """Signs with a secret that only the server has."""

    algorithm = "HS256"
    public_keys: tuple[JSONObject, ...] = ()

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.key_id = base64_encoded(hashlib.sha256(b"key id of " + secret).digest())

    def __repr__(self) -> str:
        return f"<SharedSecret {self.key_id}>"

    def sign(self, data: bytes) -> bytes:
        return hmac.digest(self._secret, data, "sha256")

    def verifies(self, data: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(data), signature)


class EllipticCurveKey:
    """Signs with a private key on the curve P-256."""

    algorithm = "ES256"

    def __init__(self, pem: bytes, folder: str | os.PathLike[str] | None = None) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._key = _read_key(pem, folder)
        public = self._key.public_key()
        encoded = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.key_id = base64_encoded(hashlib.sha256(encoded).digest())
        numbers = public.public_numbers()
        x, y = (base64_encoded(each.to_bytes(_COORDINATE_SIZE, "big")) for each in (numbers.x, numbers.y))
        jwk: JSONObject = {
            "use": "sig",
            "kty": "EC",
            "kid": self.key_id,
            "crv": "P-256",
            "alg": "ES256",
            "x": x,
            "y": y,
        }
        self.public_keys: tuple[JSONObject, ...] = (jwk,)

    def __repr__(self) -> str:
        return f"<EllipticCurveKey {self.key_id}>"

    @staticmethod
    def new_pem() -> bytes:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, data: bytes) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        numbers = decode_dss_signature(self._key.sign(data, ECDSA(SHA256())))
        return b"".join(each.to_bytes(_COORDINATE_SIZE, "big") for each in numbers)

    def verifies(self, data: bytes, signature: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        if len(signature) != 2 * _COORDINATE_SIZE:
            return False
        r, s = (int.from_bytes(each, "big") for each in (signature[:_COORDINATE_SIZE], signature[_COORDINATE_SIZE:]))
        try:
            self._key.public_key().verify(encode_dss_signature(r, s), data, ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True


def _read_key(pem: bytes, folder: str | os.PathLike[str] | None) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    file = os.path.join(folder or "", _PEM_FILE)
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise ConfigError(
            "is not a private key on the curve P-256 in PEM; restore it, or delete it to generate another, with which "
            "the present tokens of service accounts are not valid",
            file=file,
        )
    return key


def _content(folder: str | os.PathLike[str] | None, name: str, make: Callable[[], bytes]) -> bytes:
    return make() if folder is None else read_or_create(folder, name, make)
