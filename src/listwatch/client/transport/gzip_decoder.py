"""Decompresses response bodies that arrive in pieces of any size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from listwatch.errors import ProtocolError

__all__ = ["GzipDecoder", "decoder_for"]


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
