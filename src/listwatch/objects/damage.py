"""Reports objects of which a part cannot be decoded.

Most of an object is decoded on access: in any thread, and long after it was received. An informer observes such
failures, and fetches the objects of its store again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from weakref import WeakMethod

from listwatch.errors import DecodeError

__all__ = ["DamageObserver", "observed_damage", "report_damage"]

DamageObserver = Callable[[object, DecodeError], None]
"""Receives an object and the error of its part, in the thread of the access. It must not raise."""


class _Observers:
    """The observers of this process. Replaced as a whole, so that reading needs no lock."""

    def __init__(self) -> None:
        self.references: tuple[WeakMethod[DamageObserver], ...] = ()
        self._changing = RLock()

    def add(self, reference: WeakMethod[DamageObserver]) -> None:
        with self._changing:
            self.references = (*self.references, reference)

    def remove(self, reference: WeakMethod[DamageObserver]) -> None:
        with self._changing:
            self.references = tuple(each for each in self.references if each is not reference)


_observers = _Observers()


@contextmanager
def observed_damage(observer: DamageObserver) -> Iterator[None]:
    """Call a bound method for each object of which a part cannot be decoded; it is referenced weakly."""
    reference = WeakMethod(observer)
    _observers.add(reference)
    try:
        yield
    finally:
        _observers.remove(reference)


def report_damage(item: object, error: DecodeError) -> DecodeError:
    """Notify the observers; returns the error, to be raised."""
    for reference in _observers.references:
        if (observer := reference()) is not None:
            observer(item, error)
    return error
