"""Packs objects for rest, and opens them again.

A blob is two bytes with the number of its dictionary, and the compressed object; number 0 is an object as it is. In a
store with a file, an entry has an int instead, the place of its blob, and an instance a `FileBlob`, which can be read
as long as the instance exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import RLock, local
from typing import Protocol
from weakref import WeakValueDictionary

from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.zstd import Decompress, ZstdCompressor, ZstdLibrary
from listwatch.errors import DecodeError

__all__ = ["Blob", "BlobFiles", "Codec", "FileBlob", "LoadedDictionary", "number_of", "plain_blob"]

_PLAIN = b"\0\0"
_MIN_SIZE = 200
"""Smaller objects are not compressed."""
_MAX_RATIO = 0.9
"""Objects that do not become smaller than this share of their size are kept as they are."""
_WINDOW = 10_000
"""After so many objects, their ratio is compared with that of the dictionary."""
_WORSE = 1.5
_MAX_SIZE = 2**28
"""The most bytes of a decompressed object of a file, which another program may have written."""
_SAMPLE = b"a dictionary of a file is tried with this"


class FileBlob(Protocol):
    """A blob in a file, which stays readable if the file is replaced."""

    def read(self) -> bytes:
        """Return the blob; raises DecodeError if it is damaged."""


class BlobFiles(Protocol):
    """The files of a store."""

    def locate(self, place: int, /) -> FileBlob:
        """Return the blob at a place."""

    def locate_all(self, places: Iterable[int], /) -> Iterable[FileBlob]:
        """Return the blobs at many places."""


Blob = bytes | int | FileBlob


def plain_blob(raw: bytes) -> bytes:
    """Return a blob that is not compressed."""
    return _PLAIN + raw


def number_of(blob: bytes) -> int:
    """Return the number of the dictionary that opens the blob; 0 for a blob that is not compressed."""
    return blob[0] | blob[1] << 8


class LoadedDictionary:
    """A dictionary in use. Entries and instances refer to that of their blob, so that it is released with the last."""

    __slots__ = ("__weakref__", "dictionary", "handle", "number")

    def __init__(self, number: int, dictionary: Dictionary, handle: object) -> None:
        self.number = number
        self.dictionary = dictionary
        self.handle = handle


class _Tally:
    """Counts in one thread, so that no count is lost."""

    __slots__ = ("opened",)

    def __init__(self) -> None:
        self.opened = 0


class _OfThread(local):
    """The compressors and decompressors of one thread, by the number of their dictionary."""

    def __init__(self, tallies: list[_Tally]) -> None:
        self.compressors: dict[int, ZstdCompressor] = {}
        self.decompressors: dict[int, Decompress] = {}
        self.tally = _Tally()
        tallies.append(self.tally)


class Codec:
    """Packs and opens the objects of one store, in any thread. Without a library, nothing is compressed."""

    def __init__(self, library: ZstdLibrary | None) -> None:
        self.library = library
        self.files: BlobFiles | None = None
        self._tallies: list[_Tally] = []
        self._of_thread = _OfThread(self._tallies)
        self._changing = RLock()
        self._loaded: WeakValueDictionary[int, LoadedDictionary] = WeakValueDictionary()
        # The last ones, with which objects may be packed at this time, or all, if files have blobs of them.
        self._kept: tuple[LoadedDictionary, ...] = ()
        self._current = 0
        self._recent = self._recent_raw = self._recent_packed = 0
        self.has_worsened = False
        """True if objects have changed so much that a new dictionary would be better."""
        self.ratio = 1.0
        """The size of packed objects as a share of their JSON: that of the last ones."""

    # --- dictionaries --------------------------------------------------------------------------------------------

    @property
    def dictionaries(self) -> Mapping[int, Dictionary]:
        """The dictionaries in use, by number."""
        # A list of references is made in one step; another thread may add dictionaries, and release others, meanwhile.
        references = self._loaded.valuerefs()
        found = [*(reference() for reference in references), *self._kept]
        return {each.number: each.dictionary for each in found if each is not None}

    @property
    def current(self) -> int:
        """The number of the dictionary that compresses new objects; 0 before there is one."""
        return self._current

    def add(self, dictionary: Dictionary) -> int:
        """Use a dictionary for new objects; return its number."""
        handle = self._handle(dictionary)
        with self._changing:
            number = next(each for each in _numbers_after(self._current) if each not in self._loaded)
            self._use(LoadedDictionary(number, dictionary, handle))
        return number

    def restore(self, dictionary: Dictionary, number: int) -> bool:
        """Use a dictionary that has a number in a file; False if another dictionary has that number.

        Raises DecodeError if it is no dictionary.
        """
        handle = self._tried_handle(dictionary)
        with self._changing:  # a packer may add another one at the same time
            known = self._loaded.get(number)
            if known is None:
                self._use(LoadedDictionary(number, dictionary, handle))
        return known is None or known.dictionary.content == dictionary.content

    def _handle(self, dictionary: Dictionary) -> object:
        assert self.library is not None
        return self.library.handle(dictionary.content, is_trained=dictionary.is_trained)

    def _tried_handle(self, dictionary: Dictionary) -> object:
        """Return the handle of a dictionary that compresses: libraries use it only then, and fail."""
        library = self.library
        assert library is not None
        try:
            handle = self._handle(dictionary)
            packed = library.compressor(handle, dictionary.level).compress(_SAMPLE)
            library.decompressor(handle)(packed)
        except (library.error, ValueError) as error:
            raise DecodeError(f"its dictionary is damaged: {error}") from None
        return handle

    def _use(self, added: LoadedDictionary) -> None:
        self._loaded[added.number] = added
        self._kept = (*(self._kept if self.files is not None else self._kept[-1:]), added)
        self._current = added.number
        self.has_worsened = False
        self._recent = self._recent_raw = self._recent_packed = 0

    def loaded_for(self, blobs: Sequence[Blob]) -> Sequence[LoadedDictionary | None]:
        """Return the dictionaries of new blobs, to be kept with them."""
        if len(self._kept) <= 1:
            return (self._kept or (None,)) * len(blobs)  # the usual case
        return [self._loaded.get(number_of(blob)) if isinstance(blob, bytes) else None for blob in blobs]

    # --- packing -------------------------------------------------------------------------------------------------

    def pack_all(self, raws: Sequence[bytes]) -> list[bytes]:
        """Return the blobs of these objects. Other threads run while they are compressed."""
        number = self._current
        if not number:
            return [_PLAIN + raw for raw in raws]
        sizes = list(map(len, raws))
        if min(sizes, default=_MIN_SIZE) >= _MIN_SIZE:
            blobs = self._compressor(number).compress_all(raws, number.to_bytes(2, "little"))
        else:
            large = [raw for raw in raws if len(raw) >= _MIN_SIZE]
            found = iter(self._compressor(number).compress_all(large, number.to_bytes(2, "little")))
            blobs = [next(found) if size >= _MIN_SIZE else _PLAIN + raw for raw, size in zip(raws, sizes, strict=True)]
        packed = list(map(len, blobs))
        for position, (size, blob) in enumerate(zip(sizes, packed, strict=True)):
            if blob >= size * _MAX_RATIO:
                blobs[position], packed[position] = _PLAIN + raws[position], size
        self._observe(sum(sizes), sum(packed), len(raws))
        return blobs

    def pack(self, raw: bytes) -> bytes:
        """Return the blob of one object."""
        number = self._current
        if not number or len(raw) < _MIN_SIZE:
            return _PLAIN + raw
        blob = _smaller(number.to_bytes(2, "little"), self._compressor(number).compress(raw), raw)
        self._observe(len(raw), len(blob), 1)
        return blob

    def _compressor(self, number: int) -> ZstdCompressor:
        compressors = self._of_thread.compressors
        if (found := compressors.get(number)) is None:
            assert self.library is not None
            compressors.clear()  # those of earlier dictionaries
            loaded = self._loaded[number]
            found = compressors[number] = self.library.compressor(loaded.handle, loaded.dictionary.level)
        return found

    def _observe(self, raw: int, packed: int, count: int) -> None:
        # Two threads may lose a few objects of these sums, which only serve to compare.
        self._recent += count
        self._recent_raw += raw
        self._recent_packed += packed
        self.ratio = self._recent_packed / max(self._recent_raw, 1)
        if self._recent >= _WINDOW:
            expected = self._kept[-1].dictionary.ratio
            self.has_worsened = self.ratio > max(expected, 0.01) * _WORSE and self.ratio > expected + 0.02
            self._recent = self._recent_raw = self._recent_packed = 0

    # --- opening -------------------------------------------------------------------------------------------------

    @property
    def opened(self) -> int:
        """How many times the bytes of an object were opened."""
        return sum(each.opened for each in self._tallies)

    def open(self, blob: Blob) -> bytes:
        """Return the JSON of an object; raises DecodeError if the blob is damaged."""
        of_thread = self._of_thread
        of_thread.tally.opened += 1
        return self._open(blob, of_thread)

    def reopen(self, blob: Blob) -> bytes:
        """Return the JSON of an object to pack it again, which is not counted."""
        return self._open(blob, self._of_thread)

    def packed(self, blob: Blob) -> bytes:
        """Return the bytes of a blob, also if they are in a file."""
        if isinstance(blob, bytes):
            return blob
        return self.located(blob).read()

    def located(self, blob: int | FileBlob) -> FileBlob:
        """Return the blob at a place of a file."""
        if not isinstance(blob, int):
            return blob
        assert self.files is not None
        return self.files.locate(blob)

    def _open(self, blob: Blob, of_thread: _OfThread) -> bytes:
        is_in_memory = type(blob) is bytes
        packed: bytes = blob if is_in_memory else self.packed(blob)  # type: ignore[assignment]  # bytes
        number = packed[0] | packed[1] << 8
        if not number:
            return packed[2:]
        decompress = of_thread.decompressors.get(number)
        if decompress is None:
            loaded = self._loaded.get(number)
            if self.library is None or loaded is None:
                raise DecodeError("the dictionary of its compressed bytes is missing")
            for other in [each for each in of_thread.decompressors if each not in self._loaded]:
                del of_thread.decompressors[other]
            decompress = of_thread.decompressors[number] = self.library.decompressor(loaded.handle)
        compressed = packed[2:]
        try:
            if not is_in_memory:
                self._check_size(compressed)
            return decompress(compressed)
        except Exception as error:
            if self.library is not None and isinstance(error, self.library.error):
                raise DecodeError(f"its compressed bytes are damaged: {error}") from None
            raise

    def _check_size(self, compressed: bytes) -> None:
        """Raise DecodeError for bytes that may need any amount of memory."""
        assert self.library is not None
        size = self.library.content_size(compressed)
        if not 0 <= size <= _MAX_SIZE:
            raise DecodeError(f"its compressed bytes are damaged: {size} is no size of an object")


def _smaller(header: bytes, compressed: bytes, raw: bytes) -> bytes:
    return header + compressed if len(compressed) < len(raw) * _MAX_RATIO else _PLAIN + raw


def _numbers_after(number: int) -> Iterable[int]:
    yield from range(number + 1, 2**16)
    yield from range(1, number)
