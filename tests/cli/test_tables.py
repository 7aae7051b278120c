"""Tables that the server makes, as a scripted server sends them: columns, pages, and the events of a watch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Process, Run

from listwatch.testing.scripted_server import HANG, ScriptedServer, chunk, respond, stream_head

PODS = {
    "resource": "pods",
    "responseKind": {"group": "", "version": "", "kind": "Pod"},
    "scope": "Namespaced",
    "singularResource": "pod",
    "verbs": ["get", "list", "watch"],
}
CORE = {
    "kind": "APIGroupDiscoveryList",
    "items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [PODS]}]}],
}
NO_GROUPS = {"kind": "APIGroupDiscoveryList", "items": []}
COLUMNS = [
    {"name": "Name", "type": "string", "priority": 0},
    {"name": "Restarts", "type": "integer", "priority": 0},
    {"name": "Node", "type": "string", "priority": 1},
]


def table(*names: str, version: str = "5", continue_token: str = "", columns: Any = COLUMNS) -> dict[str, Any]:
    rows = [
        {
            "cells": [name, 0, None],
            "object": {"metadata": {"name": name, "namespace": "default", "resourceVersion": version}},
        }
        for name in names
    ]
    metadata = {"resourceVersion": version, "continue": continue_token}
    return {"kind": "Table", "metadata": metadata, "columnDefinitions": columns, "rows": rows}


def reply(tree: Any) -> bytes:
    return respond(body=json.dumps(tree).encode())


def event(type_: str, tree: Any) -> bytes:
    return chunk(json.dumps({"type": type_, "object": tree}).encode() + b"\n")


@pytest.fixture
async def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(reply(CORE), reply(NO_GROUPS)) as server:
        monkeypatch.setenv("KUBERNETES_MASTER", server.url)
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
        yield server


async def test_the_table_of_the_server_is_printed_in_all_its_pages(scripted: ScriptedServer, run: Run):
    scripted.will(reply(table("a", continue_token="more")), reply(table("b", columns=None)))
    done = await run("get", "pods")
    assert done.rows == [["NAME", "RESTARTS"], ["a", "0"], ["b", "0"]]
    first, second = scripted.requests[-2:]
    assert "as=Table" in first.headers["accept"]
    assert (first.target.partition("?")[2], second.target.partition("?")[2]) == ("limit=500", "limit=500&continue=more")


async def test_columns_of_lower_priority_are_for_wide_tables(scripted: ScriptedServer, run: Run):
    scripted.will(reply(table("a")))
    assert (await run("get", "pods", "-o", "wide")).rows == [["NAME", "RESTARTS", "NODE"], ["a", "0", "<none>"]]


async def test_a_table_that_cannot_be_decoded_is_an_error(scripted: ScriptedServer, run: Run):
    scripted.will(reply({"kind": "Table", "rows": 7}))
    done = await run("get", "pods")
    assert done.code == 1
    assert done.errors.startswith("error: a table: ")


async def test_where_the_server_sends_no_table_names_states_and_ages_are_shown(scripted: ScriptedServer, run: Run):
    items = [
        {"metadata": {"name": "a", "labels": None}, "status": {"phase": "Running"}},
        {"metadata": {"name": "b", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
        {"metadata": {"name": "c"}, "spec": {"replicas": 2}, "status": {"readyReplicas": 1}},
        {"metadata": {"name": "d"}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}},
    ]
    scripted.will(reply({"kind": "PodList", "items": items}))
    assert (await run("get", "pods")).rows == [
        ["NAME", "STATUS", "AGE"],
        ["a", "Running", "<unknown>"],
        ["b", "Terminating", "<unknown>"],
        ["c", "1/2", "ready", "<unknown>"],
        ["d", "NotReady", "<unknown>"],
    ]


async def test_a_watch_prints_the_rows_of_the_server(
    scripted: ScriptedServer, start: Callable[..., Awaitable[Process]]
):
    scripted.will(
        reply(table("a")),
        [
            stream_head(),
            event("ADDED", table("b", version="6", columns=None)),
            event("BOOKMARK", table(version="7", columns=None)),
            event("DELETED", table("a", version="8", columns=None)),
            HANG,
        ],
    )
    process = await start("watch", "pods")
    lines = [(await process.line()).split() for _ in range(4)]
    assert lines == [["EVENT", "NAME", "RESTARTS"], ["ADDED", "a", "0"], ["ADDED", "b", "0"], ["DELETED", "a", "0"]]
