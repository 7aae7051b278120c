"""Searches large pieces of bytes for a text that they rarely contain."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["contains"]


def _search() -> Callable[[bytes, bytes], bool]:
    # `strstr` of glibc takes a twentieth of the time of `bytes.find`. Calling it costs about a microsecond.
    try:
        from ctypes import PyDLL, c_char_p, c_void_p

        strstr = PyDLL(None).strstr
    except (ImportError, AttributeError, OSError, TypeError):
        return bytes.__contains__  # another interpreter or operating system
    strstr.argtypes = (c_char_p, c_char_p)
    strstr.restype = c_void_p

    def search(text: bytes, wanted: bytes) -> bool:
        # It ends at the first NUL, which no JSON contains.
        return strstr(text, wanted) is not None or (b"\0" in text and wanted in text)

    return search


contains: Callable[[bytes, bytes], bool] = _search()
"""True if the first argument contains the second one, which contains no NUL."""
