"""One kind of the tests, with objects."""

from __future__ import annotations

from typing import Any, NamedTuple

import listwatch as lw


class Example(NamedTuple):
    """Classes of one kind; a body that servers accept, one that they reject, and the reason."""

    classes: tuple[type[lw.CustomResource], ...]
    accepted: dict[str, Any]
    rejected: dict[str, Any] | None = None
    reason: str = ""
