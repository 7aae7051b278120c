"""Checks of arguments, which raise UsageError with a hint instead of failing later."""

from __future__ import annotations

from collections.abc import Sequence

from listwatch.errors import UsageError
from listwatch.keyed import Cached, lazily_decoded
from listwatch.meta import Resource

__all__ = ["check_kind", "check_number", "check_source", "namespaced_kind", "resource_of"]


def check_number(value: object, requirement: str) -> None:
    """Reject values that are not numbers, such as a string from a file or the environment."""
    if not isinstance(value, int | float):
        raise UsageError(f"{requirement}, not {value!r}")


def check_kind(kind: object) -> None:
    """Reject a kind whose objects cannot be cached."""
    if not isinstance(kind, type):
        raise UsageError(f"{kind!r} is not a kind; pass a class such as Pod or Unstructured")
    missing = [name for name in ("cache_key", "resource_version") if name not in _attributes_of(kind)]
    if missing:
        raise UsageError(
            f"{kind!r} is not a kind; pass a class such as Pod or Unstructured. A class of your own needs a key and a "
            f"version: it has no {' and no '.join(missing)}; derive it from listwatch.cache.Keyed"
        )


def _attributes_of(kind: type) -> set[str]:
    """The attributes of a class and of its objects, as far as the class declares them."""
    declared = (getattr(each, "__annotations__", {}) for each in kind.__mro__)
    return {*dir(kind), *(name for names in declared for name in names)}


def resource_of(kind: type[Cached]) -> Resource | None:
    """The Kubernetes resource of a kind; None for other classes."""
    resource = getattr(kind, "resource", None)
    return resource if isinstance(resource, Resource) else None


def namespaced_kind(kind: type[Cached], sources: Sequence[object]) -> str:
    """The name of the resource if its objects are known to have namespaces, else an empty string."""
    if lazily_decoded(kind) is None:
        return ""
    known = [resource_of(kind), *(getattr(each, "resource", None) for each in sources)]
    found = next((each for each in known if isinstance(each, Resource)), None)
    return str(found.group_resource) if found is not None and found.namespaced else ""


def check_source(source: object, kind: type[Cached]) -> None:
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
