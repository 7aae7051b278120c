"""What to send back when part of an object was changed: the change, on top of all that came.

A model knows the fields of one Kubernetes version. A newer server sends more, and they must survive a read, a change
and a write. So three things are merged: what came, what was seen of it, and what it is now.

    came  {"name": "a", "size": 1.50, "new": 2}
    seen  {"name": "a", "size": 1.5}              the fields that the model knows
    now   {"name": "b", "size": 1.5}
    sent  {"name": "b", "size": 1.50, "new": 2}

What holds:

* What was not changed goes back as the bytes that came, at every level: the spelling of numbers, escapes, nulls, order.
* A field that was not seen stays, as long as what holds it does. So it is for the fields of a struct, also of one that
  was replaced by another in the same place, and for the entries of a map.
* An element of a list keeps its unseen fields when it is changed, moved, or has others put in or taken out around it.
  It is known again by being the same, or by what identifies it: its name, its uid and the like. Elements that nothing
  identifies are known by their order, if as many were changed as are left.

What cannot hold: an element that got another identity is another element; of elements that nothing identifies, those
that were changed cannot be told apart when others came or went in the same list. These lose what was not seen of them,
as does whatever is taken out. A key that came twice comes back once, if what holds it was changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from typing import TypeVar

import msgspec

from listwatch.objects.reading import Tree
from listwatch.objects.reasons import UNREADABLE

__all__ = ["merge", "same"]

# What tells the elements of the API's lists apart, most telling first.
_IDENTITIES = ("uid", "name", "type", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "host", "path")

_maps = msgspec.json.Decoder(dict[str, msgspec.Raw])
_lists = msgspec.json.Decoder(list[msgspec.Raw])

T = TypeVar("T")
Mark = Callable[[Tree], object]
"""What an element is known by; None where it has no such thing."""


def merge(came: msgspec.Raw, seen: Tree, now: Tree) -> Tree:
    """What came, changed as `seen` was changed into `now`; what was not changed is still raw JSON in it."""
    if same(now, seen):
        return came
    if isinstance(seen, dict) and isinstance(now, dict) and (fields := _opened(came, _maps)) is not None:
        return _merge_maps(fields, seen, now)
    if isinstance(seen, list) and isinstance(now, list) and (elements := _opened(came, _lists)) is not None:
        return _merge_lists(elements, seen, now)
    return now


def _opened(came: msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    try:
        return decoder.decode(came)
    except UNREADABLE:
        return None  # a null came, or something of another type: there is nothing to build on


def same(now: Tree, seen: Tree) -> bool:
    """True if nothing was changed. Python takes 1, 1.0 and True for equal; JSON does not."""
    return bool(now == seen) and msgspec.json.encode(now) == msgspec.json.encode(seen)


def _merge_maps(came: dict[str, msgspec.Raw], seen: dict[str, Tree], now: dict[str, Tree]) -> dict[str, Tree]:
    merged: dict[str, Tree] = {}
    for name, value in came.items():
        if name in now:
            merged[name] = merge(value, seen[name], now[name]) if name in seen else now[name]
        elif name not in seen:
            merged[name] = value
    for name, value in now.items():
        # A zero value that the model added by itself is no change.
        if name not in came and not (name in seen and same(value, seen[name])):
            merged[name] = value
    return merged


def _merge_lists(came: list[msgspec.Raw], seen: list[Tree], now: list[Tree]) -> list[Tree]:
    before = _partners(seen, now)
    return [
        merge(came[before[place]], seen[before[place]], each) if place in before else each
        for place, each in enumerate(now)
    ]


def _partners(seen: list[Tree], now: list[Tree]) -> dict[int, int]:
    """For places in `now`, the place in `seen` of the element that it was."""
    found: dict[int, int] = {}
    for mark in (_content, _identity, *map(_field, _IDENTITIES)):
        taken = set(found.values())
        if len(taken) == len(seen):
            break
        before, after = _places(seen, mark, taken), _places(now, mark, found)
        for each, places in after.items():
            # Several of one mark are told apart by their order, which only helps if all are still there.
            if mark is _content or len(places) == len(before[each]):
                found.update(zip(places, before[each], strict=False))
    return found


def _places(elements: list[Tree], mark: Mark, taken: Container[int]) -> defaultdict[object, list[int]]:
    places: defaultdict[object, list[int]] = defaultdict(list)
    for place, element in enumerate(elements):
        if place not in taken and (known_by := mark(element)) is not None:
            places[known_by].append(place)
    return places


def _content(element: Tree) -> object:
    return msgspec.json.encode(element)


def _identity(element: Tree) -> object:
    # All of it together. The same for all elements that nothing identifies, which leaves them their order.
    return tuple(_field(name)(element) for name in (*_IDENTITIES, "protocol"))


def _field(name: str) -> Mark:
    return lambda element: repr(element[name]) if isinstance(element, dict) and name in element else None
