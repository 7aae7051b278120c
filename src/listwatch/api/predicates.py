"""Looks at the functions of a program that are to say yes or no, before anybody asks them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from listwatch.errors import UsageError

__all__ = ["check_predicate"]


def check_predicate(given: Callable[..., Any], wanted: str) -> None:
    """Refuse what cannot be called, and coroutine functions: nobody waits for their answer, so it would be yes."""
    if not callable(given):
        raise UsageError(f"{given!r} is no {wanted}")
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004  # it is looked at, not asked for
        raise UsageError(f"{given!r} is async, and its answer is not waited for: give a plain function")
