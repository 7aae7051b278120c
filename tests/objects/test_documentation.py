"""What the page about objects shows is so."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "objects.md"


def test_the_examples_of_the_page_run():
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(examples) > 5
    names: dict[str, Any] = {"__name__": "examples"}
    for example in examples:
        exec(compile(example, str(PAGE), "exec", dont_inherit=True), names)
