"""An object of any kind, read as a mapping of wire names: custom resources, or whatever a program has no model of."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NoReturn, Self

import msgspec

from listwatch.errors import DecodeError
from listwatch.meta import GroupVersionKind
from listwatch.objects.fields import write_change
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object import Object
from listwatch.objects.reading import tree_of
from listwatch.objects.reasons import UNREADABLE, reason_and_place
from listwatch.objects.untracked import untrack_tree
from listwatch.objects.writing import clone, encode, plain

__all__ = ["Unstructured"]


class Unstructured(Object, MutableMapping[str, Any]):
    """An object as `obj["spec"]["replicas"]`; its `metadata` is typed as in every other, and changed only there."""

    # The parts by wire name: bytes until they are touched, then Python values, which are what is sent.
    __slots__ = ("_fields",)

    def __init__(self, content: Mapping[str, Any] | None = None, *, metadata: ObjectMeta | None = None) -> None:
        """From a mapping such as a manifest. `metadata` stands in for what the mapping says of it."""
        fresh = type(self).from_dict(content or {})
        self._raw, self._head, self._parts = fresh._raw, fresh._head, None
        self._fields: dict[str, Any] | None = None
        if metadata is not None:
            self.metadata = metadata

    @classmethod
    def from_wire(cls, raw: bytes) -> Self:
        self = super().from_wire(raw)
        self._fields = None
        return self

    @property
    def api_version(self) -> str:
        return self._text("apiVersion")

    @property
    def kind(self) -> str:
        return self._text("kind") or "object"

    @property
    def group_version_kind(self) -> GroupVersionKind:
        """What the object says it is."""
        return GroupVersionKind.of(self.api_version, self.kind)

    def __getitem__(self, name: str) -> Any:
        if name == "metadata":
            return self._show_metadata()
        fields = self._opened()
        value = fields[name]
        if type(value) is msgspec.Raw:
            value = fields[name] = self._decode(name, value)
            untrack_tree(value)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "metadata":
            self._replace_metadata(value)
        else:
            self._opened()[name] = value

    def __delitem__(self, name: str) -> None:
        if name == "metadata":
            raise TypeError("an object has metadata: set its fields instead, as in obj.metadata.labels = {}")
        del self._opened()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._opened() or name == "metadata"

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._opened(), "metadata")))

    def __len__(self) -> int:
        return len(self._opened().keys() | {"metadata"})

    def copy(self) -> Self:
        twin = super().copy()
        twin._fields = None
        if self._fields is not None:
            twin._fields = {name: _copied(value) for name, value in self._fields.items()}
        return twin

    def peek(self, wire: str) -> Any:
        return super().peek(wire) if wire == "metadata" or self._fields is None else self._fields.get(wire)

    def _opened(self) -> dict[str, Any]:
        if self._fields is None:
            self._fields = dict(self._split())
        return self._fields

    def _content(self) -> dict[str, Any]:
        self._refuse_strangers()
        content = {name: self._written(name, value) for name, value in self._opened().items()}
        if (metadata := self._metadata()) is not None:
            content["metadata"] = metadata
        return content

    def _written(self, name: str, value: Any) -> Any:
        if type(value) is msgspec.Raw:
            return value
        now, part = plain(value, what=self.describe(), field=name), self.part(name)
        try:
            seen = None if part is None else self._decode(name, part)
        except DecodeError:
            part, seen = None, None  # somebody set it anew, which mends it
        return write_change(part, seen, now, type_=Any, what=self.describe(), field=name)

    def _metadata(self) -> Any:
        part = self.part("metadata")
        if "metadata" not in self.__dict__:
            return part
        return self.lazy_fields["metadata"].write(self.metadata, part, self)

    def _show_metadata(self) -> Any:
        now = self._metadata()
        tree = self._decode("metadata", msgspec.Raw(encode(now, what=self.describe())))
        return _to_show({} if tree is None else tree)

    def _replace_metadata(self, value: Any) -> None:
        fresh = type(self).from_dict({"metadata": value})
        fields, parts = self._opened(), {**self._split(), **fresh._split()}
        # The new one is what came, from now on: nothing of the old one is to be merged into it.
        self._raw, self._head, self._parts = encode(parts, what="object"), fresh._head, parts
        self.__dict__.pop("metadata", None)
        fields["metadata"] = parts["metadata"]

    def _text(self, name: str) -> str:
        # Never raises, because errors are told with it.
        try:
            value = (self._split() if self._fields is None else self._fields).get(name)
        except DecodeError:
            return ""
        value = tree_of(value) if type(value) is msgspec.Raw else value
        return value if isinstance(value, str) else ""

    def _decode(self, name: str, raw: msgspec.Raw) -> Any:
        try:
            return msgspec.json.decode(raw)
        except UNREADABLE as error:
            reason, place = reason_and_place(error)
            raise DecodeError(reason, object_name=self.describe(), field=name + place) from None

    def _is_untouched(self) -> bool:
        return self._fields is None and super()._is_untouched()


def _copied(value: Any) -> Any:
    twin = clone(value, Any)
    return twin if twin == value else copy.deepcopy(value)  # a model in it would have become a mapping


# --- metadata as a mapping ---------------------------------------------------------------------------------------


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError("this only shows the metadata; change it as in obj.metadata.labels['app'] = 'web'")


class _ShownMap(dict[str, Any]):
    """A mapping to read. There is one place to change it, and silence about the other would lose changes."""

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _ShownList(list[Any]):
    """A list to read."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _to_show(tree: Any) -> Any:
    match tree:
        case dict():
            return _ShownMap({name: _to_show(each) for name, each in tree.items()})
        case list():
            return _ShownList(_to_show(each) for each in tree)
        case _:
            return tree
