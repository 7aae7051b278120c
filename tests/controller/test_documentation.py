"""What the page about controllers shows is so."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from tests.controller.worlds import world

PAGE = Path(__file__).parents[2] / "docs" / "controllers.md"


async def test_the_examples_of_the_page_run():
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(examples) > 5
    async with world() as (_, client):
        names: dict[str, Any] = {"__name__": "examples", "client": client}
        for example in examples:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            ran = eval(compile(example, str(PAGE), "exec", flags, dont_inherit=True), names)
            if inspect.iscoroutine(ran):
                await ran
