"""Takes a chunked body apart. `connections` reads streams with it, of which servers send each event as a chunk.

The HTTP library would do it, too, but wakes up, copies and counts for each chunk, where this does so for each read.
"""

from __future__ import annotations

import re

from listwatch.errors import ProtocolError

__all__ = ["ChunkedBody"]

# A chunk ends with a line end, and the next one begins with a line that says how long it is: the two are read as one.
_BETWEEN = re.compile(rb"\r\n([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_UNFINISHED = re.compile(rb"(\r(\n([0-9a-fA-F]{0,16}[ \t]*(;[^\r\n]{0,4096})?\r?)?)?)?")


class ChunkedBody:
    """Takes pieces that may be cut anywhere, gives what is in the chunks that they are of."""

    __slots__ = ("_left", "_pending", "is_complete")

    def __init__(self) -> None:
        self._pending = b"\r\n"  # what came of the lines between two chunks: the first one is not between any
        self._left = 0  # bytes of the chunk that has begun
        self.is_complete = False
        """True after the last chunk, which is an empty one."""

    def feed(self, piece: bytes | memoryview) -> bytes:
        """What this piece holds, as a copy; ProtocolError if it is not chunked."""
        if self.is_complete:
            return b""
        data = memoryview(self._pending + piece if self._pending else piece)
        found = []
        start, end, size = 0, self._left, len(data)
        while end < size and (between := _BETWEEN.match(data, end)):
            found.append(data[start:end])
            start = between.end()
            end = start + int(between[1], 16)
            if start == end:
                self.is_complete = True
                break
        found.append(data[start:end])
        self._left = max(end - size, 0)
        self._pending = b"" if self.is_complete else bytes(data[end:])
        if self._pending and not _UNFINISHED.fullmatch(self._pending):
            raise ProtocolError("what came back is not proper HTTP (a chunk is not as long as it says)")
        return b"".join(found)
