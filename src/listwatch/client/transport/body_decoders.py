"""Decoders of response bodies that arrive in pieces of any size: chunks and gzip."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping

from listwatch.errors import ProtocolError

__all__ = ["ChunkedDecoder", "GzipDecoder", "decoder_for"]

# The line end of a chunk and the size line of the next one are matched together.
_CHUNK_BOUNDARY = re.compile(rb"\r\n([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_PARTIAL_BOUNDARY = re.compile(rb"(\r(\n([0-9a-fA-F]{0,16}[ \t]*(;[^\r\n]{0,4096})?\r?)?)?)?")


class ChunkedDecoder:
    """Decodes a chunked body that arrives in pieces of any size."""

    __slots__ = ("_pending", "_remaining", "is_complete")

    def __init__(self) -> None:
        self._pending = b"\r\n"  # the partial boundary that was received; the first size line follows no chunk
        self._remaining = 0  # bytes that are missing of the current chunk
        self.is_complete = False
        """True after the last chunk, which is empty."""

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Return a copy of the content of this piece. Raises ProtocolError if it is not chunked."""
        if self.is_complete:
            return b""
        data = memoryview(self._pending + piece if self._pending else piece)
        contents = []
        start, end, size = 0, self._remaining, len(data)
        while end < size and (boundary := _CHUNK_BOUNDARY.match(data, end)):
            contents.append(data[start:end])
            start = boundary.end()
            end = start + int(boundary[1], 16)
            if start == end:
                self.is_complete = True
                break
        contents.append(data[start:end])
        self._remaining = max(end - size, 0)
        self._pending = b"" if self.is_complete else bytes(data[end:])
        if self._pending and not _PARTIAL_BOUNDARY.fullmatch(self._pending):
            raise ProtocolError("the response is not valid HTTP (a chunk does not have the size that it states)")
        return b"".join(contents)


class GzipDecoder:
    """Decompresses gzip that arrives in pieces of any size.

    API servers end a gzip member at every flush of a stream, so that one body has many members.
    """

    __slots__ = ("_member",)

    # zlib copies the input that it has not used after each call, so the input is cut into slices: a large piece with
    # many members would take quadratic time.
    _INPUT_SLICE = 2**14
    _OUTPUT_SLICE = 2**18

    def __init__(self) -> None:
        self._member: zlib._Decompress | None = None  # None between two members

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the content that this piece completes, in slices. Raises zlib.error if it is not gzip.

        A slice is decompressed when it is requested, because content may be a thousand times as large as its piece.
        """
        for start in range(0, len(piece), self._INPUT_SLICE):
            rest, has_more = piece[start : start + self._INPUT_SLICE], False
            while rest or has_more:
                member = self._member = self._member or zlib.decompressobj(16 + zlib.MAX_WBITS)
                content = member.decompress(rest, self._OUTPUT_SLICE)
                if member.eof:
                    rest, has_more, self._member = member.unused_data, False, None
                else:
                    rest, has_more = member.unconsumed_tail, len(content) == self._OUTPUT_SLICE
                if content:
                    yield content

    def finish(self) -> None:
        """Check that the body is complete. Raises EOFError if a member is not."""
        if self._member is not None:
            raise EOFError("the gzip stream is truncated")


def decoder_for(headers: Mapping[str, str]) -> GzipDecoder | None:
    match headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return GzipDecoder()
        case encoding:
            raise ProtocolError(f"the response has the Content-Encoding {encoding[:40]!r}, which was not requested")
