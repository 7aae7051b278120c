"""Warnings about new objects that are valid, but probably not what their author wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind
from listwatch.quantity import Quantity
from listwatch.server.json_tree import object_at, text_at

__all__ = ["CREATION_WARNINGS"]


def _quota(quota: JSONObject) -> Iterator[str]:
    """Requests never exceed limits, so a quota for requests that is larger cannot be used up."""
    hard = object_at(quota, "spec", "hard")
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        names = (f"requests.{name}", name) if name in ("cpu", "memory") else (f"requests.{name}",)
        requested, limited = next((each for each in names if each in hard), ""), f"limits.{name}"
        if not requested or limited not in hard:
            continue
        request, limit = (Quantity(text_at(hard, each)) for each in (requested, limited))
        if request > limit:
            yield f"ResourceQuota {requested} ({request}) should be less than {limited} ({limit})"


CREATION_WARNINGS: Mapping[GroupKind, Callable[[JSONObject], Iterator[str]]] = {
    GroupKind("", "ResourceQuota"): _quota,
}
