"""The errors of asynchronous objects that are used like blocking ones."""

from __future__ import annotations

from typing import NoReturn

from listwatch.errors import UsageError

__all__ = ["AsyncOnly", "missing_attribute"]


class AsyncOnly:
    """Is entered with `async with`. The error of `with` says so, and names the blocking class."""

    def __enter__(self) -> NoReturn:
        name = type(self).__name__
        raise UsageError(
            f"{name} is asynchronous: write `async with` instead of `with`; "
            f"in a program without an event loop, use listwatch.blocking.{name}"
        )

    def __exit__(self, *_: object) -> None:
        """Is never called; Python looks for it before it calls `__enter__`."""


def missing_attribute(client: object, name: str) -> AttributeError:
    """Return the error of a client's attribute that does not exist; for `close`, with the way to close it."""
    owner = type(client).__name__
    if name == "close":
        advice = f": call `await client.aclose()`, or write `async with {owner}(...) as client:`"
        return AttributeError(f"{owner!r} object has no attribute 'close'{advice}")
    return AttributeError(f"{owner!r} object has no attribute {name!r}", name=name, obj=client)
