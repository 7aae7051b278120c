"""The zstd libraries that can be used: `zstandard`, else that of Python 3.14, or its backport.

`zstandard` decompresses small objects several times as fast as the others. Frames of one are read by the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from listwatch.errors import ConfigError

__all__ = ["LONG_MATCHES", "Decompress", "ZstdCompressor", "ZstdLibrary", "find_library"]

LONG_MATCHES = 0
"""Not a level of zstd: as fast as level 1, with matches of seven bytes and more.

Objects that have much in common become as small as with level 3, which takes a third longer.
"""
_WINDOW_LOG, _HASH_LOG, _MIN_MATCH = 18, 14, 7

Decompress = Callable[[bytes], bytes]


class ZstdCompressor(Protocol):
    """Compresses objects one by one, with one dictionary. Used by one thread."""

    def compress(self, raw: bytes) -> bytes: ...
    def compress_all(self, raws: Sequence[bytes], header: bytes = b"") -> list[bytes]:
        """Compress many objects, each after a header; other threads run meanwhile.

        The results are copies: those of some libraries hold more memory than their size.
        """


class ZstdLibrary(Protocol):
    """One of the libraries. A handle is its form of a dictionary; threads may share it."""

    error: type[Exception]

    def train(self, samples: Sequence[bytes], size: int) -> bytes:
        """Return a dictionary; raises `error` if there are too few samples."""

    def handle(self, content: bytes, *, is_trained: bool) -> object: ...
    def compressor(self, handle: object, level: int) -> ZstdCompressor: ...
    def decompressor(self, handle: object) -> Decompress:
        """Return a function for one thread; it raises `error` for invalid input."""

    def content_size(self, packed: bytes) -> int:
        """Return the size that compressed bytes claim to have when they are decompressed; raises `error`.

        It is less than 0 if they do not say. All compressors here write it.
        """


def find_library() -> ZstdLibrary:
    """Return the fastest library that is installed; raises ConfigError if there is none."""
    for library in (_Zstandard, _StandardLibrary):
        try:
            return library()
        except ImportError:
            continue
    raise ConfigError(
        "compact caches need zstd, which is not installed: install listwatch[compact], or use Python 3.14"
    )


class _Zstandard:
    """The package `zstandard`.

    A decompressor that is shared by threads crashes the process, so each thread has its own.
    """

    def __init__(self) -> None:
        import zstandard

        self._module: Any = zstandard
        self.error: type[Exception] = zstandard.ZstdError

    def train(self, samples: Sequence[bytes], size: int) -> bytes:
        content: bytes = self._module.train_dictionary(size, list(samples), level=3).as_bytes()
        return content

    def handle(self, content: bytes, *, is_trained: bool) -> object:
        module = self._module
        kind = module.DICT_TYPE_FULLDICT if is_trained else module.DICT_TYPE_RAWCONTENT
        return module.ZstdCompressionDict(content, dict_type=kind)

    def compressor(self, handle: object, level: int) -> ZstdCompressor:
        module = self._module
        if level == LONG_MATCHES:
            parameters = module.ZstdCompressionParameters(
                strategy=module.STRATEGY_FAST,
                window_log=_WINDOW_LOG,
                hash_log=_HASH_LOG,
                min_match=_MIN_MATCH,
                write_content_size=True,
                write_dict_id=False,
            )
            made = module.ZstdCompressor(dict_data=handle, compression_params=parameters)
        else:
            made = module.ZstdCompressor(level=level, dict_data=handle, write_dict_id=False)
        return _ManyAtOnce(made) if hasattr(made, "multi_compress_to_buffer") else _OneByOne(made.compress)

    def decompressor(self, handle: object) -> Decompress:
        decompress: Decompress = self._module.ZstdDecompressor(dict_data=handle).decompress
        return decompress

    def content_size(self, packed: bytes) -> int:
        size: int = self._module.frame_content_size(packed)
        return size


class _ManyAtOnce:
    """Compresses many objects in one call, which does not hold the interpreter's lock."""

    def __init__(self, compressor: Any) -> None:
        self.compress: Callable[[bytes], bytes] = compressor.compress
        self._compress_all: Callable[[list[bytes]], Any] = compressor.multi_compress_to_buffer

    def compress_all(self, raws: Sequence[bytes], header: bytes = b"") -> list[bytes]:
        if not raws:
            return []
        packed = self._compress_all(list(raws))
        return [header + each for each in packed]


class _OneByOne:
    def __init__(self, compress: Callable[[bytes], bytes]) -> None:
        self.compress = compress

    def compress_all(self, raws: Sequence[bytes], header: bytes = b"") -> list[bytes]:
        compress = self.compress
        return [header + compress(raw) for raw in raws]


class _StandardLibrary:
    """`compression.zstd` of Python 3.14, or the package `backports.zstd`, which has the same interface."""

    def __init__(self) -> None:
        try:
            import compression.zstd as standard

            zstd: Any = standard
        except ImportError:
            import backports.zstd as backport

            zstd = backport
        self._module = zstd
        self.error: type[Exception] = zstd.ZstdError

    def train(self, samples: Sequence[bytes], size: int) -> bytes:
        content: bytes = self._module.train_dict(list(samples), size).dict_content
        return content

    def handle(self, content: bytes, *, is_trained: bool) -> object:
        return self._module.ZstdDict(content, is_raw=not is_trained)

    def compressor(self, handle: object, level: int) -> ZstdCompressor:
        module = self._module
        parameter = module.CompressionParameter
        options = {parameter.compression_level: level, parameter.dict_id_flag: 0}
        if level == LONG_MATCHES:
            options |= {
                parameter.strategy: module.Strategy.fast,
                parameter.window_log: _WINDOW_LOG,
                parameter.hash_log: _HASH_LOG,
                parameter.min_match: _MIN_MATCH,
            }
        compress = module.ZstdCompressor(options=options, zstd_dict=handle).compress
        end = module.ZstdCompressor.FLUSH_FRAME
        return _OneByOne(lambda raw: compress(raw, end))

    def decompressor(self, handle: object) -> Decompress:
        decompress = self._module.decompress
        return lambda packed: decompress(packed, zstd_dict=handle)

    def content_size(self, packed: bytes) -> int:
        size: int | None = self._module.get_frame_info(packed).decompressed_size
        return -1 if size is None else size
