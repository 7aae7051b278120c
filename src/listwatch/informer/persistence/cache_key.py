"""What a cache file is a cache of: the source, the kind, and what is done with the objects before they are stored.

A file with another key is never used: a key therefore has everything on which the contents depend.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType
from typing import NamedTuple, Protocol

import msgspec

from listwatch.errors import UsageError
from listwatch.meta import Resource

__all__ = [
    "IdentifiedSource",
    "ResourceNames",
    "cache_key",
    "file_name",
    "identity_of",
    "is_excluded",
    "resource_names",
]

_SIMPLE = (str, int, float, bool, bytes, type(None))


class IdentifiedSource(Protocol):
    """A source whose objects can be kept in a file."""

    def _cache_identity(self) -> Mapping[str, str]:
        """Return everything on which its objects depend: server, resource, namespace, selectors."""


def identity_of(source: object) -> Callable[[], Mapping[str, str]]:
    """Return a function that identifies a source; raises UsageError if the source cannot be identified."""
    identify: Callable[[], Mapping[str, str]] | None = getattr(source, "_cache_identity", None)
    if identify is None:
        raise UsageError(
            f"cache_dir needs a source that can be identified, so that its file is never used for another one; "
            f"{type(source).__name__} cannot: pass a resource client, or leave out cache_dir"
        )
    return identify


def cache_key(
    identity: Mapping[str, str],
    kind: type,
    *,
    compact: bool,
    drop_fields: Sequence[str],
    transform: Callable[..., object] | None,
) -> dict[str, str]:
    """Return the key of a file; raises UsageError for a transform that cannot be identified."""
    return {
        **identity,
        "kind": f"{kind.__module__}.{kind.__qualname__}",
        "compact": str(compact),
        "drop fields": ", ".join(drop_fields),
        "transform": "" if transform is None else _identity_of_function(transform),
    }


def file_name(key: Mapping[str, str]) -> str:
    """Return the name of the file with this key."""
    digest = hashlib.sha256(msgspec.json.encode(dict(sorted(key.items())))).hexdigest()[:16]
    parts = [key.get("resource", "").partition("/")[2].replace("/", "."), key.get("namespace", "")]
    readable = "-".join(filter(None, (re.sub(r"[^a-z0-9.]+", "-", each.lower())[:80] for each in parts)))
    return f"{readable or 'objects'}-{digest}.cache"


class ResourceNames(NamedTuple):
    """The names of a resource, with and without its group."""

    names: frozenset[str]
    are_known: bool
    """False if they follow from the kind, which has another plural in rare cases, or if there are none."""


def resource_names(kind: type, source: object) -> ResourceNames:
    """Return the names of the resource of a source, as far as they are known without a request."""
    names: set[str] = set()
    for found in (getattr(source, "resource", None), getattr(kind, "resource", None)):
        if isinstance(found, Resource):
            names |= {found.plural, str(found.group_resource)}
    are_known = bool(names)
    try:
        text = identity_of(source)().get("resource", "")
    except UsageError:
        text = ""  # it is not known before discovery
    if ", Kind=" in text:
        api_version, _, name = text.partition(", Kind=")
        plurals = _possible_plurals(name.lower())
    else:
        api_version, _, name = text.replace(", Resource=", "/").rpartition("/")
        plurals = [name] if name else []
        are_known = are_known or bool(name)
    group = api_version.rpartition("/")[0]
    names |= {each for plural in plurals for each in (plural, f"{plural}.{group}" if group else plural)}
    return ResourceNames(frozenset(names), are_known)


def _possible_plurals(kind: str) -> list[str]:
    return [kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies"]


def is_excluded(kind: type, names: Collection[str], excluded: Collection[type | str]) -> bool:
    """Return whether objects of a kind, or of a resource with these names, are not written."""
    if isinstance(excluded, str):
        raise UsageError(f"cache_exclude must be a list of kinds or resources, such as [{excluded!r}]")
    return any(each in names if isinstance(each, str) else issubclass(kind, each) for each in excluded)


def _identity_of_function(function: Callable[..., object]) -> str:
    """Return the name of a function and a hash of its code, so that a changed function is another one."""
    own = getattr(function, "cache_identity", None)
    if isinstance(own, str):
        return own
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise UsageError(
            f"the transform {function!r} cannot be identified; set its attribute `cache_identity` to a text that "
            "changes whenever its results change"
        )
    cells = [each.cell_contents for each in getattr(function, "__closure__", None) or ()]
    values = [*cells, *(getattr(function, "__defaults__", None) or ())]
    digest = hashlib.sha256()
    _add_code(digest.update, code)
    for value in values:
        digest.update(_text_of(value).encode())
    return f"{function.__module__}.{getattr(function, '__qualname__', '')} {digest.hexdigest()[:16]}"


def _add_code(add: Callable[[bytes], None], code: CodeType) -> None:
    add(code.co_code)
    add(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(add, constant)
        else:
            add(repr(constant).encode())


def _text_of(value: object) -> str:
    if isinstance(value, _SIMPLE):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_text_of, value))})"
    if callable(value) and hasattr(value, "__code__"):
        return _identity_of_function(value)
    raise UsageError(
        f"a transform that uses a {type(value).__name__} cannot be identified; set its attribute `cache_identity` to a "
        "text that changes whenever its results change"
    )
