"""What several clients that sync at once cost a real kube-apiserver: CPU time, and memory at the peak.

The clients read the responses and do not decode them. The server is restarted before each way, because the memory of a
Go program depends on what it did before.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from bench.harness.measurements import ServerCost
from bench.harness.runner import Comparison, Figures, Row
from bench.report.report import Report
from bench.report.tables import Column, number

__all__ = ["measure_load"]

CLIENTS = 10
_JSON, _PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
_PAGE = "500"
_STREAM = {
    "watch": "true",
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}
_WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "JSON, stream": (_JSON, _STREAM),
    "JSON, list": (_JSON, {"resourceVersion": "0"}),
    "JSON, pages": (_JSON, {"limit": _PAGE}),
    "protobuf, stream": (f"{_PROTOBUF};stream=watch", _STREAM),
    "protobuf, list": (_PROTOBUF, {"resourceVersion": "0"}),
    "protobuf, pages": (_PROTOBUF, {"limit": _PAGE}),
}
_END = b"k8s.io/initial-events-end"


def measure_load(report: Report, server: Any, count: int) -> None:
    """Let the clients sync in each way, and add a table to the report."""
    rows = {name: Row(_measure(server, accept, query)) for name, (accept, query) in _WAYS.items()}
    report.comparisons[f"load-{count}"] = Comparison(rows=rows)
    columns: list[Column] = [
        number("seconds", "took", ".1f"),
        number("MB sent", "sent", factor=1e-6),
        number("µs CPU of the server, per pod", "server_cpu", factor=1e6 / count / CLIENTS),
        number("server MB grown", "server_grown", factor=1e-6),
    ]
    report.table("", columns, rows, f"{CLIENTS} clients that read {count:,} pods at once, uncompressed")


def _measure(server: Any, accept: str, query: dict[str, str]) -> Figures:
    server.kill_api_server()
    server.start_api_server()
    asyncio.run(_read_all(server.config, _JSON, {"limit": "1", "resourceVersion": "0"}, clients=1))  # fills its cache
    time.sleep(2)  # after the start, it is busy for a while
    cost, started = ServerCost(server.pid), time.perf_counter()
    sent = asyncio.run(_read_all(server.config, accept, query, clients=CLIENTS))
    return {"took": time.perf_counter() - started, "sent": sent, **cost.figures()}


async def _read_all(config: Any, accept: str, query: dict[str, str], *, clients: int) -> float:
    return sum(await asyncio.gather(*(_read(config, accept, query) for _ in range(clients))))


async def _read(config: Any, accept: str, query: dict[str, str]) -> float:
    """Read everything once; return the number of bytes."""
    import aiohttp

    headers = {"Authorization": f"Bearer {config.token}", "Accept": accept, "Accept-Encoding": "identity"}
    size, token = 0, ""
    async with aiohttp.ClientSession(headers=headers) as session:
        while True:
            more = {"continue": token} if token else {}
            async with session.get(f"{config.host}/api/v1/pods", params=query | more, ssl=False) as response:
                response.raise_for_status()
                first = last = b""
                async for data in response.content.iter_any():
                    size += len(data)
                    first = first if len(first) > 2_000 else first + data
                    last = (last + data)[-2_000:]
                    if "watch" in query and _END in last:
                        return size
            token = _continue_token(first) if query.get("limit") == _PAGE else ""
            if not token:
                return size


def _continue_token(start: bytes) -> str:
    """The token of the next page, from the metadata at the start of the body, JSON or protobuf; empty at the end."""
    found = re.search(rb'"continue":"([^"]+)"|\x1a.{1,2}(eyJ[\w=-]+)', start[:2_000], re.DOTALL)
    return (found[1] or found[2]).decode() if found else ""
