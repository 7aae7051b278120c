"""What the page about clients shows is so: its examples run one after the other, on the embedded server."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from listwatch.client.client_set import ClientSet
from listwatch.server import APIServer

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"


async def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(examples) > 10
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        server.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        names: dict[str, Any] = {"__name__": "examples"}
        for number, example in enumerate(examples, start=1):
            await run(example, f"{PAGE}, example {number}", names)
            names["client"] = client


async def run(example: str, where: str, names: dict[str, Any]) -> None:
    code = compile(example, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        await eval(code, names)
    else:
        # In a thread, as programs without an event loop are.
        await asyncio.to_thread(exec, code, names)


def test_every_name_of_the_page_is_there():
    import listwatch

    mentioned = set(re.findall(r"\blw\.(\w+)", PAGE.read_text()))
    assert mentioned <= set(listwatch.__all__)
