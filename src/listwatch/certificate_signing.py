"""Signs certificates: of an authority, and of the servers and users for which it issues them.

Needs the `cryptography` package, which `listwatch[server]` and `listwatch[webhooks]` install.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["KeyPair", "create_authority", "issue_certificate"]


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def create_authority(name: str, validity: tuple[datetime, datetime]) -> KeyPair:
    """Create a self-signed certificate of an authority, with a new key."""
    key = _new_key()
    subject = _name(name)
    return _signed(subject, subject, key, key, _ca_extensions(key), validity)


def issue_certificate(
    authority: x509.Certificate,
    authority_key: EllipticCurvePrivateKey,
    name: str,
    validity: tuple[datetime, datetime],
    *,
    groups: Sequence[str] = (),
    hosts: Iterable[str] = (),
) -> KeyPair:
    """Issue a certificate with a new key: for a user in these groups, or for a server with these names."""
    key = _new_key()
    extensions = _leaf_extensions(key, authority_key, list(hosts))
    return _signed(_name(name, groups), authority.subject, key, authority_key, extensions, validity)


def _new_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


def _name(common_name: str, groups: Sequence[str] = ()) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _ca_extensions(key: EllipticCurvePrivateKey) -> list[tuple[x509.ExtensionType, bool]]:
    return [
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (_usage(signs_certificates=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ]


def _leaf_extensions(
    key: EllipticCurvePrivateKey, signer: EllipticCurvePrivateKey, hosts: list[str]
) -> list[tuple[x509.ExtensionType, bool]]:
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([purpose]), False),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
    ]
    if hosts:
        extensions.append((x509.SubjectAlternativeName([_host(host) for host in hosts]), False))
    return extensions


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: EllipticCurvePrivateKey,
    signer: EllipticCurvePrivateKey,
    extensions: list[tuple[x509.ExtensionType, bool]],
    validity: tuple[datetime, datetime],
) -> KeyPair:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity[0])
        .not_valid_after(validity[1])
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    certificate = builder.sign(signer, SHA256()).public_bytes(Encoding.PEM)
    return KeyPair(certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
