"""Reads the kubectl commands of a scenario.

A scenario is a text file: one command per line without `kubectl`, quoted as in a shell; `# …` is the title of what
follows. `# controllers: yes` runs kube-controller-manager and kube-scheduler beside the servers.
Directives stand before a command, in brackets:

    [lines=2] get pods -w        end the command after so many lines of output
    [until] explain databases    repeat the command until it succeeds, for what appears with a delay
    [more: REASON] api-versions  the embedded server may print more lines than the real one
    [differs: REASON] top pods   the outputs are not compared, only whether the command succeeds or fails
    [unlike: REASON] get pods    nothing is compared
    [fails: REASON] logs web-0   the outputs are known to differ, and count as failed
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MANIFESTS", "Command", "Scenario", "read_scenarios"]

_HERE = Path(__file__).parent
MANIFESTS = _HERE / "manifests"
_WITH_CONTROLLERS = "# controllers: yes"
_DIRECTIVE = re.compile(r"\[(?P<name>[a-z]+)(?:[=:]\s*(?P<value>[^\]]*))?\]\s+(?P<rest>.*)")


@dataclass(frozen=True)
class Command:
    """One kubectl command."""

    section: str
    text: str
    lines: int = 0
    """The command is ended after so many lines of output; 0 if it ends by itself."""
    until_it_succeeds: bool = False
    more: str = ""
    """Why the embedded server prints more lines."""
    differs: str = ""
    """Why the outputs of the two servers cannot be equal."""
    unlike: str = ""
    """Why the command cannot have the same effect on both servers."""
    fails: str = ""
    """What the embedded server is known to lack."""

    def arguments(self, namespace: str) -> list[str]:
        return shlex.split(self.text.replace("{namespace}", namespace))


@dataclass(frozen=True)
class Scenario:
    """Commands that run in order, in a namespace of their own."""

    name: str
    commands: tuple[Command, ...]
    with_controllers: bool = False
    """Whether kube-controller-manager and kube-scheduler run beside the servers."""

    @property
    def namespace(self) -> str:
        return f"scenario-{self.name}"


def read_scenarios(folder: Path = _HERE / "scenarios") -> list[Scenario]:
    """Read all scenarios, in the order of their files."""
    return [_read(path) for path in sorted(folder.glob("*.txt"))]


def _read(path: Path) -> Scenario:
    text = path.read_text()
    name = path.stem.partition("-")[2]
    return Scenario(name, tuple(_commands(text)), with_controllers=_WITH_CONTROLLERS in text)


def _commands(text: str) -> Iterator[Command]:
    section = ""
    for line in text.splitlines():
        if line == _WITH_CONTROLLERS:
            continue
        if line.startswith("# "):
            section = line.removeprefix("# ")
        elif line.strip():
            yield _command(section, line.strip())


def _command(section: str, text: str) -> Command:
    directives: dict[str, str] = {}
    while found := _DIRECTIVE.fullmatch(text):
        directives[found["name"]] = found["value"] or "yes"
        text = found["rest"]
    if unknown := directives.keys() - {"lines", "until", "more", "differs", "unlike", "fails"}:
        raise ValueError(f"unknown directives {sorted(unknown)} before `{text}`")
    return Command(
        section,
        text,
        lines=int(directives.get("lines", 0)),
        until_it_succeeds="until" in directives,
        more=directives.get("more", ""),
        differs=directives.get("differs", ""),
        unlike=directives.get("unlike", ""),
        fails=directives.get("fails", ""),
    )
