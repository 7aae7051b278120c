"""Takes an object out of the sight of Python's cyclic garbage collector. `object.py` does so with what servers send.

A pass of the collector over a cache of a hundred thousand objects would hold the event loop for a tenth of a second,
again and again, and find nothing: no part of an object refers back to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from gc import get_referents, is_tracked
from typing import Any

__all__ = ["untrack", "untrack_tree"]


def _untracker() -> Callable[[object], object]:
    try:
        from ctypes import py_object, pythonapi
    except ImportError:
        return bool  # another interpreter, whose collector has its own ways
    untrack = pythonapi.PyObject_GC_UnTrack
    untrack.argtypes = (py_object,)
    untrack.restype = None
    return untrack


untrack = _untracker()


def untrack_tree(tree: Any) -> None:
    """The same for the dicts and lists of JSON that was just decoded."""
    # Level by level, because C then does the walking. A dict of nothing but texts and numbers was never in sight.
    level = [tree] if is_tracked(tree) else []
    while level:
        deque(map(untrack, level), maxlen=0)
        level = list(filter(is_tracked, get_referents(*level)))
