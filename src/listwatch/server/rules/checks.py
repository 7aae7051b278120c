"""The checks and formats that validation rules are composed of.

    at("spec.replicas", at_least(0))          the value of a field, if it is set
    each("spec.ports", PORT)                  every element of a list
    require_fields("name", "image")           fields that must be set and not be empty
    immutable("spec.selector")                fields that an update must not change

A check takes a value and the path of its field, and returns the causes of an InvalidError. A format checks a string,
such as a name, a label or an address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import duplicate, invalid, not_supported, required
from listwatch.server.json_tree import objects_at, same, text_at, value_at

Causes = Iterator[StatusCause]
Check = Callable[[Any, str], Iterable[StatusCause]]
"""Takes a value and the path of its field. A check declares the type of its value, which the decoder has verified."""
UpdateCheck = Callable[[JSONObject, JSONObject, str], Iterable[StatusCause]]
"""Takes the new object, the old one, and their path."""
Format = Callable[[str], Iterable[str]]
"""Takes a string and returns what is wrong with it."""

IMMUTABLE = "field is immutable"


def field_path(path: str, name: str) -> str:
    """Append a name to a path, which is empty at the root."""
    return f"{path}.{name}" if path else name


# --- selecting fields ------------------------------------------------------------------------------------------------


def all_of(*checks: Check) -> Check:
    """Run all checks on the same value."""
    if len(checks) == 1:
        return checks[0]

    # Not a generator: most checks find nothing, and an object passes through hundreds of them.
    def check(value: JSON, path: str) -> list[StatusCause]:
        causes: list[StatusCause] = []
        for each_check in checks:
            causes += each_check(value, path)
        return causes

    return check


def at(field: str, *checks: Check) -> Check:
    """Check the value of the field at a path, if it is set."""
    combined = all_of(*checks)
    outer, dot, inner = field.partition(".")
    if dot:
        return at(outer, at(inner, *checks))

    def check(tree: JSONObject, path: str) -> Iterable[StatusCause]:
        value = tree.get(field)
        return combined(value, f"{path}.{field}" if path else field) if value is not None else ()

    return check


def elements(*checks: Check) -> Check:
    """Check each element of a list, or each value of a map."""
    combined = all_of(*checks)

    def check(value: JSONObject | list[JSON], path: str) -> Causes:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from combined(item, f"{path}[{key}]")

    return check


def each(field: str, *checks: Check) -> Check:
    """Check each element of the list, or each value of the map, in a field."""
    return at(field, elements(*checks))


def at_nonempty(field: str, *checks: Check) -> Check:
    """Check the value of a field unless it is missing, empty or 0."""
    combined = all_of(*checks)

    def check(tree: JSONObject, path: str) -> Iterable[StatusCause]:
        value = tree.get(field)
        return combined(value, field_path(path, field)) if value else ()

    return check


# --- checking values -------------------------------------------------------------------------------------------------


def require_fields(*fields: str, detail: str = "") -> Check:
    """Fields that must be set and not be empty; 0 and false are values."""

    def check(tree: JSONObject, path: str) -> Causes:
        for field in fields:
            if tree.get(field) in (None, "", [], {}):
                yield required(field_path(path, field), detail)

    return check


def one_of(*values: str) -> Check:
    return lambda value, path: () if value in values else (not_supported(path, value, values),)


def at_least(minimum: int, detail: str = "") -> Check:
    detail = detail or f"must be greater than or equal to {minimum}"
    return lambda value, path: (invalid(path, value, detail),) if value < minimum else ()


def not_negative(*fields: str) -> Check:
    """Numbers that must not be negative where they are set."""
    return all_of(*(at(field, at_least(0)) for field in fields))


def between(low: int, high: int) -> Check:
    detail = f"must be between {low} and {high}, inclusive"
    return lambda value, path: () if low <= value <= high else (invalid(path, value, detail),)


def formatted(format_: Format) -> Check:
    """A string that must have the format."""
    return lambda value, path: (invalid(path, value, detail) for detail in format_(value))


def unique_names(field: str) -> Check:
    """No two elements of the list in the field have the same name; elements without a name are ignored."""

    def check(tree: JSONObject, path: str) -> Causes:
        seen: set[str] = set()
        for index, item in enumerate(objects_at(tree, field)):
            name = text_at(item, "name")
            if name and name in seen:
                yield duplicate(f"{field_path(path, field)}[{index}].name", name)
            seen.add(name)

    return check


def exactly_one_field(
    tree: JSONObject, path: str, fields: Iterable[str], *, none: str, more: Callable[[str], StatusCause]
) -> Causes:
    """Exactly one field must be set. `none` is the detail if none is; `more` returns the cause of each further one."""
    found = [field for field in fields if field in tree]
    if not found:
        yield required(path, none)
    yield from (more(field_path(path, field)) for field in found[1:])


def quantity(*, positive: bool = False) -> Check:
    """A quantity that must not be negative, or must be positive."""
    detail = "must be greater than zero" if positive else "must be greater than or equal to 0"

    def check(value: str, path: str) -> Causes:
        found = Quantity(value)
        if found < 0 or (positive and found == 0):
            yield invalid(path, value, detail)

    return check


def port_or_name(port_name: Format) -> Check:
    number, name = between(1, 65535), formatted(port_name)
    return lambda value, path: name(value, path) if isinstance(value, str) else number(value, path)


# --- checking updates ------------------------------------------------------------------------------------------------


def all_updates(*updates: UpdateCheck) -> UpdateCheck:
    """Run all update checks on the same objects."""

    def update(new: JSONObject, old: JSONObject, path: str) -> Causes:
        for each_update in updates:
            yield from each_update(new, old, path)

    return update


def changed(new: JSONObject, old: JSONObject, field: str) -> bool:
    names = field.split(".")
    return not same(value_at(new, *names), value_at(old, *names))


def immutable(field: str, detail: str = IMMUTABLE, *, missing: JSON = None) -> UpdateCheck:
    """A field that an update must not change; `missing` is shown if it is not set."""

    def update(new: JSONObject, old: JSONObject, path: str) -> Causes:
        if changed(new, old, field):
            value = value_at(new, *field.split("."))
            yield invalid(field_path(path, field), missing if value is None else value, detail)

    return update


# --- formats ----------------------------------------------------------------------------------------------------------

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_ALPHANUMERIC = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_LOWER = "lower case alphanumeric characters"
# Longer strings are invalid, and would only fill the cache.
_MAX_CACHED = 256


def cached(format_: Format) -> Format:
    """Cache the results of a format, for strings that many objects share."""

    @lru_cache(maxsize=4096)
    def found(value: str) -> tuple[str, ...]:
        return tuple(format_(value))

    return lambda value: found(value) if len(value) <= _MAX_CACHED else tuple(format_(value))


def _matches(pattern: str, problem: str, *examples: str) -> Format:
    compiled = re.compile(pattern, re.ASCII)
    shown = "".join(f"'{example}', " if index == 0 else f" or '{example}', " for index, example in enumerate(examples))
    text = f"{problem} (e.g. {shown}regex used for validation is '{pattern}')"
    return lambda value: () if compiled.fullmatch(value) else (text,)


_is_label = _matches(
    _LABEL,
    f"a lowercase RFC 1123 label must consist of {_LOWER} or '-', "
    "and must start and end with an alphanumeric character",
    "my-name",
    "123-abc",
)
_is_subdomain = _matches(
    _SUBDOMAIN,
    f"a lowercase RFC 1123 subdomain must consist of {_LOWER}, '-' or '.', "
    "and must start and end with an alphanumeric character",
    "example.com",
)
_is_wildcard_subdomain = _matches(
    rf"\*\.{_SUBDOMAIN}",
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    f"{_LOWER}, '-' or '.' and end with an alphanumeric character",
    "*.example.com",
)
condition_reason = _matches(
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_is_1035_label = _matches(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    f"a DNS-1035 label must consist of {_LOWER} or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "my-name",
    "abc-123",
)
_is_name_part = _matches(_QUALIFIED, f"name part must {_ALPHANUMERIC}", "MyName", "my.name", "123-abc")
_is_label_key = _matches(_QUALIFIED, f"a valid label key must {_ALPHANUMERIC}", "MyName", "my.name", "123-abc")
_is_label_value = _matches(
    f"({_QUALIFIED})?",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    "MyValue",
    "my_value",
    "12345",
)
_is_config_key = _matches(
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "key.name",
    "KEY_NAME",
    "key-name",
)
percent = _matches("[0-9]+%", "a valid percent string must be a numeric string followed by an ending '%'", "1%", "93%")


def percentage(value: object) -> int | None:
    """Return the number in a percent string such as `25%`, 101 if it is above 100; None for any other value."""
    if not isinstance(value, str) or any(percent(value)):
        return None
    digits = value[:-1].lstrip("0")
    return min(int(digits[:4] or "0"), 101)


# --- names -----------------------------------------------------------------------------------------------------------


def dns_subdomain(value: str) -> tuple[str, ...]:
    return *_max_length(value, 253), *_is_subdomain(value)


@cached
def dns_label(value: str) -> Iterator[str]:
    yield from _max_length(value, 63)
    wrong = tuple(_is_label(value))
    yield from ("must not contain dots",) if wrong and not _is_subdomain(value) else wrong


def dns_1035_label(value: str) -> Iterator[str]:
    yield from _max_length(value, 63)
    yield from _is_1035_label(value)


def wildcard_subdomain(value: str) -> Iterator[str]:
    yield from _max_length(value, 253)
    yield from _is_wildcard_subdomain(value)


def path_segment(value: str) -> list[str]:
    return [f"may not be '{value}'"] if value in (".", "..") else path_segment_prefix(value)


def path_segment_prefix(value: str) -> list[str]:
    return [f"may not contain '{character}'" for character in "/%" if character in value]


def cron_job_name(value: str) -> Iterator[str]:
    yield from dns_subdomain(value)
    # The controller appends eleven characters to name the jobs.
    yield from _max_length(value, 52)


def _max_length(value: str, length: int, unit: str = "characters") -> tuple[str, ...]:
    return (f"must be no more than {length} {unit}",) if len(value.encode()) > length else ()


# --- labels and keys -------------------------------------------------------------------------------------------------


@cached
def qualified_name(value: str) -> Iterator[str]:
    """A label key, annotation key or finalizer: a name with an optional DNS subdomain as prefix."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        for problem in _is_label_key("/"):
            yield f"{problem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {problem}" for problem in dns_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    yield from (f"name part {problem}" for problem in _max_length(name, 63, "bytes"))
    yield from _is_name_part(name)


@cached
def label_value(value: str) -> Iterator[str]:
    yield from _max_length(value, 63, "bytes")
    yield from _is_label_value(value)


@cached
def config_key(value: str) -> Iterator[str]:
    yield from _max_length(value, 253)
    yield from _is_config_key(value)
    if value in (".", ".."):
        yield f"must not be '{value}'"
    elif value.startswith(".."):
        yield "must not start with '..'"


def environment_name(value: str) -> Iterator[str]:
    if not all(" " <= character <= "~" and character != "=" for character in value):
        yield "a valid environment variable name must consist only of printable ASCII characters other than '='"


# --- the network -----------------------------------------------------------------------------------------------------


def port_name(value: str) -> Iterator[str]:
    yield from _max_length(value, 15)
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


def canonical_ip(value: str) -> Iterator[str]:
    """As `ip_address`, in the only form that newer fields accept."""
    address = parsed_ip(value)
    if address is None or "%" in value:
        # Leading zeros are the only thing that kube-apiserver parses and Python does not.
        is_padded = parsed_ip(".".join(part.lstrip("0") or "0" for part in value.split(".")) if "." in value else "")
        yield (
            "must not have leading 0s" if is_padded else "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        )
    elif isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        yield "must not be an IPv4-mapped IPv6 address"
    elif str(address) != value:
        yield f'must be in canonical form ("{address}")'


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
    yield from no_parent_directory(value)


def no_parent_directory(value: str) -> Iterator[str]:
    if ".." in value.split("/"):
        yield "must not contain '..'"
