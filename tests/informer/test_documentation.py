"""What the page about informers shows is so: its examples run one after the other, on the embedded server."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import listwatch as lw
from listwatch.server import APIServer

PAGE = Path(__file__).parents[2] / "docs" / "informers.md"


async def test_the_examples_of_the_page_run():
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(examples) > 5
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        names: dict[str, Any] = {"__name__": "examples", "client": client}
        for number, example in enumerate(examples, start=1):
            where, flags = f"{PAGE}, example {number}", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            ran = eval(compile(example, where, "exec", flags, dont_inherit=True), names)
            if inspect.iscoroutine(ran):
                await ran


def test_every_name_of_the_page_is_there():
    mentioned = set(re.findall(r"\blw\.(\w+)", PAGE.read_text()))
    assert mentioned <= set(lw.__all__)
