"""API objects: the head is decoded on arrival, every other part on first access.

    bytes ──from_wire──▶ Object ──access──▶ decoded parts ──to_json──▶ the received bytes, with changes merged in

The bytes are JSON or protobuf; `protobuf_parts.py` makes JSON of the parts of the latter. `fields.py` has the lazy
fields, `unstructured.py` the object of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import msgspec

from listwatch._exports import did_you_mean
from listwatch.errors import DecodeError, EncodeError, ListWatchError
from listwatch.keyed import KindCheck, LazilyDecoded
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.objects.damage import DamageObserver, observed_damage, report_damage
from listwatch.objects.declarations.model_declaration import is_class_variable
from listwatch.objects.fields import NEW, Accesses, LazyField, LazyParts, MetadataField, lazy, set_head, set_raw
from listwatch.objects.head import PROTOBUF, Head, Labels, cut_managed_fields, read_damaged_head, read_head
from listwatch.objects.json.reading import DECODE_FAILURES, reason_of, tree_of
from listwatch.objects.json.wire import check_document, compact
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.untracked import untrack_at
from listwatch.objects.writing import clone, encode, to_json

__all__ = ["Object", "lazy"]

_new = object.__new__
_NULL = msgspec.Raw(b"null")
_UNCHANGED = frozenset({"_is_stored_by_program", "_kept", "_parts"})  # none of them is a value of a part
_INTERNAL = _UNCHANGED | {"_first_head", "_fields"}
_EMPTY = (_NULL, msgspec.Raw(b'""'))


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class _TypedFields(LazyParts):
    """Lets type checkers derive `__init__` from the lazy fields; they read no fields from the marked class itself."""

    __slots__ = ()


class Object(_TypedFields):
    """An API object, decoded where it is accessed. Caches share objects between readers: `copy()` before a change."""

    # Reading is thread-safe. The bytes and the head never change, and what an access adds is derived from them and
    # stored in a single atomic step. Only the owner of a copy may change it.

    __slots__ = ()

    resource: ClassVar[Resource | None] = None
    gvk: ClassVar[GroupVersionKind | None] = None

    metadata: ObjectMeta = MetadataField(ObjectMeta, "metadata")  # type: ignore[assignment]  # declared as with lazy()

    # A kind that servers send instead of the own one. Those that do not know it send the own one.
    _also_sent_as: ClassVar[GroupVersionKind | None] = None
    _type_fields: ClassVar[Mapping[str, str]] = {}  # apiVersion and kind of this class
    lazy_fields: ClassVar[Mapping[str, LazyField]] = {"metadata": metadata}  # type: ignore[dict-item]  # the attribute is declared as its value

    def __init_subclass__(cls, *, resource: Resource | None = None, gvk: GroupVersionKind | None = None) -> None:
        _check_declaration(cls, gvk)
        cls.resource = resource or cls.resource
        cls.gvk = gvk or (resource.gvk if resource else cls.gvk)
        own = {name: field for name, field in vars(cls).items() if isinstance(field, LazyField)}
        cls.lazy_fields = {**cls.lazy_fields, **own}
        cls._accesses = Accesses()
        cls._decoded_names = _INTERNAL | cls.lazy_fields.keys() if not _has_own_slots(cls) else frozenset()
        cls._type_fields = {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind} if cls.gvk else {}

    def __init__(self, **parts: Any) -> None:
        if unknown := parts.keys() - self.lazy_fields.keys():
            raise TypeError(self._no_field(min(unknown)))
        set_raw(self, NEW)
        set_head(self, Head())
        self.metadata = parts.pop("metadata", None) or ObjectMeta()
        self.__dict__.update(parts)

    if not TYPE_CHECKING:  # type checkers know the attributes

        def __setattr__(self, name, value):
            # Internal state is assigned with the functions of `fields.py`, which are faster.
            if name in self.lazy_fields or name.startswith("_") or _has_setter(type(self), name):
                object.__setattr__(self, name, value)
            else:
                raise AttributeError(_why_not_assignable(self, name))

    def _no_field(self, name: str) -> str:
        hint = did_you_mean(name, self.lazy_fields) or f"; its fields are {', '.join(self.lazy_fields)}"
        return f"{type(self).__name__} has no field {name}{hint}"

    # --- decoding ------------------------------------------------------------------------------------------------

    @classmethod
    def from_wire(cls, raw: bytes) -> Self:
        """Create an object from its bytes, JSON or protobuf, which are kept; only the head is decoded and checked."""
        self = _new(cls)
        set_raw(self, raw)
        try:
            set_head(self, read_head(raw))
        except DECODE_FAILURES:
            set_head(self, _read_other_head(raw, cls.__name__))
        untrack_at(id(self))
        return self

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """Create an object from a JSON document; its apiVersion and kind must be those of this class, or absent."""
        raw = compact(text, cls.__name__)
        self = cls.from_wire(raw)
        check_document(raw, self.describe())
        return self._check_type()

    @classmethod
    def from_dict(cls, tree: Mapping[str, object]) -> Self:
        """Create an object from a dict of wire names, which is copied."""
        if not isinstance(tree, Mapping):
            raise DecodeError(f"expected a mapping, got {type(tree).__name__}", object_name=cls.__name__)
        return cls.from_wire(to_json(tree, what=cls.__name__))._check_type()

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """Create an object from a YAML string with one document."""
        from listwatch.objects.yaml.manifests import read_one

        return cls.from_dict(read_one(text))

    @classmethod
    def all_from_yaml(cls, text: str | bytes) -> list[Self]:
        """Create objects from a YAML string with any number of documents; empty ones are ignored."""
        from listwatch.objects.yaml.manifests import read_all

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
        """The labels, read-only; change `metadata.labels`."""
        head = self._head
        if type(head) is not Head:
            return MappingProxyType(head.labels or {})
        shared: object = head.raw_labels  # a fast path, because selectors read the labels of every object
        return shared.values if type(shared) is Labels else head.labels

    @staticmethod
    def _narrowed_by_label(items: list[Any], key: str, values: Container[str | None], *, wanted: bool) -> list[Any]:
        """Return the objects whose label is one of the values or, if not wanted, none of them; a missing one is None.

        It takes half of the time of reading `labels`, which selectors do for every object of a cache.
        """
        shared: Any
        decodable: Any = Labels  # type checkers believe that the labels are Raw
        no_labels: Mapping[str, str] = {}
        return [
            item
            for item in items
            if (
                (
                    (shared.decoded or shared.values)
                    if type(head := item._head) is Head and type(shared := head.raw_labels) is decodable
                    else head.labels or no_labels
                ).get(key)
                in values
            )
            is wanted
        ]

    @property
    def key(self) -> ObjectKey:
        meta = self._head
        return ObjectKey(meta.namespace, meta.name)

    @property
    def cache_key(self) -> str:
        """`namespace/name`, or `name` for cluster-scoped objects: the key in caches. Empty without a name."""
        head = self._head
        name, namespace = head.name, head.namespace
        return f"{namespace}/{name}" if namespace and name else name

    @property
    def api_version(self) -> str:
        return self.gvk.api_version if self.gvk else ""

    @property
    def kind(self) -> str:
        return self.gvk.kind if self.gvk else type(self).__name__

    # --- encoding ------------------------------------------------------------------------------------------------

    def to_json(self) -> bytes:
        """The object as JSON. Parts that were not changed are the received bytes."""
        if self._is_protobuf():
            return self._protobuf_to_json()
        if self._is_untouched() and not self._missing_type_fields(self._split()):
            return self._raw
        content = self._content()
        return self._raw if content == self._split() else encode(content, what=self.describe())

    def to_protobuf(self) -> bytes:
        """The object as protobuf. EncodeError if it has no such encoding, or fields that protobuf cannot represent.

        Parts that were received as protobuf and not changed are the received bytes.
        """
        from listwatch.objects.protobuf.protobuf_parts import encode_as_protobuf, replace_protobuf_parts

        if not self._is_protobuf():
            return encode_as_protobuf(self.to_json())
        if self._is_untouched():
            return self._raw
        received, content = self._find_parts(), self._content()
        changed = {name: content.get(name) for name in received | content if content.get(name) != received.get(name)}
        if changed.keys() & {"apiVersion", "kind"}:
            return encode_as_protobuf(encode(content, what=self.describe()))
        values = msgspec.json.decode(encode(changed, what=self.describe()))
        return replace_protobuf_parts(self._raw, values)

    def to_dict(self) -> dict[str, Any]:
        """The object as a new dict of wire names, which is a valid manifest."""
        text = self.to_json()
        try:
            tree: dict[str, Any] = msgspec.json.decode(text)
        except DECODE_FAILURES as error:
            failure = DecodeError(reason_of(error, text), object_name=self.describe())
            raise report_damage(self, failure) from None
        return tree

    def to_yaml(self) -> str:
        """The object as a YAML document."""
        from listwatch.objects.yaml.manifests import write

        return write(self.to_dict())

    def copy(self) -> Self:
        """An independent copy."""
        duplicate = type(self).__new__(type(self))
        head = self._head
        set_raw(duplicate, self._received)
        parts = self._parts
        if parts is not None:
            duplicate.__dict__["_parts"] = parts
        # Iterates over a copy: another thread may decode further parts meanwhile.
        for name, value in self.__dict__.copy().items():
            if field := self.lazy_fields.get(name):
                duplicate.__dict__[name] = clone(value, field.type)
        metadata = duplicate.__dict__.get("metadata")
        if metadata is None and type(head) is not Head:  # a cache has just released the parts
            metadata = duplicate.__dict__["metadata"] = clone(head, ObjectMeta)
        set_head(duplicate, head if metadata is None else metadata)
        return duplicate

    def without_managed_fields(self) -> Self:
        """The object without `metadata.managedFields`; the same instance if it has none."""
        if not self._is_untouched():  # it may have changes
            duplicate = self.copy()
            duplicate.metadata.managed_fields = []
            return duplicate if self.metadata.managed_fields else self
        try:
            raw = (_cut_from_protobuf if self._is_protobuf() else cut_managed_fields)(self._raw)
        except (DecodeError, *DECODE_FAILURES):
            return self  # the error is raised when the damaged part is accessed
        if raw is self._raw:
            return self
        duplicate = self.copy()
        set_raw(duplicate, raw)
        duplicate.__dict__.pop("_parts", None)
        if "metadata" in duplicate.__dict__:  # another thread has decoded it meanwhile
            duplicate.metadata.managed_fields = []
        if isinstance(head := self._head, Head):
            head.share_labels()  # a view of the labels would keep the original bytes alive
        untrack_at(id(duplicate))
        return duplicate

    @property
    def parts(self) -> Mapping[str, msgspec.Raw]:
        """The received top-level parts as JSON, by wire name."""
        return MappingProxyType(self._public_parts())

    def peek(self, wire: str) -> object:
        """One top-level part: its value if it was decoded, else the received JSON. Decodes nothing."""
        held = self.__dict__  # read once, because caches release the decoded parts of their objects
        for name, field in self.lazy_fields.items():
            if field.wire == wire and name in held:
                return held[name]
        return self.part(wire) if self._is_protobuf() else self._find_parts().get(wire)

    def describe(self) -> str:
        return self._describe_as(self.kind)

    def _content(self) -> dict[str, object]:
        """All parts by wire name, in the received order. Parts that were not changed are raw JSON."""
        received, held = self._split(), self.__dict__
        content: dict[str, object] = dict(received)
        for name, field in self.lazy_fields.items():
            if name in held:
                content[field.wire] = field.write(held[name], received.get(field.wire), self)
        # apiVersion and kind come first if they were missing, and otherwise keep their position.
        missing: dict[str, object] = dict(self._missing_type_fields(received))
        return {wire: value for wire, value in (missing | content | missing).items() if value is not None}

    def _public_parts(self) -> Mapping[str, msgspec.Raw]:
        parts = self._split()
        if self._is_protobuf():
            from listwatch.objects.protobuf.protobuf_parts import public_parts

            return public_parts(parts)
        return parts

    def _protobuf_to_json(self) -> bytes:
        from listwatch.objects.protobuf.protobuf_parts import without_unknown

        content = dict(self._find_parts()) if self._is_untouched() else self._content()
        for name, part in content.items():
            if type(part) is msgspec.Raw and not len(part):
                self.part(name)  # raises: the part is damaged
        return without_unknown(encode(content, what=self.describe()))

    def _has_unknown_fields(self) -> bool:
        """True if JSON would lose fields: it was received as protobuf, and has fields that the schema does not have."""
        if not self._is_protobuf():
            return False
        from listwatch.objects.protobuf.protobuf_parts import has_unknown

        return has_unknown(self._raw)

    def _missing_type_fields(self, received: Mapping[str, msgspec.Raw]) -> dict[str, str]:
        """apiVersion and kind where they were not received: list items have none."""
        return {wire: text for wire, text in self._type_fields.items() if received.get(wire, _NULL) in _EMPTY}

    def _check_type(self) -> Self:
        for wire, expected in self._type_fields.items():
            found = tree_of(self.part(wire))
            if found not in (None, "", expected):
                reason = f"expected {expected!r}, got {str(found)[:80]!r}"
                raise DecodeError(reason, object_name=self.describe(), field=wire)
        return self

    # --- for caches and informers, see `keyed.LazilyDecoded` -----------------------------------------------------

    @classmethod
    def _expected_kind(cls, resource: Resource | None, on_skipped: Callable[[ListWatchError], None]) -> KindCheck:
        from listwatch.objects.caching.expected_kind import ExpectedKind

        return ExpectedKind(cls, resource, on_skipped)

    @classmethod
    def _dropping(cls, paths: Sequence[str]) -> Callable[[Self], Self]:
        from listwatch.objects.caching.field_cuts import FieldCuts

        return FieldCuts(paths).apply

    @staticmethod
    def _observed_damage(observer: DamageObserver) -> AbstractContextManager[None]:
        return observed_damage(observer)

    @classmethod
    def _counted_accesses(cls) -> Accesses:
        return cls._accesses

    def _with_changes_encoded(self) -> Self:
        """The same instance if it has no changes; a cache that packs bytes cannot keep them otherwise."""
        return self if self._is_untouched() else type(self).from_wire(self.to_json())

    def _field_text(self, path: str) -> str:
        if path == "metadata.name":
            return self.name
        if path == "metadata.namespace":
            return self.namespace
        from listwatch.objects.caching.field_values import field_reader

        kind: Any = type(self)  # type checkers take it for unhashable, because its objects are
        reader = field_reader(kind, path)
        return reader.text(self.peek(reader.part))

    # --- special methods -----------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """True if both encode to the same JSON, apart from the order of keys."""
        if not isinstance(other, Object) or type(self) is not type(other):
            return NotImplemented
        is_same = self._received is other._received or self._raw == other._raw
        if is_same and self._is_untouched() and other._is_untouched():
            return True
        ours, theirs = self._content(), other._content()
        return ours.keys() == theirs.keys() and all(_same_json(ours[wire], theirs[wire]) for wire in ours)

    if TYPE_CHECKING:
        __hash__ = None  # type: ignore[assignment]  # at run time, the error gives the reason
    else:

        def __hash__(self):
            raise TypeError(f"{type(self).__name__} is mutable and not hashable; use its key or uid")

    def __repr__(self) -> str:
        version = self.resource_version
        return f"<{self.describe()}{f' @{version}' if version else ''}>"

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_wire, (self._to_wire(),)

    def _to_wire(self) -> bytes:
        """The object in the format in which it was received, with the fields that the schema does not have."""
        if self._is_protobuf():
            with suppress(EncodeError):
                return self.to_protobuf()
        return self.to_json()

    def _is_untouched(self) -> bool:
        held = self.__dict__
        return not held or held.keys() <= _UNCHANGED


if TYPE_CHECKING:
    _checked: type[LazilyDecoded] = Object


def _read_other_head(raw: bytes, kind: str) -> Head:
    """The head of an object that `read_head` cannot decode."""
    if not raw.startswith(PROTOBUF):
        return read_damaged_head(raw, kind)
    from listwatch.objects.protobuf.protobuf_parts import read_protobuf_head  # few programs receive protobuf

    return read_protobuf_head(raw, kind)


def _cut_from_protobuf(raw: bytes) -> bytes:
    from listwatch.objects.protobuf.protobuf_parts import cut_protobuf_managed_fields

    return cut_protobuf_managed_fields(raw)


def _same_json(one: object, other: object) -> bool:
    """True for JSON that differs only in the order of keys or the spelling of numbers."""
    ours, theirs = msgspec.json.encode(one), msgspec.json.encode(other)
    try:
        return ours == theirs or bool(msgspec.json.decode(ours) == msgspec.json.decode(theirs))
    except DECODE_FAILURES:
        return False  # parts that cannot be decoded are compared as text


def _check_declaration(cls: type[Object], gvk: object) -> None:
    advice = (
        f"declare a kind of your own as `class {cls.__name__}(lw.CustomResource, "
        f'group="example.com", version="v1", kind="{cls.__name__}")`'
    )
    if gvk is not None and not isinstance(gvk, GroupVersionKind):
        raise TypeError(f"class {cls.__name__}: gvk={gvk!r} is not a GroupVersionKind; {advice}")
    for name, hint in vars(cls).get("__annotations__", {}).items():
        is_declared = isinstance(vars(cls).get(name), LazyField) or name.startswith("_") or is_class_variable(hint)
        if not is_declared:
            raise TypeError(f"{cls.__name__}.{name} is an annotation and no field; {advice}")


def _has_own_slots(kind: type[Object]) -> bool:
    return any(each.__dict__.get("__slots__") for each in kind.__mro__ if issubclass(each, Object))


_HEAD = frozenset({"name", "namespace", "uid", "resource_version", "labels"})


def _has_setter(kind: type[Object], name: str) -> bool:
    found = getattr(kind, name, None)
    return found.fset is not None if isinstance(found, property) else hasattr(type(found), "__set__")


def _why_not_assignable(holder: Object, name: str) -> str:
    kind = type(holder)
    if name in _HEAD:
        return f"{kind.__name__}.{name} is read-only; set metadata.{name}"
    if isinstance(getattr(kind, name, None), property):
        return f"{kind.__name__}.{name} is read-only"
    if hasattr(kind, name):
        return f"{kind.__name__}.{name} is not a field; its fields are {', '.join(kind.lazy_fields)}"
    return holder._no_field(name)
