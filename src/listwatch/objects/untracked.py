"""Hides decoded API objects from Python's cyclic garbage collector. `object.py` does so with what servers send.

A collector pass over a cache of a hundred thousand objects would block the event loop for a tenth of a second,
again and again, and find nothing: no part of an object refers back to it.

User code may change that in a dict, so the interpreter must track a dict again when a container is stored in it, as
CPython does up to 3.13. `is_safe` probes this at import. Where it does not hold, both functions do nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from gc import get_referents, is_tracked

__all__ = ["is_safe", "is_supported", "untrack", "untrack_at", "untrack_tree"]


def is_safe(untrack: Callable[[object], object], new_dict: Callable[[], dict[str, object]] = dict) -> bool:
    """True if `untrack` hides a container from the collector, and a dict that is changed afterwards is seen again.

    Probes the ways to store into a dict that the interpreter implements separately: a new key, an existing key,
    `setdefault` and `update`.
    """
    changes: list[Callable[[dict[str, object]], object]] = [
        lambda tree: tree.__setitem__("new", []),
        lambda tree: tree.__setitem__("old", []),
        lambda tree: tree.setdefault("new", []),
        lambda tree: tree.update(new=[]),
    ]
    for change in changes:
        tree = new_dict()
        tree["old"] = []
        untrack(tree)
        if is_tracked(tree):
            return False
        change(tree)
        if not is_tracked(tree):
            return False
    return True


def _untracker() -> Callable[[object], object] | None:
    try:
        from ctypes import py_object, pythonapi

        untrack = pythonapi.PyObject_GC_UnTrack
    except (ImportError, AttributeError):
        return None  # another interpreter, with another collector
    untrack.argtypes = (py_object,)
    untrack.restype = None
    return untrack if is_safe(untrack) else None


def _address_untracker() -> Callable[[int], object]:
    from ctypes import PyDLL, c_void_p

    untrack = PyDLL(None).PyObject_GC_UnTrack
    untrack.argtypes = (c_void_p,)
    untrack.restype = None
    return untrack


_found = _untracker()
is_supported = _found is not None
"""True if objects are hidden from the collector on this interpreter."""
untrack: Callable[[object], object] = _found or bool  # a builtin that does nothing
untrack_at: Callable[[int], object] = _address_untracker() if is_supported else bool
"""Untracks the container with this `id`; a third faster than `untrack`."""


def untrack_tree(tree: object) -> None:
    """Untrack the dicts and lists of JSON that was just decoded."""
    # Level by level, because C then does the walking. A dict of nothing but strings and numbers was never tracked.
    level = [tree] if is_supported and is_tracked(tree) else []
    while level:
        deque(map(untrack, level), maxlen=0)
        level = list(filter(is_tracked, get_referents(*level)))
