"""The form in which an informer stores objects: without dropped fields, transformed, and packable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

from listwatch.errors import UsageError
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.keyed import Cached, LazilyDecoded, lazily_decoded

__all__ = ["StoredForm", "request_only_kept_fields"]

T = TypeVar("T", bound=Cached)


class StoredForm(Generic[T]):
    """The transform of an informer: drops fields, calls the transform of the program, and makes the result packable.

    An object is packed as bytes, so what a transform has changed in it is encoded again, if the store is packed.
    """

    def __init__(
        self,
        kind: type[T],
        transform: Callable[[T], T] | None = None,
        *,
        drop_fields: Sequence[str] = (),
        packed: bool = False,
    ) -> None:
        self._transform = transform
        self._drop = _dropping(kind, drop_fields) if drop_fields else None
        self._packed = packed and transform is not None
        cuts: tuple[str, ...] = getattr(transform, "drops", ())
        is_cut = bool(cuts) and not hasattr(transform, "__wrapped__")  # a decorator copies the attribute
        self.is_encoded = transform is None or is_cut or self._packed
        """Whether the bytes of a stored object have all changes that the transform has made."""
        self.dropped_fields = (*drop_fields, *cuts)
        """The paths of the fields that are not stored."""
        self.function: Callable[[T], T] | None = self if self._drop is not None or self._packed else transform
        """What is applied to each object; None if it is stored as it is received."""

    def __call__(self, item: T) -> T:
        if self._drop is not None:
            item = self._drop(item)
        if self._transform is not None:
            item = self._transform(item)
        return cast("T", cast("LazilyDecoded", item)._with_changes_encoded()) if self._packed else item


def _dropping(kind: type[T], paths: Sequence[str]) -> Callable[[T], T]:
    lazy = lazily_decoded(kind)
    if lazy is None:
        raise UsageError(
            f"drop_fields needs objects of a Kubernetes API; for objects of {kind.__name__}, pass a transform"
        )
    return cast("Callable[[T], T]", lazy._dropping(paths))


def request_only_kept_fields(source: ListerWatcher[T], form: StoredForm[T]) -> ListerWatcher[T]:
    """Return a source that does not request what is dropped, if it can; otherwise the same source."""
    without: Callable[[Sequence[str]], ListerWatcher[T]] | None = getattr(source, "_without_fields", None)
    return without(form.dropped_fields) if form.dropped_fields and without is not None else source
