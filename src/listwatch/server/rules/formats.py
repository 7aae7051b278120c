"""What texts must look like: names, label keys and values, ports, addresses. Each says what is wrong, if anything."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from functools import lru_cache

from listwatch.server.rules.checks import Format

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_ALPHANUMERIC = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_LOWER = "lower case alphanumeric characters"
# What is longer is not worth remembering: it is no good name of anything.
_SHORT = 256


def remembered(format_: Format) -> Format:
    """The same, for texts that many objects have in common: what is wrong with them is found out once."""

    @lru_cache(maxsize=4096)
    def found(value: str) -> tuple[str, ...]:
        return tuple(format_(value))

    return lambda value: found(value) if len(value) <= _SHORT else tuple(format_(value))


def _unless(pattern: str, said: str, *examples: str) -> Format:
    compiled = re.compile(pattern, re.ASCII)
    shown = "".join(f"'{example}', " if index == 0 else f" or '{example}', " for index, example in enumerate(examples))
    text = f"{said} (e.g. {shown}regex used for validation is '{pattern}')"
    return lambda value: () if compiled.fullmatch(value) else (text,)


_is_label = _unless(
    _LABEL,
    f"a lowercase RFC 1123 label must consist of {_LOWER} or '-', "
    "and must start and end with an alphanumeric character",
    "my-name",
    "123-abc",
)
_is_subdomain = _unless(
    _SUBDOMAIN,
    f"a lowercase RFC 1123 subdomain must consist of {_LOWER}, '-' or '.', "
    "and must start and end with an alphanumeric character",
    "example.com",
)
_is_wildcard_subdomain = _unless(
    rf"\*\.{_SUBDOMAIN}",
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    f"{_LOWER}, '-' or '.' and end with an alphanumeric character",
    "*.example.com",
)
condition_reason = _unless(
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_is_1035_label = _unless(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    f"a DNS-1035 label must consist of {_LOWER} or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "my-name",
    "abc-123",
)
_is_name_part = _unless(_QUALIFIED, f"name part must {_ALPHANUMERIC}", "MyName", "my.name", "123-abc")
_is_label_key = _unless(_QUALIFIED, f"a valid label key must {_ALPHANUMERIC}", "MyName", "my.name", "123-abc")
_is_label_value = _unless(
    f"({_QUALIFIED})?",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    "MyValue",
    "my_value",
    "12345",
)
_is_config_key = _unless(
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "key.name",
    "KEY_NAME",
    "key-name",
)
percent = _unless("[0-9]+%", "a valid percent string must be a numeric string followed by an ending '%'", "1%", "93%")


def percentage(value: object) -> int | None:
    """The number in a text such as `25%`, or 101 for all that is above 100; None for what is no such text."""
    if not isinstance(value, str) or any(percent(value)):
        return None
    digits = value[:-1].lstrip("0")
    return min(int(digits[:4] or "0"), 101)


# --- names -----------------------------------------------------------------------------------------------------------


def dns_subdomain(value: str) -> tuple[str, ...]:
    return *_no_longer_than(value, 253), *_is_subdomain(value)


@remembered
def dns_label(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 63)
    wrong = tuple(_is_label(value))
    yield from ("must not contain dots",) if wrong and not _is_subdomain(value) else wrong


def dns_1035_label(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 63)
    yield from _is_1035_label(value)


def wildcard_subdomain(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 253)
    yield from _is_wildcard_subdomain(value)


def path_segment(value: str) -> Iterator[str]:
    if value in (".", ".."):
        yield f"may not be '{value}'"
    yield from path_segment_prefix(value)


def path_segment_prefix(value: str) -> Iterator[str]:
    yield from (f"may not contain '{character}'" for character in "/%" if character in value)


def cron_job_name(value: str) -> Iterator[str]:
    yield from dns_subdomain(value)
    # The names of its jobs are longer by eleven characters.
    yield from _no_longer_than(value, 52)


def _no_longer_than(value: str, length: int, unit: str = "characters") -> tuple[str, ...]:
    return (f"must be no more than {length} {unit}",) if len(value.encode()) > length else ()


# --- labels and keys -------------------------------------------------------------------------------------------------


@remembered
def qualified_name(value: str) -> Iterator[str]:
    """A label key, an annotation key, a finalizer: a name with an optional domain before it."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        for said in _is_label_key("/"):
            yield f"{said} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {said}" for said in dns_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    yield from (f"name part {said}" for said in _no_longer_than(name, 63, "bytes"))
    yield from _is_name_part(name)


@remembered
def label_value(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 63, "bytes")
    yield from _is_label_value(value)


@remembered
def config_key(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 253)
    yield from _is_config_key(value)
    if value in (".", ".."):
        yield f"must not be '{value}'"
    elif value.startswith(".."):
        yield "must not start with '..'"


def environment_name(value: str) -> Iterator[str]:
    if not all(" " <= character <= "~" and character != "=" for character in value):
        yield "a valid environment variable name must consist only of printable ASCII characters other than '='"


def domain_prefixed_path(value: str) -> Iterator[str]:
    host, _, path = value.partition("/")
    if not host or not path:
        yield 'must be a domain-prefixed path (such as "acme.io/foo")'
    else:
        yield from dns_subdomain(host)


# --- the network -----------------------------------------------------------------------------------------------------


def port_name(value: str) -> Iterator[str]:
    yield from _no_longer_than(value, 15)
    if not re.fullmatch("[-a-z0-9]+", value):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", value):
        yield "must contain at least one letter (a-z)"
    if "--" in value:
        yield "must not contain consecutive hyphens"
    if value.startswith("-") or value.endswith("-"):
        yield "must not begin or end with a hyphen"


def ip_address(value: str) -> Iterator[str]:
    if parsed_ip(value) is None:
        yield "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def cidr(value: str) -> Iterator[str]:
    if parsed_cidr(value) is None:
        yield "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parsed_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(value)
    except ValueError:
        return None


def parsed_cidr(value: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(value, strict=False) if "/" in value else None
    except ValueError:
        return None


# --- files -----------------------------------------------------------------------------------------------------------


def relative_path(value: str) -> Iterator[str]:
    if value.startswith("/"):
        yield "must be a relative path"
    yield from no_way_up(value)


def no_way_up(value: str) -> Iterator[str]:
    if ".." in value.split("/"):
        yield "must not contain '..'"
