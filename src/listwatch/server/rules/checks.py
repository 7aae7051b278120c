"""The pieces of which rules are made: where to look, and what to look for.

    at("spec.replicas", at_least(0))          the value at a place, if there is one
    each("spec.ports", PORT)                  every element of a list
    needs("name", "image")                    members that must be there and not be empty
    immutable("spec.selector")                what an update must leave alone

A piece takes a value and its place, and yields what is wrong there; `formats` has those that look into texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
