"""Decides which objects of a list or a watch are stored: those of the kind of the informer.

A typed class accepts the bytes of any object, so that the kind is compared with the received `apiVersion` and `kind`.
Servers write them first in every object, except in the items of lists of built-in kinds, which have none. That makes
one comparison of a prefix per object; only an object with another prefix is checked further.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import msgspec

from listwatch.errors import DecodeError, ListWatchError
from listwatch.keyed import Tombstone, UsableCheck
from listwatch.meta import GroupVersionKind, Resource
from listwatch.objects.fields import SealedBytes
from listwatch.objects.head import Head, protobuf_start
from listwatch.objects.json.reading import tree_of
from listwatch.objects.metadata import ObjectMeta

__all__ = ["ExpectedKind"]

_METADATA_FIRST = b'{"metadata":'


class APIObject(Protocol):
    """What is read of an `Object`, whose module imports this one."""

    resource: ClassVar[Resource | None]
    gvk: ClassVar[GroupVersionKind | None]
    _also_sent_as: ClassVar[GroupVersionKind | None]
    _received: bytes | SealedBytes
    _head: Head | ObjectMeta

    @property
    def _raw(self) -> bytes: ...
    @property
    def name(self) -> str: ...
    @property
    def api_version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def _find_parts(self) -> dict[str, msgspec.Raw]: ...


class ExpectedKind:
    """The kind of an informer's objects, and of the lists of them.

    `resource` is the resource of the source, if it is known: it determines the kind of objects whose class does not.
    """

    def __init__(
        self, kind: type[APIObject], resource: Resource | None, on_skipped: Callable[[ListWatchError], None]
    ) -> None:
        self._kind = kind
        self._on_skipped = on_skipped
        expected = [each for each in (kind.gvk, None if kind.gvk or resource is None else resource.gvk) if each]
        if kind._also_sent_as and expected:
            expected.append(kind._also_sent_as)
        self._types = [(each.api_version, each.kind) for each in expected]
        # Not the name of the class, which is Unstructured in a dynamic informer.
        self._names = " or ".join(f"{version} {name}" for version, name in self._types) or kind.__name__
        self._lists = [(each.api_version, f"{each.kind}List") for each in expected]
        declared = kind.resource or resource
        if declared is not None:
            self._lists.append((declared.api_version, declared.list_kind))
        starts = tuple(start for each in expected for start in _starts(each))
        self.is_usable_event: UsableCheck = self._check(starts, self._mismatch)
        """Whether the object of a watch event can be stored."""
        self._is_usable_item = self._check((*starts, _METADATA_FIRST), self._mismatch)
        self._is_usable_item_of_other_list = self._check(starts, self._mismatch_in_other_list)

    def check_of_items(self, page: object) -> UsableCheck:
        """Return the check of the items of a page. Raises DecodeError for a response that is not a list.

        The items of a list of another kind are usable only if they have the right kind themselves: it may have an
        unusual name. If none of them has, it is not a list of this kind.
        """
        found = getattr(page, "api_version", ""), getattr(page, "kind", "")
        if found[1] == "Table" or found in self._types:
            # It has no items, and would make the store empty.
            raise DecodeError(f"expected a list of {self._names}, got {found[0]} {found[1]}")
        if found[1] in ("", "List") or not self._types or found in self._lists:
            return self._is_usable_item
        items = getattr(page, "items", ())
        # The list kind of a custom resource is not always known, and an empty list has nothing else to recognize it by.
        is_custom = "." in found[0].partition("/")[0] and any(found[0] == version for version, _ in self._types)
        if not any(self._mismatch_in_other_list(item) is None for item in items) and (items or not is_custom):
            # It is the response to another request, and would make the store empty, too.
            raise DecodeError(f"expected a list of {self._names}, got {found[0]} {found[1]} without any of them")
        return self._is_usable_item_of_other_list

    def _check(self, starts: tuple[bytes, ...], mismatch: Callable[[APIObject], str | None]) -> UsableCheck:
        """Return a function that compares the first bytes, and calls `mismatch` if they differ."""
        kind, on_skipped = self._kind, self._on_skipped
        expected = self._names

        def report_unusable(item: Any) -> bool:
            if type(item) is Tombstone:
                return item.is_usable(on_skipped)
            if getattr(item, "is_stored", False):
                return True  # it stands for an object of a packed store
            found = mismatch(item)
            if found is not None:
                on_skipped(DecodeError(f"expected {expected}, got {found}", object_name=item.describe()))
            return found is None

        # `_head.name` is `name` without a call, and `_received` is `_raw` unless the object is compressed or in a file:
        # then it was stored before, and is not opened to check it again.
        def is_usable(item: Any) -> bool:
            if isinstance(item, kind):
                raw = item._received
                if (type(raw) is not bytes or raw.startswith(starts)) and item._head.name:
                    return True
            return report_unusable(item)

        def is_usable_of_any_kind(item: Any) -> bool:
            if isinstance(item, kind) and item._head.name:
                raw = item._received
                if type(raw) is not bytes or b'"Table"' not in raw:
                    return True
            return report_unusable(item)

        return is_usable if self._types else is_usable_of_any_kind

    def _mismatch(self, item: APIObject) -> str | None:
        """Describe an object that is not usable."""
        if not item.name:
            return "an object without a name"
        if not isinstance(item, self._kind):
            return f"{item.api_version} {item.kind}"
        api_version, kind = _type_of(item)
        if not self._types:
            return f"{api_version} {kind}" if kind == "Table" else None
        for expected_version, expected_kind in self._types:
            if api_version in ("", expected_version) and kind in ("", expected_kind):
                return None
        return f"{api_version} {kind}"

    def _mismatch_in_other_list(self, item: APIObject) -> str | None:
        has_kind = all(_type_of(item))
        return self._mismatch(item) if has_kind else "an item without a kind in a list of another kind"


def _starts(expected: GroupVersionKind) -> tuple[bytes, bytes, bytes]:
    """The first bytes of an object, as Go structs and as sorted maps are written, and as protobuf."""
    kind = b'"kind":%s,' % msgspec.json.encode(expected.kind)
    api_version = b'"apiVersion":%s,' % msgspec.json.encode(expected.api_version)
    protobuf = protobuf_start(expected.api_version, expected.kind)
    return b"{" + kind + api_version, b"{" + api_version + kind, protobuf


def _type_of(item: APIObject) -> tuple[str, str]:
    """The received apiVersion and kind; empty where they are absent."""
    try:
        parts = item._find_parts()
    except DecodeError:
        return "", ""  # the object is damaged; the error is raised when it is accessed
    found = [tree_of(part) if (part := parts.get(name)) is not None else "" for name in ("apiVersion", "kind")]
    api_version, kind = (each if isinstance(each, str) else "" for each in found)
    return api_version, kind
