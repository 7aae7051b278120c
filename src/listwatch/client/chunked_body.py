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

    def feed(self, piece: bytes) -> bytes:
        """What this piece holds; ProtocolError if it is not chunked."""
        data = self._pending + piece if self._pending else piece
        found: list[bytes] = []
        start = 0
        while not self.is_complete:
            if self._left:
                part = data[start : start + self._left]
                found.append(part)
                start += len(part)
                self._left -= len(part)
                if self._left:
                    break
            between = _BETWEEN.match(data, start)
            if between is None:
                break
            start = between.end()
            self._left = int(between[1], 16)
            self.is_complete = not self._left
        self._pending = data[start:]
        if self._pending and not (self.is_complete or _UNFINISHED.fullmatch(self._pending)):
            raise ProtocolError("what came back is not proper HTTP (a chunk is not as long as it says)")
        return found[0] if len(found) == 1 else b"".join(found)
