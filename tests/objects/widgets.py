"""A kind that no server has, with every sort of field that the API has, and JSON to make it of."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from msgspec import field

from listwatch.errors import ListWatchError
from listwatch.meta import GroupVersionKind
from listwatch.objects.declarations.model import MicroTime, Model, Quantity, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class Port(Model, kw_only=True):
    name: str | None = None
    number: int = field(default_factory=int, name="containerPort")
    target: int | str | None = None


class Part(Model, kw_only=True):
    name: str = field(default_factory=str)
    image: str | None = None
    ports: list[Port] = field(default_factory=list)
    limits: dict[str, Quantity] = field(default_factory=dict)


class Rule(Model, kw_only=True):
    """Has no fields, so that all values are equal."""

    verbs: list[str] = field(default_factory=required_list)
    resources: list[str] = field(default_factory=list)


class Schema(Model, kw_only=True):
    kind: str | None = None
    minimum: float | None = None
    inside: Schema | None = None
    items: Schema | list[Schema] | None = None


class WidgetSpec(Model, kw_only=True):
    replicas: int | None = None
    parts: list[Part] = field(default_factory=required_list)
    main: Part = field(default_factory=Part)
    spare: Part | None = None
    rules: list[Rule] = field(default_factory=list)
    selector: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, Part] = field(default_factory=dict)
    size: Quantity | None = None
    since: datetime | None = None
    renewed: MicroTime | None = None
    renewals: list[MicroTime] = field(default_factory=list)
    schema: Schema | None = None
    claims: list[Claim] = field(default_factory=list)
    anything: Any = None


class WidgetStatus(Model, kw_only=True):
    ready: int = field(default_factory=int)
    phase: str | None = None


class Claim(Object, gvk=GroupVersionKind("example.com", "v1", "Claim")):
    spec: Part = lazy(Part)


class Widget(Object, gvk=GroupVersionKind("example.com", "v1", "Widget")):
    spec: WidgetSpec = lazy(WidgetSpec)
    status: WidgetStatus = lazy(WidgetStatus)
    data: dict[str, bytes] = lazy(dict[str, bytes])
    note: str | None = lazy(str | None)
    made_at: datetime | None = lazy(datetime | None, wire="madeAt")
    rank: Quantity = lazy(Quantity)


class WidgetList(ObjectList[Widget], item=Widget):
    pass


def widget(**parts: Any) -> bytes:
    """The JSON of a widget, as a server writes it."""
    metadata = {"name": "web", "namespace": "default", "uid": "u-1", "resourceVersion": "7"}
    named = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}
    return compact({**named, **parts})


def failure(act: Callable[..., Any], *args: Any) -> ListWatchError | None:
    """The error of ours that it ends in, if it does. Any other is a failure of the test."""
    try:
        act(*args)
    except ListWatchError as error:
        return error
    return None


def at_once(acts: list[Callable[[], None]]) -> None:
    """Run all functions in threads that switch as often as possible; raise the exception of any of them."""
    interval, barrier = sys.getswitchinterval(), threading.Barrier(len(acts))
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(acts)) as pool:
            running = [pool.submit(lambda act: (barrier.wait(), act()), act) for act in acts]
    finally:
        sys.setswitchinterval(interval)
    for each in running:
        each.result()


def compact(tree: Any) -> bytes:
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(TEXTS, inside, max_size=4),
    max_leaves=12,
)
MAPS = st.dictionaries(TEXTS, JSON, max_size=4)
