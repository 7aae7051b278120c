"""The checks and formats that validation rules are composed of.

    at("spec.replicas", at_least(0))          the value at a place, if there is one
    each("spec.ports", PORT)                  every element of a list
    needs("name", "image")                    members that must be there and not be empty
    immutable("spec.selector")                what an update must leave alone

A check takes a value and its path, and yields the problems there. Formats check strings: names, labels, addresses.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from listwatch.errors import StatusCause
from listwatch.quantity import Quantity
from listwatch.server.field_errors import duplicate, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child, same

Causes = Iterator[StatusCause]
Check = Callable[[Tree, str], Iterable[StatusCause]]
"""Takes a value and its place."""
Change = Callable[[Tree, Tree, str], Iterable[StatusCause]]
"""Takes a new value, the old one and their place."""
Format = Callable[[str], Iterable[str]]
"""Says what is wrong with a text."""

IMMUTABLE = "field is immutable"


def inside(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# --- where -----------------------------------------------------------------------------------------------------------


def all_of(*checks: Check) -> Check:
    if len(checks) == 1:
        return checks[0]

    # Not a generator: most checks find nothing, and this one is made of many.
    def check(value: Tree, path: str) -> list[StatusCause]:
        found: list[StatusCause] = []
        for each_check in checks:
            found += each_check(value, path)
        return found

    return check


def at(where: str, *checks: Check) -> Check:
    """On what is at a place of member names; nothing if there is none."""
    every = all_of(*checks)
    outer, dot, inner = where.partition(".")
    if dot:
        return at(outer, at(inner, *checks))

    def check(tree: Tree, path: str) -> Iterable[StatusCause]:
        value = tree.get(where)
        return every(value, f"{path}.{where}" if path else where) if value is not None else ()

    return check


def elements(*checks: Check) -> Check:
    """On each element of a list, or each value of a map."""
    every = all_of(*checks)

    def check(value: Tree, path: str) -> Causes:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from every(item, f"{path}[{key}]")

    return check


def each(where: str, *checks: Check) -> Check:
    """On each element of the list, or each value of the map, at a place."""
    return at(where, elements(*checks))


def when(condition: Callable[[Tree], bool], *checks: Check) -> Check:
    every = all_of(*checks)
    return lambda value, path: every(value, path) if condition(value) else ()


# --- what ------------------------------------------------------------------------------------------------------------


def needs(*names: str, detail: str = "") -> Check:
    """Members, each at a place of its own, that must be there and not be empty; a 0 or false is enough."""

    def check(tree: Tree, path: str) -> Causes:
        for name in names:
            if child(tree, *name.split(".")) in (None, "", [], {}):
                yield required(inside(path, name), detail)

    return check


def one_of(*values: str) -> Check:
    return lambda value, path: () if value in values else (not_supported(path, value, values),)


def at_least(minimum: int, detail: str = "") -> Check:
    said = detail or f"must be greater than or equal to {minimum}"
    return lambda value, path: (invalid(path, value, said),) if value < minimum else ()


def between(low: int, high: int) -> Check:
    said = f"must be between {low} and {high}, inclusive"
    return lambda value, path: () if low <= value <= high else (invalid(path, value, said),)


def formatted(format_: Format) -> Check:
    return lambda value, path: (invalid(path, value, said) for said in format_(value))


def unique(where: str, *, name: str = "name") -> Check:
    """No two elements of the list have the same member of that name; those without it are not looked at."""

    def check(tree: Tree, path: str) -> Causes:
        seen: set[str] = set()
        for index, item in enumerate(child(tree, *where.split(".")) or ()):
            value = item.get(name)
            if value and value in seen:
                yield duplicate(f"{inside(path, where)}[{index}].{name}", value)
            seen.add(value)

    return check


def one_member(tree: Tree, path: str, names: Iterable[str], *, none: str, more: Callable[[str], StatusCause]) -> Causes:
    """Exactly one of the members is there."""
    found = [name for name in names if name in tree]
    if not found and none:
        yield required(path, none)
    yield from (more(inside(path, name)) for name in found[1:])


def amount(minimum: int = 0, *, exclusive: bool = False) -> Check:
    """A quantity that is large enough."""
    said = f"must be greater than {'zero' if exclusive else f'or equal to {minimum}'}"

    def check(value: Tree, path: str) -> Causes:
        quantity = Quantity(str(value))
        if quantity < minimum or (exclusive and quantity == minimum):
            yield invalid(path, str(value), said)

    return check


def port_or_name(port_name: Format) -> Check:
    number, name = between(1, 65535), formatted(port_name)
    return lambda value, path: name(value, path) if isinstance(value, str) else number(value, path)


# --- updates ---------------------------------------------------------------------------------------------------------


def all_changes(*changes: Change) -> Change:
    def change(new: Tree, old: Tree, path: str) -> Causes:
        for each_change in changes:
            yield from each_change(new, old, path)

    return change


def changed(new: Tree, old: Tree, where: str) -> bool:
    names = where.split(".")
    return not same(child(new, *names), child(old, *names))


def immutable(where: str, detail: str = IMMUTABLE) -> Change:
    def change(new: Tree, old: Tree, path: str) -> Causes:
        if changed(new, old, where):
            yield invalid(inside(path, where), child(new, *where.split(".")), detail)

    return change


# --- Formats ----------------------------------------------------------------------------------------------------------

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
