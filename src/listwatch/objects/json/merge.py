"""Merges a change into the received JSON, so that fields unknown to the models survive.

A model knows the fields of one Kubernetes version. A newer server sends more, and they must survive a read, a change
and a write. It is a three-way merge of the received JSON, what the model decoded from it, and the current value.

    received  {"name": "a", "size": 1.50, "new": 2}
    decoded   {"name": "a", "size": 1.5}              the fields that the model knows
    current   {"name": "b", "size": 1.5}
    sent      {"name": "b", "size": 1.50, "new": 2}

Guarantees:

* Unchanged values are sent as the received bytes, at every level: spelling of numbers, escapes, nulls, order.
* An unknown field stays as long as its parent does. This holds for the fields of a struct, also if it was replaced by
  another struct in the same place, and for the entries of a map.
* A list element keeps its unknown fields when it is changed or moved, or when elements around it are added or removed.
  It is matched by equality, or by an identifying field such as its name or uid. Changed elements without an identifying
  field are matched by their order, if the old and the new list have the same number of them.

Limits: an element with a changed identity is a new element. Changed elements without an identity cannot be matched if
other elements of that list were added or removed. These lose their unknown fields, as do removed elements. A duplicate
key is sent once if its parent was changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container

import msgspec

from listwatch.objects.json.json_scan import elements_of, parts_of
from listwatch.objects.json.reading import DECODE_FAILURES, Tree

__all__ = ["merge", "same"]

# Fields that identify list elements in the API, the most specific first.
_IDENTITIES = ("uid", "name", "type", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "host", "path")

_maps = msgspec.json.Decoder(dict[str, msgspec.Raw])
_lists = msgspec.json.Decoder(list[msgspec.Raw])

Mark = Callable[[Tree], object]
"""Returns the identity of an element, or None if it has none."""


def merge(received: msgspec.Raw, decoded: Tree, current: Tree) -> Tree:
    """Apply the change from `decoded` to `current` to the received JSON. Unchanged values stay raw JSON."""
    if same(current, decoded):
        return received
    if isinstance(decoded, dict) and isinstance(current, dict) and (fields := _fields(received)) is not None:
        return _merge_maps(fields, decoded, current)
    if isinstance(decoded, list) and isinstance(current, list) and (elements := _elements(received)) is not None:
        return _merge_lists(elements, decoded, current)
    return current


def _fields(received: msgspec.Raw) -> dict[str, msgspec.Raw] | None:
    """The fields of a map; None if it is null, or a value of another type."""
    try:
        return _maps.decode(received)
    except msgspec.ValidationError:
        return None
    except DECODE_FAILURES:
        return parts_of(bytes(received))  # a field that the model does not know is nested too deeply, or invalid


def _elements(received: msgspec.Raw) -> list[msgspec.Raw] | None:
    """The elements of a list; None if it is null, or a value of another type."""
    try:
        return _lists.decode(received)
    except msgspec.ValidationError:
        return None
    except DECODE_FAILURES:
        text = bytes(received)
        return [msgspec.Raw(text[start:end]) for start, end in elements_of(text)]


def same(current: Tree, decoded: Tree) -> bool:
    """True if both are equal JSON. Python considers 1, 1.0 and True equal; JSON does not."""
    return bool(current == decoded) and msgspec.json.encode(current) == msgspec.json.encode(decoded)


def _merge_maps(
    received: dict[str, msgspec.Raw], decoded: dict[str, Tree], current: dict[str, Tree]
) -> dict[str, Tree]:
    merged: dict[str, Tree] = {}
    for name, value in received.items():
        if name in current:
            merged[name] = merge(value, decoded[name], current[name]) if name in decoded else current[name]
        elif name not in decoded:
            merged[name] = value
    for name, value in current.items():
        # A zero value that the model added is not a change.
        if name not in received and not (name in decoded and same(value, decoded[name])):
            merged[name] = value
    return merged


def _merge_lists(received: list[msgspec.Raw], decoded: list[Tree], current: list[Tree]) -> list[Tree]:
    before = _matches(decoded, current)
    return [
        merge(received[before[place]], decoded[before[place]], each) if place in before else each
        for place, each in enumerate(current)
    ]


def _matches(decoded: list[Tree], current: list[Tree]) -> dict[int, int]:
    """For positions in `current`, the position of the same element in `decoded`."""
    found: dict[int, int] = {}
    for mark in (_content, _identity, *map(_field, _IDENTITIES)):
        taken = set(found.values())
        if len(taken) == len(decoded):
            break
        before, after = _places(decoded, mark, taken), _places(current, mark, found)
        for each, places in after.items():
            # Several elements with one identity are matched by their order, if all of them are still there.
            if mark is _content or len(places) == len(before[each]):
                found.update(zip(places, before[each], strict=False))
    return found


def _places(elements: list[Tree], mark: Mark, taken: Container[int]) -> defaultdict[object, list[int]]:
    places: defaultdict[object, list[int]] = defaultdict(list)
    for place, element in enumerate(elements):
        if place not in taken and (identity := mark(element)) is not None:
            places[identity].append(place)
    return places


def _content(element: Tree) -> object:
    return msgspec.json.encode(element)


def _identity(element: Tree) -> object:
    # All identifying fields together. Equal for all elements without any, which are then matched by their order.
    return tuple(_field(name)(element) for name in (*_IDENTITIES, "protocol"))


def _field(name: str) -> Mark:
    return lambda element: repr(element[name]) if isinstance(element, dict) and name in element else None
