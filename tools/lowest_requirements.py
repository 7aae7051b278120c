"""Prints `name==version` for the lower bound of each dependency in pyproject.toml; `make test-lowest` installs them.

    python -m tools.lowest_requirements

Covers what listwatch itself needs, its extras for users, and the `test` extra; no test needs the other ones.
Runs before anything is installed, so it uses the standard library only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["lowest_requirements"]

_LEFT_OUT = {"check", "bench", "docs"}
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(\[(?P<extras>[^]]*)])?\s*(?P<versions>[^;]*)")
_LOWER_BOUND = re.compile(r"(?:>=|~=|==)\s*(?P<version>[0-9][0-9A-Za-z.]*)")


def lowest_requirements(project: dict[str, Any]) -> list[str]:
    """The pins for a `[project]` table; ValueError for a dependency without a lower bound, or with two of them."""
    extras = project.get("optional-dependencies", {})
    chosen = [each for name, group in extras.items() if name not in _LEFT_OUT for each in group]
    pins: dict[str, str] = {}
    for name, version in _lower_bounds([*project["dependencies"], *chosen], own_name=project["name"]):
        if pins.setdefault(name, version) != version:
            raise ValueError(f"{name} is declared with two lower bounds, {pins[name]} and {version}: keep one")
    return [f"{name}=={version}" for name, version in sorted(pins.items())]


def _lower_bounds(requirements: Iterable[str], *, own_name: str) -> Iterator[tuple[str, str]]:
    for requirement in requirements:
        parsed = _REQUIREMENT.match(requirement)
        if parsed is None:
            raise ValueError(f"cannot parse the requirement {requirement!r}")
        if parsed["name"] == own_name:
            continue  # an extra that includes other extras, which are here themselves
        bound = _LOWER_BOUND.search(parsed["versions"])
        if bound is None:
            raise ValueError(f"{requirement!r} has no lower bound: declare the lowest version that the tests pass on")
        yield parsed["name"], bound["version"]


def main() -> None:
    with (Path(__file__).parent.parent / "pyproject.toml").open("rb") as file:
        print(*lowest_requirements(tomllib.load(file)["project"]), sep="\n")


if __name__ == "__main__":
    main()
