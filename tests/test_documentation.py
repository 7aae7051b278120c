"""The examples of the documentation pages run one after the other on the embedded server."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import listwatch as lw
from listwatch.server import APIServer

DOCS = Path(__file__).parents[1] / "docs"
BEYOND = {"real-servers.md"}  # which needs kube-apiserver and etcd
PAGES = {
    page.relative_to(DOCS).as_posix(): examples
    for page in sorted(DOCS.rglob("*.md"))
    if page.name not in BEYOND
    and (examples := re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE))
}


async def run(example: str, where: str, names: dict[str, Any]) -> None:
    code = compile(example, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        await eval(code, names)
    else:
        # In a thread, as programs without an event loop are.
        await asyncio.to_thread(exec, code, names)


def test_the_pages_are_found():
    assert {"clients.md", "controllers.md", "informers.md", "objects.md", "queues.md", "speed.md"} <= PAGES.keys()
    assert sum(map(len, PAGES.values())) > 45


@pytest.mark.parametrize("page", PAGES)
async def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
        server.kubeconfig(tmp_path / "kubeconfig")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        names: dict[str, Any] = {"__name__": "examples"}
        for number, example in enumerate(PAGES[page], start=1):
            names["client"] = client
            await run(example, f"docs/{page}, example {number}", names)
        if left := [each for each in names.values() if isinstance(each, asyncio.Task)]:
            await asyncio.wait(left)
        for lease in await client.coordination_v1.leases("default").list():
            assert lease.spec.holder_identity == ""


@pytest.mark.parametrize("page", PAGES)
def test_every_name_on_a_page_exists(page: str):
    assert set(re.findall(r"\blw\.(\w+)", (DOCS / page).read_text())) <= set(lw.__all__)
