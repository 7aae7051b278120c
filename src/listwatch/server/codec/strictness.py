"""What a strict reader complains about: fields that nobody knows, and fields that are given twice.

The readers of `typed_readers` collect it; by the request's fieldValidation it is then an error, a warning, or nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

from listwatch.server.codec.bodies import Repeating
from listwatch.server.json_tree import Tree, quoted

__all__ = ["Path", "Problems", "steps"]

Path = tuple[Any, str, str | int] | None
"""A chain of (parent, struct, name); the struct is empty for what lies in a list or map."""

_MAX_PROBLEMS = 100


class Problems(list[str]):
    """Complaints in the order of the document, each once, and a hundred at most."""

    def unknown(self, path: Path, name: str) -> None:
        self._add("unknown", path, name)

    def unknown_all(self, paths: Iterable[Path]) -> None:
        """Several at once, in the order of their names."""
        for path in sorted(filter(None, paths), key=_text_of):
            self.unknown(path[0], str(path[2]))

    def members(self, value: Repeating, known: Container[str], path: Path) -> Iterator[tuple[str, Tree]]:
        """All members as they came; whoever of the known ones comes again is complained about."""
        seen: set[str] = set()
        for name, item in value.pairs:
            if name in seen and name in known:
                self._add("duplicate", path, name)
            seen.add(name)
            yield name, item

    def repeats(self, value: Tree, path: Path = None) -> None:
        """Everything that is given twice, at any depth."""
        inside: Iterable[tuple[str | int, Tree]] = ()
        if isinstance(value, Repeating):
            inside = self.members(value, value, path)
        elif isinstance(value, dict):
            inside = value.items()
        elif isinstance(value, list):
            inside = enumerate(value)
        for name, item in inside:
            if isinstance(item, dict | list):
                self.repeats(item, (path, "", name))

    def message(self) -> str:
        return f"strict decoding error: {', '.join(self)}"

    def warnings(self) -> tuple[str, ...]:
        """Each as a text of one line; what YAML complains about comes in several."""
        lines = (line.strip() for problem in self for line in problem.splitlines())
        return tuple(line for line in lines if line and not line.startswith("yaml: "))

    def _add(self, what: str, path: Path, name: str) -> None:
        problem = f"{what} field {quoted(_text_of((path, '', name)))}"
        if len(self) < _MAX_PROBLEMS and problem not in self:
            self.append(problem)


def _text_of(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for _, step in steps(path))
    return text.removeprefix(".")


def steps(path: Path) -> Iterator[tuple[str, str | int]]:
    """The structs and names from the root down."""
    if path is not None:
        parent, struct, name = path
        yield from steps(parent)
        yield struct, name
