"""IP addresses, CIDRs and URLs."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from listwatch.server.cel.declarations import Functions, function, method
from listwatch.server.cel.type_system import BOOL, INT, STRING, list_of, map_of, opaque
from listwatch.server.cel.values import CELError, Opaque
from listwatch.server.json_tree import quoted

__all__ = ["NETWORKS", "url_problem"]

_IP, _CIDR, _URL = opaque("net.IP"), opaque("net.CIDR"), opaque("kubernetes.URL")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(?::[0-9]*)?")


# --- IP addresses -----------------------------------------------------------------------------------------------------


def _address_problem(text: str) -> str:
    """Describe why a text is not an address, with the words of Go's netip."""
    parts = text.split(".")
    if ":" not in text and "." in text and all(part.isdecimal() and part.isascii() for part in parts):
        if any(len(part) > 1 and part.startswith("0") for part in parts):
            return "IPv4 field has octet with leading zero"
        if any(len(part) > 3 or int(part) > 255 for part in parts):
            return "IPv4 field has value >255"
        return "IPv4 address too short" if len(parts) < 4 else "IPv4 address too long"
    return "unable to parse IP"


def _address(text: str) -> _Address:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        why = f'ParseAddr("{text}"): {_address_problem(text)}'
        raise CELError(f'IP Address "{text}" parse error during conversion from string: {why}') from None
    if "%" in text:
        raise CELError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        raise CELError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return found


def _ip(text: str) -> Opaque:
    found = _address(text)
    return Opaque(_IP, found, 4 if found.version == 4 else 16)


def _value(ip: Opaque) -> _Address:
    assert isinstance(ip.value, ipaddress.IPv4Address | ipaddress.IPv6Address)
    return ip.value


def _is_valid(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def call(text: str) -> bool:
        try:
            parse(text)
        except CELError:
            return False
        return True

    return call


def _is_global_unicast(ip: Opaque) -> bool:
    address = _value(ip)
    is_broadcast = address == ipaddress.IPv4Address("255.255.255.255")
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or is_broadcast
    )


def _is_link_local_multicast(ip: Opaque) -> bool:
    address = _value(ip)
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2


# --- CIDRs ------------------------------------------------------------------------------------------------------------


def _cidr_problem(text: str) -> str:
    address, slash, length = text.rpartition("/")
    if not slash:
        return "no '/'"
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return f'ParseAddr("{address}"): {_address_problem(address)}'
    if length.isascii() and length.isdecimal() and (length == "0" or not length.startswith("0")):
        return "prefix length out of range"
    return f"bad bits after slash: {quoted(length)}"


def _cidr(text: str) -> Opaque:
    problem = "network address parse error during conversion from string: "
    try:
        if "/" not in text or not text.rpartition("/")[2].isdecimal():
            raise ValueError
        found = ipaddress.ip_interface(text)
    except ValueError:
        why = _cidr_problem(text)
        raise CELError(f'{problem}{problem}netip.ParsePrefix("{text}"): {why}') from None
    if isinstance(found, ipaddress.IPv6Interface) and found.ip.ipv4_mapped:
        raise CELError(f'{problem}IPv4-mapped IPv6 address "{text}" is not allowed')
    return Opaque(_CIDR, found, (found.network.prefixlen + 7) // 8)


def _interface(cidr: Opaque) -> _Interface:
    assert isinstance(cidr.value, ipaddress.IPv4Interface | ipaddress.IPv6Interface)
    return cidr.value


def _contains_ip(cidr: Opaque, ip: Opaque | str) -> bool:
    return _value(_ip(ip) if isinstance(ip, str) else ip) in _interface(cidr).network


def _contains_cidr(cidr: Opaque, other: Opaque | str) -> bool:
    outer, inner = _interface(cidr).network, _interface(_cidr(other) if isinstance(other, str) else other).network
    if outer.version != inner.version:
        return False
    return outer.prefixlen <= inner.prefixlen and inner.network_address in outer


def _masked(cidr: Opaque) -> Opaque:
    return _cidr(str(_interface(cidr).network))


def _ip_of(cidr: Opaque) -> Opaque:
    found = _interface(cidr).ip
    return Opaque(_IP, found, 4 if found.version == 4 else 16)


# --- URLs -------------------------------------------------------------------------------------------------------------


def _parts(text: str) -> tuple[str, str, str, str]:
    """Return scheme, host, path and query; raises CELError, as Go does for what is neither absolute nor a path."""
    problem = url_problem(text)
    if problem:
        raise CELError(f"URL parse error during conversion from string: {problem}")
    match = _SCHEME.fullmatch(text)
    scheme, rest = (match[1].lower(), match[2]) if match else ("", text)
    rest = rest.partition("#")[0]
    rest, _, query = rest.partition("?")
    host = ""
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = host.rpartition("@")[2]
    return scheme, host, rest, query


def url_problem(text: str) -> str:
    """Return what is wrong with a URL; empty if nothing is."""
    shown = f'parse "{text}": '
    if not text:
        return shown + "empty url"
    if any(character < " " or character == "\x7f" for character in text):
        return shown + "net/url: invalid control character in URL"
    match = _SCHEME.fullmatch(text)
    rest = match[2] if match else text
    if not match and ":" in text.partition("/")[0]:
        why = "missing protocol scheme" if text.startswith(":") else "first path segment in URL cannot contain colon"
        return shown + why
    if not rest.startswith("/"):
        return shown + "invalid URI for request" if not match else ""
    if rest.startswith("//") and match:
        authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0].rpartition("@")[2]
        port = authority[authority.find("]") + 1 :] if authority.startswith("[") else authority[authority.find(":") :]
        if ":" in authority and not _PORT.fullmatch(port):
            return shown + f'invalid port "{port}" after host'
        if " " in authority:
            return shown + 'invalid character " " in host name'
    if broken := _BROKEN_ESCAPE.search(rest.partition("?")[0]):
        return shown + f'invalid URL escape "{rest[broken.start() : broken.start() + 3]}"'
    return ""


def _url(text: str) -> Opaque:
    return Opaque(_URL, (*_parts(text), text), len(text))


def _url_part(index: int) -> Callable[[Opaque], str]:
    def call(url: Opaque) -> str:
        assert isinstance(url.value, tuple)
        return str(url.value[index])

    return call


_host = _url_part(1)


def _hostname(url: Opaque) -> str:
    host = _host(url)
    return host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]


def _port(url: Opaque) -> str:
    host = _host(url)
    return host[host.find("]") + 1 :].partition(":")[2]


def _query(url: Opaque) -> dict[str, list[str]]:
    return parse_qs(_url_part(3)(url), keep_blank_values=True)


NETWORKS: Functions = {
    "ip": (
        function("string_to_ip", (STRING,), _IP, _ip),
        method("cidr_ip", (_CIDR,), _IP, _ip_of),
    ),
    "isIP": (function("is_ip", (STRING,), BOOL, _is_valid(_ip)),),
    "ip.isCanonical": (function("ip_is_canonical", (STRING,), BOOL, lambda text: str(_address(text)) == text),),
    "family": (method("ip_family", (_IP,), INT, lambda ip: ip.value.version),),
    "isUnspecified": (method("ip_is_unspecified", (_IP,), BOOL, lambda ip: ip.value.is_unspecified),),
    "isLoopback": (method("ip_is_loopback", (_IP,), BOOL, lambda ip: ip.value.is_loopback),),
    "isLinkLocalMulticast": (method("ip_is_link_local_multicast", (_IP,), BOOL, _is_link_local_multicast),),
    "isLinkLocalUnicast": (method("ip_is_link_local_unicast", (_IP,), BOOL, lambda ip: ip.value.is_link_local),),
    "isGlobalUnicast": (method("ip_is_global_unicast", (_IP,), BOOL, _is_global_unicast),),
    "cidr": (function("string_to_cidr", (STRING,), _CIDR, _cidr),),
    "isCIDR": (function("is_cidr", (STRING,), BOOL, _is_valid(_cidr)),),
    "containsIP": (
        method("cidr_contains_ip_string", (_CIDR, STRING), BOOL, _contains_ip),
        method("cidr_contains_ip_ip", (_CIDR, _IP), BOOL, _contains_ip),
    ),
    "containsCIDR": (
        method("cidr_contains_cidr_string", (_CIDR, STRING), BOOL, _contains_cidr),
        method("cidr_contains_cidr", (_CIDR, _CIDR), BOOL, _contains_cidr),
    ),
    "prefixLength": (method("cidr_prefix_length", (_CIDR,), INT, lambda cidr: cidr.value.network.prefixlen),),
    "masked": (method("cidr_masked", (_CIDR,), _CIDR, _masked),),
    "string": (
        function("ip_to_string", (_IP,), STRING, lambda ip: str(ip.value)),
        function("cidr_to_string", (_CIDR,), STRING, lambda cidr: str(cidr.value)),
    ),
    "url": (function("string_to_url", (STRING,), _URL, _url),),
    "isURL": (function("is_url_string", (STRING,), BOOL, _is_valid(_url)),),
    "getScheme": (method("url_get_scheme", (_URL,), STRING, _url_part(0)),),
    "getHost": (method("url_get_host", (_URL,), STRING, _host),),
    "getHostname": (method("url_get_hostname", (_URL,), STRING, _hostname),),
    "getPort": (method("url_get_port", (_URL,), STRING, _port),),
    "getEscapedPath": (method("url_get_escaped_path", (_URL,), STRING, _url_part(2)),),
    "getQuery": (method("url_get_query", (_URL,), map_of(STRING, list_of(STRING)), _query),),
}
