"""Tokens of service accounts: JWTs with the claims of Kubernetes, bound to audiences, a time, and possibly an object.

    TokenRequest ─▶ Claims ─▶ signed token ─▶ verified claims ─▶ service account and bound object still there ─▶ user

A token is valid until it expires, its service account is deleted, or the pod, Secret or node that it is bound to is.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

import msgspec

from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import go_quoted_list, text_at
from listwatch.server.requests import User

__all__ = [
    "ISSUER",
    "Claims",
    "InvalidTokenError",
    "KubernetesClaims",
    "ObjectReference",
    "ServiceAccountTokens",
    "SigningKey",
    "base64_encoded",
]

ISSUER = "https://kubernetes.default.svc"
"""The issuer of all tokens, and the audience of this server."""

Lookup = Callable[[str, ObjectKey], JSONObject | None]
"""Returns a stored object of a resource, such as "/pods"."""

_CACHED_TOKENS = 1024
_BASE64 = re.compile("[A-Za-z0-9_-]*", re.ASCII)
# Clocks may differ, and the shutdown of a deleted pod may use its token for a while.
_LEEWAY = 60
_EXTRA = "authentication.kubernetes.io/"
_BOUND_RESOURCES = {"pod": "/pods", "secret": "/secrets", "node": "/nodes"}


class InvalidTokenError(Exception):
    """The reason why a token is not valid."""


class ObjectReference(msgspec.Struct, frozen=True, omit_defaults=True):
    """Name and uid of an object."""

    name: str = ""
    uid: str = ""


class KubernetesClaims(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service account, and the objects that the token is bound to."""

    namespace: str = ""
    node: ObjectReference | None = None
    pod: ObjectReference | None = None
    secret: ObjectReference | None = None
    serviceaccount: ObjectReference = ObjectReference()
    warnafter: int = 0


class Claims(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of a token."""

    aud: list[str] = []
    exp: int = 0
    iat: int = 0
    iss: str = ""
    jti: str = ""
    kubernetes: KubernetesClaims = msgspec.field(default=KubernetesClaims(), name="kubernetes.io")
    nbf: int = 0
    sub: str = ""


class _Header(msgspec.Struct, frozen=True):
    alg: str = ""
    kid: str = ""


_decode_header = msgspec.json.Decoder(_Header).decode
_decode_claims = msgspec.json.Decoder(Claims).decode


class SigningKey(Protocol):
    """Signs and verifies tokens."""

    @property
    def algorithm(self) -> str: ...

    @property
    def key_id(self) -> str:
        """Derived from the public key; it does not reveal a secret."""

    @property
    def public_keys(self) -> tuple[JSONObject, ...]:
        """The public key as a JWK; empty if the key is a shared secret."""

    def sign(self, data: bytes) -> bytes: ...

    def verifies(self, data: bytes, signature: bytes) -> bool: ...


class ServiceAccountTokens:
    """Signs tokens of service accounts and finds their users. `key` is called when the key is needed."""

    def __init__(self, key: Callable[[], SigningKey], find: Lookup, now: Callable[[], datetime]) -> None:
        self._key = key
        self._find = find
        self._now = now
        # A signature is verified once, everything else at each request.
        self._check_signature = lru_cache(_CACHED_TOKENS)(self._verify_signature)

    def sign(self, claims: Claims) -> str:
        """Return the token with these claims."""
        key = self._key()
        header = msgspec.json.encode({"alg": key.algorithm, "kid": key.key_id})
        signed = f"{base64_encoded(header)}.{base64_encoded(msgspec.json.encode(claims))}"
        return f"{signed}.{base64_encoded(key.sign(signed.encode()))}"

    def authenticate(self, token: str, audiences: Sequence[str] = (ISSUER,)) -> tuple[User, list[str]] | None:
        """Return the user of a token and which of the audiences it is for.

        Returns None if it is not a token of this issuer; raises InvalidTokenError if it is, and is not valid.
        """
        claims = _claims_in(token)
        if claims is None or claims.iss != ISSUER:
            return None
        self._check_signature(token)
        intended = [each for own in claims.aud for each in audiences if each == own]
        if not intended:
            shown = go_quoted_list(claims.aud), go_quoted_list(audiences)
            raise InvalidTokenError("token audiences {} is invalid for the target audiences {}".format(*shown))
        self._check_time(claims)
        self._check_objects(claims.kubernetes)
        return _user_of(claims), intended

    def _verify_signature(self, token: str) -> None:
        signed, _, signature = token.rpartition(".")
        kind, key = _decode_header(base64_decoded(signed.partition(".")[0])), self._key()
        if kind.kid not in ("", key.key_id):
            raise InvalidTokenError("invalid signature, no keys found")
        if kind.alg != key.algorithm or not key.verifies(signed.encode(), base64_decoded(signature)):
            raise InvalidTokenError("go-jose/go-jose: error in cryptographic primitive")

    def _check_time(self, claims: Claims) -> None:
        now = self._now().timestamp()
        if now + _LEEWAY < claims.nbf:
            raise InvalidTokenError("service account token is not valid yet")
        if now - _LEEWAY > claims.exp:
            raise InvalidTokenError("service account token has expired")
        if now + _LEEWAY < claims.iat:
            raise InvalidTokenError("service account token is issued in the future")

    def _check_objects(self, claims: KubernetesClaims) -> None:
        namespace, account = claims.namespace, claims.serviceaccount
        found = self._find("/serviceaccounts", ObjectKey(namespace, account.name))
        if found is None:
            raise InvalidTokenError(f'serviceaccounts "{account.name}" not found')
        uid = text_at(found, "metadata", "uid")
        if uid != account.uid:
            raise InvalidTokenError(f"service account UID ({uid}) does not match claim ({account.uid})")
        if self._is_deleted(found):
            raise InvalidTokenError(f"service account {namespace}/{account.name} has been deleted")
        # The node of a pod is only information.
        node = None if claims.pod else claims.node
        for kind, bound in (("secret", claims.secret), ("pod", claims.pod), ("node", node)):
            if bound:
                self._check_bound(kind, "" if kind == "node" else namespace, bound)

    def _check_bound(self, kind: str, namespace: str, bound: ObjectReference) -> None:
        found = self._find(_BOUND_RESOURCES[kind], ObjectKey(namespace, bound.name))
        if found is None or self._is_deleted(found):
            raise InvalidTokenError("service account token has been invalidated")
        uid = text_at(found, "metadata", "uid")
        if uid != bound.uid:
            claim = f"service account {kind} ref claim ({bound.uid})"
            raise InvalidTokenError(f"{kind} UID ({uid}) does not match {claim}")

    def _is_deleted(self, tree: JSONObject) -> bool:
        deleted = text_at(tree, "metadata", "deletionTimestamp")
        return bool(deleted) and datetime.fromisoformat(deleted).timestamp() < self._now().timestamp() - _LEEWAY


def base64_encoded(data: bytes) -> str:
    """Encode for URLs, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def base64_decoded(text: str) -> bytes:
    """Decode without padding; raises ValueError, also for characters that Python's decoder would ignore."""
    if not _BASE64.fullmatch(text):
        raise ValueError("not base64 for URLs")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _claims_in(token: str) -> Claims | None:
    """Return the claims of a JWT, whose signature is not verified; None if it is not a JWT."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        header, payload, _ = map(base64_decoded, parts)
        _decode_header(header)
        return _decode_claims(payload)
    except ValueError:
        return None


def _user_of(claims: Claims) -> User:
    about = claims.kubernetes
    extra = {"credential-id": (f"JTI={claims.jti}",)} if claims.jti else {}
    for kind, bound in (("node", about.node), ("pod", about.pod)):
        if bound:
            extra[f"{kind}-name"] = (bound.name,)
            if bound.uid:
                extra[f"{kind}-uid"] = (bound.uid,)
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{about.namespace}", "system:authenticated")
    name = f"system:serviceaccount:{about.namespace}:{about.serviceaccount.name}"
    return User(name, about.serviceaccount.uid, groups, {f"{_EXTRA}{each}": value for each, value in extra.items()})
