"""A successful response, decoded on request."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any, TypeVar, cast

import msgspec

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, media_type
from listwatch.client.config.client_config import ServerWarning
from listwatch.client.config.redaction import without_frames
from listwatch.errors import DecodeError, UsageError
from listwatch.json_value import JSON
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.declarations.model import Model
from listwatch.objects.head import PROTOBUF
from listwatch.objects.json.json_scan import parts_of
from listwatch.objects.json.reading import DECODE_FAILURES, convert, reason_of
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList

__all__ = ["Result", "is_status"]

T = TypeVar("T")
ObjectT = TypeVar("ObjectT", bound=Object)
ListT = TypeVar("ListT", bound=ObjectList[Any])


class _TypeMeta(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""


_type_metas = msgspec.json.Decoder(_TypeMeta)


class Result:
    """A successful response. It is decoded by `into` and `into_list`."""

    __slots__ = ("_content", "_request", "headers", "status_code", "warnings")

    def __init__(self, request: HTTPRequest, response: HTTPResponse, warnings: tuple[ServerWarning, ...] = ()) -> None:
        self._request = request
        self._content = response.content
        self.status_code: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self.warnings = warnings

    @property
    def raw(self) -> bytes:
        """The body, in the format of its Content-Type."""
        if not isinstance(self._content, bytes):
            self._content = b"".join(self._content)
        return self._content

    @property
    def was_created(self) -> bool:
        """Whether the request created the object (status 201)."""
        return self.status_code == 201

    def into(self, kind: type[T]) -> T:
        """Decode the body as a model such as Pod or PodList, as Unstructured, as a nested API type, or as a dict."""
        try:
            return self._into(kind)
        except DecodeError as error:
            problem = without_frames(error)  # they hold the body
        raise problem

    def _into(self, kind: type[T]) -> T:
        if not isinstance(kind, type):
            raise UsageError(f"a response cannot be decoded as {kind!r}; pass a class")
        if issubclass(kind, Object):
            return cast(T, self._object(kind))
        if issubclass(kind, ObjectList):
            return cast(T, self._list(kind))
        if issubclass(kind, Model):
            return cast(T, convert(self._tree(), kind, what=self._what(kind.__name__)))
        if kind is dict:
            return cast(T, self._tree())
        raise UsageError(f"a response cannot be decoded as {kind!r}; pass a model, Unstructured or dict")

    def into_list(self, item: type[ObjectT]) -> ObjectList[ObjectT]:
        """Decode the body as a list of objects of this class."""
        self._check_body("a list")
        try:
            return ObjectList[ObjectT].from_wire(self.raw, item)
        except DecodeError as error:
            problem = self._decode_error("a list", error.message, error.field)
        raise problem  # without frames, which hold the body

    def _decode_list_sliced(
        self, item: type[ObjectT], known: KnownObjects[ObjectT] | None = None
    ) -> Generator[None, None, ObjectList[ObjectT]]:
        """Decode a list in slices, for `run_sliced`, so that a long one does not block the event loop.

        This consumes the body.
        """
        self._check_body("a list")
        content, self._content = self._content, b""
        pieces = [content] if isinstance(content, bytes) else _consume(content)
        return self._with_request(ObjectList[ObjectT].reading(pieces, item, known))

    def _with_request(self, work: Generator[None, None, T]) -> Generator[None, None, T]:
        try:
            return (yield from work)
        except DecodeError as error:
            problem = self._decode_error("a list", error.message, error.field)
        raise problem  # without frames, which hold the body

    def _list(self, kind: type[ListT]) -> ListT:
        self._check_body(kind.__name__)
        try:
            return kind.from_wire(self.raw)
        except DecodeError as error:
            raise self._decode_error(kind.__name__, error.message, error.field) from None

    def _object(self, kind: type[ObjectT]) -> ObjectT:
        self._check_body(kind.__name__)
        if kind.gvk:
            self._check_kind(kind.gvk.api_version, kind.gvk.kind)
        return kind.from_wire(self.raw)

    def _check_kind(self, api_version: str, kind: str) -> None:
        found = self._type_meta(kind)
        if found.kind not in ("", kind) or found.api_version not in ("", api_version):
            raise self._decode_error(
                kind, f"the response is a {found.kind[:80]} of {found.api_version[:80] or 'no version'}"
            )

    def _type_meta(self, kind: str) -> _TypeMeta:
        if self.raw.startswith(PROTOBUF):
            return _protobuf_type_meta(self.raw)
        try:
            return _type_metas.decode(self.raw)
        except DECODE_FAILURES as error:
            try:
                # An object that is nested too deeply raises when that part is accessed.
                parts = {name: part for name, part in parts_of(self.raw).items() if name in ("apiVersion", "kind")}
                return _type_metas.decode(msgspec.json.encode(parts))
            except (DecodeError, *DECODE_FAILURES):
                raise self._decode_error(kind, reason_of(error, self.raw)) from None

    def _tree(self) -> JSON:
        self._check_body("JSON")
        if self.raw.startswith(PROTOBUF):
            return self._protobuf_tree()
        try:
            tree: JSON = msgspec.json.decode(self.raw)
            return tree
        except DECODE_FAILURES as error:
            raise self._decode_error("JSON", reason_of(error, self.raw)) from None

    def _protobuf_tree(self) -> JSON:
        from listwatch.protobuf.envelope import decode_object  # few programs receive protobuf

        try:
            return decode_object(self.raw, max_messages=len(self.raw))  # a list may have very many
        except DecodeError as error:
            raise self._decode_error("JSON", error.message) from None

    def _check_body(self, kind: str) -> None:
        if not self._content:
            raise self._decode_error(kind, f"the response (status {self.status_code}) is empty")

    def _decode_error(self, kind: str, reason: str, field: str = "") -> DecodeError:
        media = media_type(self.headers)
        note = "" if media in ("", "application/json") else f"; its Content-Type is {media[:80]}"
        return DecodeError(reason + note, object_name=self._what(kind), field=field)

    def _what(self, kind: str) -> str:
        return f"{self._request.describe()} as {kind}"

    def __repr__(self) -> str:
        return f"<Result of {self._request.describe()}: {self.status_code}, {_length(self._content)} bytes>"


def is_status(result: Result) -> bool:
    """Whether the response is a Status or empty, instead of an object."""
    if result.raw.startswith(PROTOBUF):
        return _protobuf_type_meta(result.raw).kind == "Status"
    try:
        return not result.raw or _type_metas.decode(result.raw).kind == "Status"
    except DECODE_FAILURES:
        return False  # decoding it as an object raises the error


def _protobuf_type_meta(raw: bytes) -> _TypeMeta:
    from listwatch.objects.protobuf.protobuf_parts import type_in  # few programs receive protobuf

    return _TypeMeta(*type_in(raw))


def _consume(pieces: list[bytes]) -> Iterator[bytes]:
    """Iterate over the pieces without keeping them, because they take as much memory as the decoded objects."""
    remaining = pieces[::-1]
    del pieces  # so that each piece is freed when it was decoded
    while remaining:
        yield remaining.pop()


def _length(content: bytes | list[bytes]) -> int:
    return len(content) if isinstance(content, bytes) else sum(map(len, content))
