"""The certificates and keys in a Secret: reads them, and carries out the steps of a rotation.

    tls.crt, tls.key            the certificate that is presented
    ca.crt                      what API servers have to trust: the current authority, the next one, previous ones
    ca.key                      the key of the current authority
    next-ca.crt, next-ca.key    the authority that will be the current one

Needs the `cryptography` package, which `listwatch[webhooks]` installs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from listwatch.certificate_signing import KeyPair, create_authority, issue_certificate
from listwatch.webhooks.certificates.rotation_state import Action, SecretFacts
from listwatch.webhooks.certificates.validity import Validity, certificates_in

__all__ = ["SecretContents"]

# The clock of an API server may be behind.
_CLOCK_SKEW = timedelta(hours=1)

Data = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class _Pair:
    certificate: x509.Certificate
    key: EllipticCurvePrivateKey

    @property
    def validity(self) -> Validity:
        # The skew must not affect decisions.
        start, end = self.certificate.not_valid_before_utc, self.certificate.not_valid_after_utc
        return Validity(start + _CLOCK_SKEW, end)


@dataclass(frozen=True, slots=True)
class SecretContents:
    """Rotates certificates for these hosts."""

    name: str
    hosts: Sequence[str]
    validity: timedelta
    authority_validity: timedelta

    def facts(self, data: Data) -> SecretFacts:
        """Return the usable certificates in the data of a Secret; damaged ones count as missing."""
        authority, following = _authority(data), _pair(data, "next-ca.crt", "next-ca.key")
        certificate = _pair(data, "tls.crt", "tls.key")
        is_usable = (
            certificate is not None
            and any(_issued(each, certificate.certificate) for each in _trusted(data))
            and set(self.hosts) <= _hosts(certificate.certificate)
        )
        return SecretFacts(
            authority=None if authority is None else authority.validity,
            next_authority=None if following is None else following.validity,
            certificate=certificate.validity if certificate is not None and is_usable else None,
        )

    def after(self, action: Action, data: Data, now: datetime) -> dict[str, bytes]:
        """Return the data after an action; entries of other programs are kept."""
        changed = dict(data)
        match action:
            case Action.CREATE:
                for name in ("next-ca.crt", "next-ca.key"):
                    changed.pop(name, None)
                authority = self._new_authority(now)
                changed |= {"ca.crt": authority.certificate, "ca.key": authority.key}
            case Action.PREPARE:
                following = self._new_authority(now)
                changed |= {"next-ca.crt": following.certificate, "next-ca.key": following.key}
                changed["ca.crt"] = _bundle([*certificates_in(data["ca.crt"]), following.certificate], now)
            case Action.SWITCH:
                first = changed.pop("next-ca.crt")
                changed["ca.crt"] = _bundle([first, *certificates_in(data.get("ca.crt", b""))], now)
                changed["ca.key"] = changed.pop("next-ca.key")
            case _:
                pass
        if action in (Action.CREATE, Action.SWITCH, Action.ISSUE):
            changed |= self._certificate(changed, now)
        return changed

    def _new_authority(self, now: datetime) -> KeyPair:
        return create_authority(f"{self.name}-ca", (now - _CLOCK_SKEW, now + self.authority_validity))

    def _certificate(self, data: Data, now: datetime) -> dict[str, bytes]:
        authority = _authority(data)
        assert authority is not None
        end = min(now + self.validity, authority.validity.end)
        validity = (now - _CLOCK_SKEW, end)
        issued = issue_certificate(authority.certificate, authority.key, self.name, validity, hosts=self.hosts)
        return {"tls.crt": issued.certificate, "tls.key": issued.key}


def _trusted(data: Data) -> list[x509.Certificate]:
    found = []
    for pem in certificates_in(data.get("ca.crt", b"")):
        try:
            found.append(x509.load_pem_x509_certificate(pem))
        except ValueError:
            continue
    return found


def _authority(data: Data) -> _Pair | None:
    """Return the current authority: the first one, whose key the Secret has."""
    return _pair(data, "ca.crt", "ca.key")


def _pair(data: Data, certificate: str, key: str) -> _Pair | None:
    try:
        loaded = x509.load_pem_x509_certificate(data.get(certificate, b""))
        loaded_key = load_pem_private_key(data.get(key, b""), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    if not isinstance(loaded_key, EllipticCurvePrivateKey) or _public(loaded_key.public_key()) != _public(
        loaded.public_key()
    ):
        return None
    return _Pair(loaded, loaded_key)


def _public(key: object) -> bytes:
    # Certificates may have keys of any kind.
    found: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]  # all have it
    return found


def _issued(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception:  # noqa: BLE001  # one of several errors, depending on the key
        return False
    return True


def _hosts(certificate: x509.Certificate) -> set[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return {*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))}


def _bundle(certificates: Sequence[bytes], now: datetime) -> bytes:
    """Return those that have not expired, each once."""
    found = dict[bytes, None]()
    for pem in certificates:
        try:
            certificate = x509.load_pem_x509_certificate(pem)
        except ValueError:
            continue
        if now < certificate.not_valid_after_utc:
            found[certificate.public_bytes(Encoding.PEM)] = None
    return b"".join(found)
