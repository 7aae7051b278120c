"""Removes named fields from the bytes of objects, without decoding them into Python values.

FieldCuts(["metadata.managedFields", "metadata.annotations['example.com/last-applied']"]).cut(raw)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

import msgspec

from listwatch.errors import UsageError
from listwatch.objects.fields import set_head, set_raw
from listwatch.objects.head import Head, parts_decoder
from listwatch.objects.json.reading import DECODE_FAILURES
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.untracked import untrack_at

__all__ = ["FieldCuts"]

T = TypeVar("T", bound="CuttableObject")

Path = tuple[str, ...]

_PATH = re.compile(r"""(?:^|\.)([A-Za-z_$][\w$-]*)|\[(?:'([^']+)'|"([^"]+)")\]""")
_KEPT = frozenset(
    {("metadata",), ("apiVersion",), ("kind",)}
    | {("metadata", name) for name in ("name", "namespace", "uid", "resourceVersion", "labels")}
)
_MANAGED_FIELDS = ("metadata", "managedFields")
_PROTOBUF = b"k8s\0"


class CuttableObject(Protocol):
    """What is used of an `Object`, whose module imports this one."""

    _head: Head | ObjectMeta

    @property
    def _raw(self) -> bytes: ...
    @classmethod
    def from_wire(cls, raw: bytes) -> Self: ...
    def to_json(self) -> bytes: ...
    def without_managed_fields(self) -> Self: ...
    def _is_untouched(self) -> bool: ...


class FieldCuts:
    """Cuts the fields at some paths out of objects."""

    def __init__(self, paths: Sequence[str]) -> None:
        if isinstance(paths, str):
            raise UsageError(f"drop_fields must be a list of paths; for one path, pass [{paths!r}]")
        self.texts = tuple(paths)
        self.paths = tuple(dict.fromkeys(_parse(path) for path in paths))
        self._decoder = msgspec.json.Decoder(_type_of(self.paths))

    @property
    def includes_managed_fields(self) -> bool:
        return _MANAGED_FIELDS in self.paths

    def apply(self, item: T) -> T:
        """Return the object without these fields; the same instance if it has none of them."""
        raw = item._raw if item._is_untouched() else item.to_json()
        if raw.startswith(_PROTOBUF):
            if self.includes_managed_fields:
                item = item.without_managed_fields()
            if len(self.paths) == self.includes_managed_fields:
                return item
            raw = item.to_json()
        cut = self.cut(raw)
        if cut is item._raw:
            return item
        if not isinstance(item._head, Head) or not item._is_untouched():
            return type(item).from_wire(cut)
        made = object.__new__(type(item))
        item._head.share_labels()  # a view of the labels would keep the original bytes alive
        set_raw(made, cut)
        set_head(made, item._head)
        untrack_at(id(made))
        return made

    def cut(self, raw: bytes) -> bytes:
        """Return the JSON of an object without these fields; the same bytes if it has none, or is not valid."""
        try:
            found = self._decoder.decode(raw)
        except DECODE_FAILURES:
            return raw  # the error is raised when the damaged part is accessed
        for path in self.paths:
            value: Any = found
            for name in path:
                value = getattr(value, _attribute(name), None)
            if value is not None:
                raw = _without(raw, path, bytes(value))
        return raw


def _parse(path: str) -> Path:
    names, end = [], 0
    for match in _PATH.finditer(path):
        if match.start() != end:
            break
        names.append(next(filter(None, match.groups())))
        end = match.end()
    if not names or end != len(path):
        raise UsageError(
            f"{path!r} is not a path of a field; write it as metadata.managedFields, or with names in brackets, as in "
            "metadata.annotations['example.com/note']. Elements of lists cannot be dropped"
        )
    if tuple(names) in _KEPT:
        raise UsageError(f"{path!r} cannot be dropped: caches need it")
    return tuple(names)


def _attribute(name: str) -> str:
    return f"f_{name.encode().hex()}"


def _type_of(paths: Iterable[Path]) -> Any:  # a type expression
    """Return a type with only the fields at these paths, so that decoding skips everything else."""
    below: dict[str, list[Path]] = {}
    for first, *rest in paths:
        below.setdefault(first, []).append(tuple(rest))
    fields = [
        (
            _attribute(name),
            msgspec.Raw if () in rests else _type_of(rests) | None,
            msgspec.field(default=None, name=name),
        )
        for name, rests in below.items()
    ]
    return msgspec.defstruct("Cut", fields, gc=False)


def _without(raw: bytes, path: Path, value: bytes) -> bytes:
    name = msgspec.json.encode(path[-1]) + b":"
    places = [at for at in _places(raw, name) if raw.startswith(value, at + len(name))]
    if len(places) != 1:
        return _reencoded(raw, path)  # written with spaces, or the same field occurs elsewhere as well
    [start] = places
    end = start + len(name) + len(value)
    before, behind = raw[start - 1 : start], raw[end : end + 1]
    if before == b",":
        start -= 1
    elif behind == b",":
        end += 1
    elif (before, behind) != (b"{", b"}"):
        return _reencoded(raw, path)  # there may be a comma after a space
    return raw[:start] + raw[end:]


def _places(raw: bytes, name: bytes) -> Iterator[int]:
    at = raw.find(name)
    while at >= 0:
        yield at
        at = raw.find(name, at + 1)


def _reencoded(raw: bytes, path: Path) -> bytes:
    name, *rest = path
    parts = parts_decoder.decode(raw)
    if rest:
        parts[name] = msgspec.Raw(_reencoded(bytes(parts[name]), tuple(rest)))
    else:
        del parts[name]
    return msgspec.json.encode(parts)
