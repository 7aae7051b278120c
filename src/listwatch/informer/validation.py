"""Checks of arguments, which raise UsageError with a hint instead of failing later."""

from __future__ import annotations

from listwatch.errors import UsageError
from listwatch.objects.object import Object

__all__ = ["check_kind", "check_number", "check_source"]


def check_number(value: object, requirement: str) -> None:
    """Reject values that are not numbers, such as a string from a file or the environment."""
    if not isinstance(value, int | float):
        raise UsageError(f"{requirement}, not {value!r}")


def check_kind(kind: object) -> None:
    """Reject a kind that objects cannot be decoded as."""
    if not (isinstance(kind, type) and issubclass(kind, Object)):
        raise UsageError(f"{kind!r} is not a kind; pass a class such as Pod or Unstructured")


def check_source(source: object, kind: type[Object]) -> None:
    """Reject a source without `list` and `watch`, and a resource client of another kind."""
    check_kind(kind)
    if not all(callable(getattr(source, verb, None)) for verb in ("list", "watch")):
        raise UsageError(
            f"{source!r} is not a source: it needs list() and watch(); "
            "pass a resource client such as client.core_v1.pods(), or a ListWatch"
        )
    source_kind = getattr(source, "kind", kind)
    if isinstance(source_kind, type) and not issubclass(source_kind, kind):
        raise UsageError(f"{source!r} is a source of {source_kind.__name__}, not of {kind.__name__}")
