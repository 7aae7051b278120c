"""Undoes gzip, piece by piece. API servers end a member at every flush of a stream, so that one answer holds many.

`exchange` feeds it what comes from the network.
"""

from __future__ import annotations

import zlib

__all__ = ["GzipDecoder"]

_GZIP = 16 + zlib.MAX_WBITS


class GzipDecoder:
    """Takes pieces of any number of members, cut anywhere, and gives what can be read of them so far."""

    __slots__ = ("_member",)

    def __init__(self) -> None:
        self._member: zlib._Decompress | None = None  # None between two members

    def feed(self, piece: bytes) -> bytes:
        """What this piece adds, perhaps nothing; zlib.error if it is not gzip."""
        read = []
        while piece:
            member = self._member or zlib.decompressobj(_GZIP)
            read.append(member.decompress(piece))
            piece = member.unused_data
            self._member = None if member.eof else member
        return read[0] if len(read) == 1 else b"".join(read)

    def finish(self) -> None:
        """Say that nothing more will come; EOFError if that is in the middle of a member."""
        if self._member is not None:
            raise EOFError("the gzip stream ends in the middle")
