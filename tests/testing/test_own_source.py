"""The source of docs/own-sources.md passes the contract, and is short."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "own-sources.md"
SOURCE, _, CONTRACT, *_ = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)

NAMES: dict[str, Any] = {"__name__": __name__}
exec(compile(SOURCE, "docs/own-sources.md, the source", "exec"), NAMES)
exec(compile(CONTRACT, "docs/own-sources.md, its contract", "exec"), NAMES)
TestNotes = NAMES["TestNotes"]


def test_the_source_has_less_than_sixty_lines():
    assert len(SOURCE.splitlines()) < 60
