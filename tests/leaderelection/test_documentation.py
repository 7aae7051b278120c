"""What the page about leader election and metrics shows is so: its examples run one after the other."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import listwatch as lw
from listwatch.server import APIServer

PAGE = Path(__file__).parents[2] / "docs" / "leader-election.md"


async def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(examples) > 3
    async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
        server.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        names: dict[str, Any] = {"__name__": "examples", "client": client}
        for number, example in enumerate(examples, start=1):
            await run(example, f"{PAGE}, example {number}", names)
        await asyncio.wait([names["election"]])
        for lease in await client.coordination_v1.leases("default").list():
            assert lease.spec.holder_identity == ""


async def run(example: str, where: str, names: dict[str, Any]) -> None:
    code = compile(example, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        await eval(code, names)
    else:
        # In a thread, as programs without an event loop are.
        await asyncio.to_thread(exec, code, names)


def test_every_name_of_the_page_is_there():
    mentioned = set(re.findall(r"\blw\.(\w+)", PAGE.read_text()))
    assert mentioned <= set(lw.__all__)
