"""A list of objects: one response to a list request."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, overload

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.head import PROTOBUF
from listwatch.objects.list_splitter import ListSplitter, WireList, split_list
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.writing import encode, to_json

__all__ = ["ObjectList"]

T = TypeVar("T", bound=Object)

# How servers start objects without apiVersion and kind.
_UNNAMED = b'{"metadata":'


class ObjectList(Generic[T]):
    """The objects of one list response, its metadata, and errors for items that could not be decoded."""

    __slots__ = ("_api_version", "_kind", "_unchanged", "broken", "items", "metadata")

    item: ClassVar[type[Object]] = Unstructured

    items: list[T]
    metadata: ListMeta
    broken: tuple[DecodeError, ...]

    def __init_subclass__(cls, *, item: type[Object] | None = None) -> None:
        cls.item = item or cls.item

    def __init__(self, items: Iterable[T] = (), *, metadata: ListMeta | None = None) -> None:
        self.items = list(items)
        self.metadata = metadata or ListMeta()
        self.broken = ()
        # The objects that an informer has cached already, by key; they are not among the items.
        self._unchanged: Mapping[str, T] = {}
        self._api_version, self._kind = _names_of_lists(self.item)

    @classmethod
    def from_wire(cls, body: bytes, item: type[T] | None = None) -> Self:
        """Create a list from a response body, JSON or protobuf."""
        if not body.startswith(PROTOBUF):
            return cls.from_json(body, item)
        work = cls.reading([body], item)
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: Self = end.value
                return found

    @classmethod
    def from_json(cls, body: bytes | str, item: type[T] | None = None) -> Self:
        """Create a list from a response body. Objects are copied out of it, so that none keeps the whole body alive."""
        self, kind, wire, broken = cls(), cls._kind_of_items(item), split_list(body), list[DecodeError]()
        self._read(wire.items or (), wire, kind, broken)
        self._complete(wire, kind, broken)
        return self

    @classmethod
    def reading(
        cls, chunks: Iterable[bytes], item: type[T] | None = None, known: KnownObjects[T] | None = None
    ) -> Generator[None, None, Self]:
        """Create a list from the chunks of a response body; a generator that yields between groups of objects.

        The body is JSON or protobuf. Objects that are recognized as `known` are those instances.
        """
        chunks = iter(chunks)
        first = next(chunks, b"")
        chunks = chain([first], chunks)
        if first.startswith(PROTOBUF):
            return (yield from cls._reading_protobuf(chunks, cls._kind_of_items(item), known))
        self, kind, broken = cls(), cls._kind_of_items(item), list[DecodeError]()
        splitter = ListSplitter(chunks, known.walker(kind, lambda _, item: self.items.append(item)) if known else None)
        waiting: list[list[msgspec.Raw]] = []  # for the kind of the list, if its objects need it and precede it
        for group in splitter.groups():
            has_names = splitter.head.kind and splitter.head.api_version
            if waiting or (not has_names and issubclass(kind, Unstructured) and _needs_names(group)):
                waiting.append(group)
            else:
                self._read(group, splitter.head, kind, broken, known)
            yield
        for group in waiting:
            self._read(group, splitter.head, kind, broken, known)
            yield
        self._complete(splitter.head, kind, broken)
        return self

    @classmethod
    def _kind_of_items(cls, item: type[T] | None) -> type[T]:
        return item or cast("type[T]", cls.item)  # a class variable cannot have a type variable

    @classmethod
    def _reading_protobuf(
        cls, chunks: Iterable[bytes], item: type[T], known: KnownObjects[T] | None
    ) -> Generator[None, None, Self]:
        from listwatch.objects.protobuf import protobuf_objects  # few programs receive protobuf

        self, splitter, broken = cls(), protobuf_objects.ListSplitter(chunks), list[DecodeError]()
        read = protobuf_objects.protobuf_reader(item)
        read = known.reader(item, read) if known else read
        for group in splitter.groups():
            self._read_each(group, read, splitter.kind, broken)
            yield
        self._complete(protobuf_objects.head_of(splitter), item, broken)
        return self

    def _complete(self, wire: WireList, item: type[T], broken: list[DecodeError]) -> None:
        api_version, kind = _names_of_lists(item)
        self._api_version, self._kind = wire.api_version or api_version, wire.kind or kind
        self.metadata = wire.metadata
        self.broken = tuple(broken)

    def _read(
        self,
        group: Iterable[msgspec.Raw],
        wire: WireList,
        item: type[T],
        broken: list[DecodeError],
        known: KnownObjects[T] | None = None,
    ) -> None:
        """Decode each object; record an error for each that cannot be decoded."""
        name = _namer(wire) if issubclass(item, Unstructured) else bytes
        read = known.reader(item, item.from_wire) if known else item.from_wire
        self._read_each(map(name, group), read, wire.kind, broken)

    def _read_each(
        self, group: Iterable[bytes], read: Callable[[bytes], T], kind: str, broken: list[DecodeError]
    ) -> None:
        items = self.items
        for raw in group:
            try:
                items.append(read(raw))
            except DecodeError as error:
                index = len(items) + len(broken)
                broken.append(DecodeError(str(error), object_name=kind or "a list", field=f"items[{index}]"))

    @classmethod
    def from_dict(cls, tree: Mapping[str, object], item: type[T] | None = None) -> Self:
        """Create a list from a dict of wire names, which is copied."""
        return cls.from_json(to_json(tree, what="a list"), item)

    @property
    def api_version(self) -> str:
        return self._api_version

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def resource_version(self) -> str:
        """The resource version to start a watch at."""
        return self.metadata.resource_version

    @property
    def continue_token(self) -> str:
        """The token of the next page; empty on the last page."""
        return self.metadata.continue_

    @property
    def remaining(self) -> int | None:
        """The number of objects on later pages, if the server reports it."""
        return self.metadata.remaining_item_count

    def to_json(self) -> bytes:
        """The list as JSON. Unchanged objects are the received bytes."""
        content = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": self.metadata.to_dict(),
            "items": [msgspec.Raw(each.to_json()) for each in self.items],
        }
        return encode(content, what=self.kind)

    def to_dict(self) -> dict[str, Any]:
        """The list as a new dict of wire names."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": self.metadata.to_dict(),
            "items": [each.to_dict() for each in self.items],
        }

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectList):
            return NotImplemented
        return (self.kind, self.metadata, self.items) == (other.kind, other.metadata, other.items)

    __hash__ = None  # type: ignore[assignment]  # lists are mutable

    def __repr__(self) -> str:
        version = self.resource_version
        return f"<{self.kind} of {len(self.items)}{f' @{version}' if version else ''}>"


def _namer(wire: WireList) -> Callable[[msgspec.Raw], bytes]:
    """A function that adds apiVersion and kind to items: servers omit them in lists of built-in kinds."""
    kind = wire.kind.removesuffix("List")
    if not (kind and wire.api_version) or kind == wire.kind:
        return bytes
    type_fields = msgspec.json.encode({"apiVersion": wire.api_version, "kind": kind})[:-1] + b","

    def named(raw: msgspec.Raw) -> bytes:
        own = bytes(raw)
        # An item with a kind has it before its metadata, or after it, where it overrides the added one.
        return type_fields + own[1:] if own.startswith(_UNNAMED) else own

    return named


def _needs_names(group: list[msgspec.Raw]) -> bool:
    return any(bytes(raw).startswith(_UNNAMED) for raw in group)


def _names_of_lists(item: type[Object]) -> tuple[str, str]:
    """The apiVersion and kind of a list of such objects."""
    if item.gvk is None:
        return "v1", "List"
    return item.gvk.api_version, item.resource.list_kind if item.resource else f"{item.gvk.kind}List"
