"""Dictionaries: what the objects of one kind have in common, learned from some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from listwatch.cache.compact.zstd import LONG_MATCHES, ZstdLibrary

__all__ = ["Dictionary", "train"]

_SIZE = 16 * 1024
"""One of 32 KB makes the pods of the bench at most a twentieth smaller, and often larger."""
_MAX_BYTES = 2**20
"""The samples that are used, in bytes. Training takes about 0.1 s; with four times as many, results are as good."""
_HELD_BACK = 5
"""One of so many samples is not used for training, but to compare dictionaries."""
_LEVELS = (1, LONG_MATCHES, 3)
"""From fast to slow."""
_GAIN = 0.97
"""A slower level is used if its result is smaller than this share of that of a faster one."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dictionary, and how well it compresses."""

    content: bytes
    is_trained: bool
    """False if the content is just some samples: there were too few of them to train one."""
    level: int
    ratio: float
    """The compressed size of objects that it was not trained with, as a share of their size."""


def train(library: ZstdLibrary, samples: Sequence[bytes]) -> Dictionary:
    """Return a dictionary for objects like these. It takes about a tenth of a second."""
    samples = samples[:: max(sum(map(len, samples)) // _MAX_BYTES, 1)]
    held_back = samples[::_HELD_BACK]
    learned = [each for number, each in enumerate(samples) if number % _HELD_BACK] or list(samples)
    try:
        return _measured(library, library.train(learned, _SIZE), True, held_back)
    except library.error:  # too few samples, or too short ones
        return _measured(library, b"".join(learned)[-_SIZE:], False, held_back)


def _measured(library: ZstdLibrary, content: bytes, is_trained: bool, samples: Sequence[bytes]) -> Dictionary:  # noqa: FBT001  # private
    handle = library.handle(content, is_trained=is_trained)
    raw = sum(map(len, samples))
    sizes = {level: sum(map(len, library.compressor(handle, level).compress_all(samples))) for level in _LEVELS}
    level = next(level for level in _LEVELS if min(sizes.values()) >= sizes[level] * _GAIN)
    return Dictionary(content, is_trained, level, sizes[level] / max(raw, 1))
