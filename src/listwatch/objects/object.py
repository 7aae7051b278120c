"""One API object: its head is read when it arrives, every other part when it is touched.

    bytes ──from_wire──▶ Object ──touch──▶ decoded parts ──to_json──▶ the bytes that came, and on top what was changed

`fields.py` has the lazy part, `unstructured.py` the object of any kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import msgspec

from listwatch.errors import DecodeError, EncodeError
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.objects.fields import LazyField, MetadataField, lazy
from listwatch.objects.head import Head, Labels, parts_decoder, read_head, salvage
from listwatch.objects.managed_fields import cut_managed_fields
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.reading import tree_of
from listwatch.objects.reasons import UNREADABLE, reason_of
from listwatch.objects.untracked import untrack
from listwatch.objects.wire import compact, refuse_repeated_keys
from listwatch.objects.writing import clone, encode, to_json

__all__ = ["Object", "lazy"]

_NULL = msgspec.Raw(b"null")
_EMPTY = (_NULL, msgspec.Raw(b'""'))


@dataclass_transform(kw_only_default=True)
class _Kept:
    """What an object is kept as. Apart from `Object`, because type checkers take no fields from a class marked so."""

    __slots__ = ("__dict__", "__weakref__", "_head", "_parts", "_raw")

    _raw: bytes
    # What a cache needs of the metadata; once the whole of it was touched it may have been changed, and stands here.
    _head: Head | ObjectMeta
    # Where the parts are in the bytes: unknown; or after a first touch, a struct with those of the other lazy fields;
    # or a dict with all of them.
    _parts: Any


class Object(_Kept):
    """Bytes that came from a server, read where they are touched; shared by readers, so `copy()` before a change."""

    # Any thread may read. The bytes and the head never change; what a touch adds is made of them alone, is stored by
    # single steps that the interpreter makes atomic, and is looked up once per use. Changing is for a copy's owner.

    __slots__ = ()

    resource: ClassVar[Resource | None] = None
    gvk: ClassVar[GroupVersionKind | None] = None

    metadata: ObjectMeta = MetadataField(ObjectMeta, "metadata")  # type: ignore[assignment]  # as lazy() does it

    _said: ClassVar[Mapping[str, str]] = {}
    lazy_fields: ClassVar[Mapping[str, LazyField]] = {"metadata": metadata}  # type: ignore[dict-item]  # lazy() says Any

    def __init_subclass__(cls, *, resource: Resource | None = None, gvk: GroupVersionKind | None = None) -> None:
        cls.resource = resource or cls.resource
        cls.gvk = gvk or (resource.gvk if resource else cls.gvk)
        own = {name: field for name, field in vars(cls).items() if isinstance(field, LazyField)}
        cls.lazy_fields = {**cls.lazy_fields, **own}
        cls._said = {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind} if cls.gvk else {}

    def __init__(self, **parts: Any) -> None:
        unknown = parts.keys() - self.lazy_fields.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}; it has {_names(self)}")
        self._raw = b"{}"
        self._head = Head()
        self._parts = None
        self.metadata = parts.pop("metadata", None) or ObjectMeta()
        self.__dict__.update(parts)

    # --- reading -------------------------------------------------------------------------------------------------

    @classmethod
    def from_wire(cls, raw: bytes) -> Self:
        """The object in these bytes, which it keeps. Only its head is read; `from_json` is the one that checks."""
        self = cls.__new__(cls)
        self._raw = raw
        self._parts = None
        try:
            self._head = read_head(raw)
        except UNREADABLE:
            self._head = salvage(raw, cls.__name__)
        untrack(self)
        return self

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """The object in a JSON document; its apiVersion and kind must be those of this class, or absent."""
        raw = compact(text, cls.__name__)
        self = cls.from_wire(raw)
        refuse_repeated_keys(raw, self.describe())
        return self._checked()

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """The object in a dict of wire names, which is not kept."""
        if not isinstance(tree, Mapping):
            raise DecodeError(f"expected a mapping, got {type(tree).__name__}", object_name=cls.__name__)
        return cls.from_wire(to_json(tree, what=cls.__name__))._checked()

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """The object in a YAML text of one document."""
        from listwatch.objects.manifests import read_one

        return cls.from_dict(read_one(text))

    @classmethod
    def all_from_yaml(cls, text: str | bytes) -> list[Self]:
        """The objects in a YAML text of any number of documents; empty ones are passed over."""
        from listwatch.objects.manifests import read_all

        return [cls.from_dict(tree) for tree in read_all(text)]

    # --- the head ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._head.name

    @property
    def namespace(self) -> str:
        return self._head.namespace

    @property
    def uid(self) -> str:
        return self._head.uid

    @property
    def resource_version(self) -> str:
        return self._head.resource_version

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, to read; `metadata.labels` is where they are changed."""
        head = self._head
        if type(head) is not Head:
            return MappingProxyType(head.labels or {})
        shared: Any = head.raw_labels  # looked at here, too, because selectors ask every object
        return shared.texts if type(shared) is Labels else head.labels

    @property
    def key(self) -> ObjectKey:
        meta = self._head
        return ObjectKey(meta.namespace, meta.name)

    @property
    def cache_key(self) -> str:
        """`namespace/name`, or `name` alone: what caches keep it under; empty where it has no name."""
        head = self._head
        name, namespace = head.name, head.namespace
        return f"{namespace}/{name}" if namespace and name else name

    @property
    def api_version(self) -> str:
        return self.gvk.api_version if self.gvk else ""

    @property
    def kind(self) -> str:
        return self.gvk.kind if self.gvk else type(self).__name__

    # --- writing -------------------------------------------------------------------------------------------------

    def to_json(self) -> bytes:
        """The object as JSON: whatever nobody changed is the bytes that came."""
        if self._is_untouched() and not self._unsaid():
            return self._raw
        content = self._content()
        return self._raw if content == self._split() else encode(content, what=self.kind)

    def to_dict(self) -> dict[str, Any]:
        """The object as a new dict of wire names: a valid manifest."""
        try:
            tree: dict[str, Any] = msgspec.json.decode(self.to_json())
        except UNREADABLE as error:
            raise DecodeError(reason_of(error), object_name=self.describe()) from None
        return tree

    def to_yaml(self) -> str:
        """The object as a YAML document."""
        from listwatch.objects.manifests import write

        return write(self.to_dict())

    def copy(self) -> Self:
        """An independent copy: changing either never shows in the other."""
        twin = type(self).__new__(type(self))
        twin._raw, head, twin._parts = self._raw, self._head, self._parts
        # A snapshot of what is decoded, because another thread may be touching more of it.
        for name, value in self.__dict__.copy().items():
            if field := self.lazy_fields.get(name):
                twin.__dict__[name] = clone(value, field.type)
        twin._head = twin.__dict__.get("metadata", head)
        return twin

    def without_managed_fields(self) -> Self:
        """The same object without `metadata.managedFields`; itself where it has none."""
        if not self._is_untouched():  # it may have been changed, too
            twin = self.copy()
            twin.metadata.managed_fields = []
            return twin if self.metadata.managed_fields else self
        try:
            raw = cut_managed_fields(self._raw)
        except UNREADABLE:
            return self  # what is wrong with it is told when it is touched
        if raw is self._raw:
            return self
        twin = self.copy()
        twin._raw, twin._parts = raw, None
        head: Any = self._head
        head.share_labels()  # else it would keep the longer bytes alive
        untrack(twin)
        return twin

    @property
    def parts(self) -> Mapping[str, msgspec.Raw]:
        """The top-level parts as they came, by wire name."""
        return MappingProxyType(self._split())

    def part(self, wire: str) -> msgspec.Raw | None:
        """One top-level part as it came, None if it did not."""
        return self._split().get(wire)

    def peek(self, wire: str) -> Any:
        """One top-level part as it is now: its value if it was touched, else the JSON that came. Keeps nothing."""
        for name, field in self.lazy_fields.items():
            if field.wire == wire and name in self.__dict__:
                return self.__dict__[name]
        return self._find_parts().get(wire)

    def describe(self) -> str:
        """Kind and key, for messages."""
        return self._described_as(self.kind)

    def _described_as(self, kind: str) -> str:
        return f"{kind} {self.key}" if self.name else f"{kind} without a name"

    def _touch(self, field: LazyField) -> Any:
        """The value of a part that is not decoded yet."""
        parts = self._parts
        if type(parts) is dict:
            return field.read(parts.get(field.wire), self)
        if parts is not None and (part := getattr(parts, field.name)) is not msgspec.UNSET:
            return field.read(part, self)
        try:
            found = field.opener(type(self)).decode(self._raw)
        except UNREADABLE:
            return field.read(self.part(field.wire), self)
        value = getattr(found, field.name)
        setattr(found, field.name, msgspec.UNSET)
        self._parts = found
        return field.zero() if value is None else value

    def _split(self) -> dict[str, msgspec.Raw]:
        parts = self._parts = self._find_parts()
        return parts

    def _find_parts(self) -> dict[str, msgspec.Raw]:
        parts: dict[str, msgspec.Raw] = self._parts
        if type(parts) is dict:
            return parts
        try:
            return parts_decoder.decode(self._raw)
        except UNREADABLE as error:
            raise DecodeError(reason_of(error), object_name=self._described_as(type(self).__name__)) from None

    def _content(self) -> dict[str, Any]:
        """All parts by wire name: raw JSON where nobody changed it, in the order that they came."""
        self._refuse_strangers()
        came = self._split()
        content: dict[str, Any] = dict(came)
        for name, field in self.lazy_fields.items():
            if name in self.__dict__:
                content[field.wire] = field.write(self.__dict__[name], came.get(field.wire), self)
        # What an object is comes first where it did not come, and else stays where it is.
        unsaid = self._unsaid()
        return {wire: value for wire, value in (unsaid | content | unsaid).items() if value is not None}

    def _refuse_strangers(self) -> None:
        # Else a change under a misspelled name would be lost without a word.
        for name in list(self.__dict__):
            if not (name.startswith("_") or hasattr(type(self), name)):
                raise EncodeError(f"it was given {name!r}, but has only {_names(self)}", object_name=self.describe())

    def _unsaid(self) -> dict[str, str]:
        """What the object is, as far as it did not say so itself: items of lists do not."""
        came = self._split()
        return {wire: text for wire, text in self._said.items() if came.get(wire, _NULL) in _EMPTY}

    def _checked(self) -> Self:
        for wire, expected in self._said.items():
            found = tree_of(self.part(wire))
            if found not in (None, "", expected):
                reason = f"expected {expected!r}, got {str(found)[:80]!r}"
                raise DecodeError(reason, object_name=self.describe(), field=wire)
        return self

    # --- Python's own --------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """True if both are sent as the same JSON, but for the order of keys."""
        if not isinstance(other, Object) or type(self) is not type(other):
            return NotImplemented
        if self._raw == other._raw and self._is_untouched() and other._is_untouched():
            return True
        ours, theirs = self._content(), other._content()
        return ours.keys() == theirs.keys() and all(_meaning(ours[wire]) == _meaning(theirs[wire]) for wire in ours)

    if TYPE_CHECKING:
        __hash__ = None  # type: ignore[assignment]  # checkers tell those who try; the others are told why
    else:

        def __hash__(self):
            raise TypeError(f"a {type(self).__name__} can be changed, so it has no hash; use its key or uid")

    def __repr__(self) -> str:
        version = self.resource_version
        return f"<{self.describe()}{f' @{version}' if version else ''}>"

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_wire, (self.to_json(),)

    def _is_untouched(self) -> bool:
        return not self.__dict__


def _meaning(part: Any) -> Any:
    """What is equal where only bytes, the order of keys or the spelling of numbers differ."""
    text = msgspec.json.encode(part)
    try:
        return msgspec.json.decode(text)
    except UNREADABLE:
        return text


def _names(holder: Object) -> str:
    return ", ".join(holder.lazy_fields)
