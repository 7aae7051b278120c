"""Writes the results into docs/conformance.md, between its marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from conformance.results import FOLDER, Result, Suite, read_suites

__all__ = ["write_report"]

_PAGE = Path(__file__).parent.parent / "docs" / "conformance.md"
_MARKED = "<!-- {name} -->\n{text}\n<!-- end of {name} -->"
PARTS = ("kubernetes", "simulated", "controller-runtime", "kubectl", "workloads")


def write_report(file: Path = _PAGE, folder: Path = FOLDER) -> None:
    """Write the tables of all parts whose results are stored in the folder."""
    page = file.read_text()
    suites = {part: read_suites(part, folder) for part in PARTS}
    page = _replaced(page, "figures", _figures([suite for part in PARTS for suite in suites[part]]))
    for part, found in suites.items():
        page = _replaced(page, part, "\n\n".join(filter(None, map(_details, found))) or "All passed.")
    file.write_text(page)


def _replaced(page: str, name: str, text: str) -> str:
    pattern = f"<!-- {name} -->\n.*?<!-- end of {name} -->"
    new, count = re.subn(pattern, lambda _: _MARKED.format(name=name, text=text), page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has no place for `{name}`")
    return new


def _figures(suites: Sequence[Suite]) -> str:
    rows = [
        f"| {suite.title} | {suite.version} | {suite.on_real_server.get('passed', '')} | {suite.count('passed')} "
        f"| {suite.count('failed')} | {suite.count('not applicable')} |"
        for suite in suites
    ]
    head = (
        "| suite | version | passed on kube-apiserver | passed | failed | not applicable |\n|---|---|--:|--:|--:|--:|"
    )
    return "\n".join([head, *rows])


def _details(suite: Suite) -> str:
    """A table of all that did not pass, grouped by reason."""
    others = [result for result in suite.results if result.outcome != "passed"]
    if not others:
        return ""
    lines = "\n".join(_rows(others))
    return f"**{suite.title}**\n\n| | outcome | reason |\n|---|---|---|\n{lines}"


def _rows(results: Iterable[Result]) -> Iterator[str]:
    def group(result: Result) -> tuple[str, str]:
        return result.outcome, result.reason

    for (outcome, reason), found in groupby(sorted(results, key=group), key=group):
        names = "<br>".join(_cell(result.name) for result in found)
        yield f"| {names} | {outcome} | {_cell(reason)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
