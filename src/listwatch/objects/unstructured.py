"""An object of any kind as a mapping of wire names, for custom resources and kinds without a model."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NoReturn, Self

import msgspec

from listwatch.errors import DecodeError, EncodeError
from listwatch.meta import GroupVersionKind
from listwatch.objects.damage import report_damage
from listwatch.objects.fields import set_head, set_raw, without_unknown, write_change
from listwatch.objects.json.reading import DECODE_FAILURES, reason_and_place, tree_of
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object import Object
from listwatch.objects.untracked import untrack_tree
from listwatch.objects.writing import clone, encode, plain

__all__ = ["Unstructured"]


class Unstructured(Object, MutableMapping[str, Any]):
    """An object as a mapping: `obj["spec"]["replicas"]`. `obj.metadata` is typed; `obj["metadata"]` is read-only."""

    __slots__ = ()

    _has_any_field = True

    # The parts by wire name: raw JSON until they are accessed, then Python values. Stored in the __dict__, as `_parts`.
    _fields: dict[str, object] | None = None

    def __init__(self, content: Mapping[str, object] | None = None, *, metadata: ObjectMeta | None = None) -> None:
        """Create an object from a mapping such as a manifest. `metadata` replaces the metadata of the mapping."""
        fresh = type(self).from_dict(content or {})
        set_raw(self, fresh._raw)
        set_head(self, fresh._head)
        if metadata is not None:
            self.metadata = metadata

    @property
    def api_version(self) -> str:
        return self._text("apiVersion")

    @property
    def kind(self) -> str:
        return self._text("kind") or "object"

    @property
    def group_version_kind(self) -> GroupVersionKind:
        """apiVersion and kind of this object."""
        return GroupVersionKind.of(self.api_version, self.kind)

    def __getitem__(self, name: str) -> Any:
        if name == "metadata":
            return self._metadata_view()
        fields = self._open()
        value = fields[name]
        if type(value) is msgspec.Raw:
            value = fields[name] = self._decode(name, value)
            untrack_tree(value)
        return value

    def __setitem__(self, name: str, value: object) -> None:
        if name == "metadata":
            self._replace_metadata(value)
        else:
            self._open()[name] = value

    def __delitem__(self, name: str) -> None:
        if name == "metadata":
            raise TypeError("metadata cannot be deleted; set its fields, as in obj.metadata.labels = {}")
        del self._open()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._open() or name == "metadata"

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._open(), "metadata")))

    def __len__(self) -> int:
        return len(self._open().keys() | {"metadata"})

    def copy(self) -> Self:
        duplicate, fields = super().copy(), self._fields
        if fields is not None:
            duplicate._fields = {name: _copied(value) for name, value in fields.items()}
        return duplicate

    def peek(self, wire: str) -> object:
        fields = self._fields
        return super().peek(wire) if wire == "metadata" or fields is None else fields.get(wire)

    def _open(self) -> dict[str, object]:
        fields = self._fields
        if fields is None:
            fields = self._fields = dict(self._split())
        return fields

    def _content(self) -> dict[str, object]:
        content = {name: self._encode_field(name, value) for name, value in self._open().items()}
        if (metadata := self._metadata()) is not None:
            content["metadata"] = metadata
        return content

    def _encode_field(self, name: str, value: object) -> object:
        if type(value) is msgspec.Raw:
            return value
        now, part = plain(value, what=self.describe(), field=name), self._part(name)
        try:
            seen = None if part is None else self._decode(name, part)
        except DecodeError:
            part, seen = None, None  # the part is damaged, and was replaced
        return write_change(part, seen, now, type_=Any, what=self.describe(), field=name)

    def _metadata(self) -> object:
        part = self._part("metadata")
        if "metadata" not in self.__dict__:
            return part
        return self.lazy_fields["metadata"].write(self.metadata, part, self)

    def _metadata_view(self) -> object:
        now = self._metadata()
        tree = self._decode("metadata", msgspec.Raw(encode(now, what=self.describe())))
        try:
            return _read_only({} if tree is None else tree)
        except RecursionError:
            raise DecodeError("it is nested too deeply", object_name=self.describe(), field="metadata") from None

    def _replace_metadata(self, value: object) -> None:
        fresh = type(self).from_dict({"metadata": value})
        fields, received = self._open(), self._split()
        # From now on the new metadata counts as received: nothing of the old one is merged into it.
        if self._is_protobuf():
            set_raw(self, self._with_protobuf_metadata(fresh))
        else:
            parts = {**received, **fresh._split()}
            set_raw(self, encode(parts, what="object"))
            self._parts = parts
            fields["metadata"] = parts["metadata"]
        self._head = fresh._head
        self.__dict__.pop("metadata", None)

    def _with_protobuf_metadata(self, fresh: Self) -> bytes:
        from listwatch.objects.protobuf.protobuf_parts import replace_protobuf_parts

        return replace_protobuf_parts(self._raw, {"metadata": tree_of(fresh.part("metadata"))})

    def _no_field(self, name: str) -> str:
        return f"{type(self).__name__} has no field {name}; set obj[{name!r}]"

    def _text(self, name: str) -> str:
        # Never raises, because error messages use it.
        fields = self._fields
        if fields is None and self._is_protobuf():
            return self._protobuf_type()[name == "kind"]
        try:
            value = (self._split() if fields is None else fields).get(name)
        except DecodeError:
            return ""
        value = tree_of(value) if type(value) is msgspec.Raw else value
        return value if isinstance(value, str) else ""

    def _protobuf_type(self) -> tuple[str, str]:
        from listwatch.objects.protobuf.protobuf_parts import type_in

        return type_in(self._raw)

    def _decode(self, name: str, raw: msgspec.Raw) -> object:
        try:
            return msgspec.json.decode(without_unknown(raw) if self._is_protobuf() else raw)
        except DECODE_FAILURES as error:
            if not len(raw):
                self._part(name)  # raises the reason
            reason, place = reason_and_place(error)
            failure = DecodeError(reason, object_name=self.describe(), field=name + place)
            raise report_damage(self, failure) from None

    def _is_untouched(self) -> bool:
        return self._fields is None and super()._is_untouched()


def _copied(value: object) -> object:
    duplicate = clone(value, Any)
    try:
        return duplicate if duplicate == value else copy.deepcopy(value)  # clone turns models into mappings
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name="a copy") from None


# --- metadata as a mapping ---------------------------------------------------------------------------------------


def _reject_change(*_: object, **__: object) -> NoReturn:
    raise TypeError("obj['metadata'] is read-only; use obj.metadata, as in obj.metadata.labels['app'] = 'web'")


class _ReadOnlyMap(dict[str, object]):
    """A read-only mapping. Accepting changes here would lose them."""

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _reject_change

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)


class _ReadOnlyList(list[object]):
    """A read-only list."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _reject_change
    append = extend = insert = pop = remove = clear = sort = reverse = _reject_change

    def __reduce__(self) -> tuple[object, ...]:
        return list, (list(self),)


def _read_only(tree: object) -> object:
    match tree:
        case dict():
            return _ReadOnlyMap({name: _read_only(each) for name, each in tree.items()})
        case list():
            return _ReadOnlyList(_read_only(each) for each in tree)
        case _:
            return tree
