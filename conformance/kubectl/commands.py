"""Reads the kubectl commands of a scenario.

A scenario is a text file: one command per line without `kubectl`, quoted as in a shell; `# …` is the title of what
follows. `# controllers: yes` runs kube-controller-manager and kube-scheduler beside both servers; without it, the real
server has only those controllers that are built into the embedded one. In a scenario with `# program: helm`, a command
is one of helm, unless it begins with `kubectl`.
Directives stand before a command, in brackets:

    [lines=2] get pods -w        end the command after so many lines of output
    [then: COMMAND] get pods -w  run another command after the first line of output
    [last] rollout status …      compare only the last line: the lines before it depend on timing
    [unordered] label --list …   compare the words in any order: kubectl prints a map in a random one
    [fields: REASON] explain …   compare the names and types of fields; the embedded server may have more of them
    [until] explain databases    repeat the command until it succeeds, for what appears with a delay
    [keys: REASON] get --raw …   compare the names of members of a JSON object
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
from typing import Literal

__all__ = ["MANIFESTS", "Command", "Program", "Scenario", "read_scenarios"]

Program = Literal["kubectl", "helm"]

_HERE = Path(__file__).parent
MANIFESTS = _HERE / "manifests"
_WITH_CONTROLLERS = "# controllers: yes"
_OF_HELM = "# program: helm"
_DIRECTIVES = {"lines", "then", "until", "last", "unordered", "fields", "keys", "more", "differs", "unlike", "fails"}
_DIRECTIVE = re.compile(r"\[(?P<name>[a-z]+)(?:[=:]\s*(?P<value>[^\]]*))?\]\s+(?P<rest>.*)")


@dataclass(frozen=True)
class Command:
    """One command of kubectl or helm."""

    section: str
    text: str
    program: Program = "kubectl"
    lines: int = 0
    """The command is ended after so many lines of output; 0 if it ends by itself."""
    then: str = ""
    """The command that is run after the first line of output."""
    until_it_succeeds: bool = False
    last: bool = False
    """Only the last lines of the outputs are compared."""
    unordered: bool = False
    """The order of words is not compared."""
    fields: str = ""
    """Why only the names and types of fields are compared."""
    keys: str = ""
    """Why only the names of the members of a JSON object are compared."""
    more: str = ""
    """Why the embedded server prints more lines."""
    differs: str = ""
    """Why the outputs of the two servers cannot be equal."""
    unlike: str = ""
    """Why the command cannot have the same effect on both servers."""
    fails: str = ""
    """What the embedded server is known to lack."""

    def arguments(self, namespace: str) -> list[str]:
        return _arguments(self.text, namespace)

    def arguments_of_next(self, namespace: str) -> list[str]:
        """Those of the command that is run after the first line of output; empty if there is none."""
        return _arguments(self.then, namespace)


def _arguments(text: str, namespace: str) -> list[str]:
    arguments = shlex.split(text.replace("{namespace}", namespace))
    return ["--namespace", namespace, *arguments] if arguments else []


@dataclass(frozen=True)
class Scenario:
    """Commands that run in order, in a namespace of their own."""

    name: str
    commands: tuple[Command, ...]
    with_controllers: bool = False
    """Whether kube-controller-manager and kube-scheduler run beside the servers."""
    program: Program = "kubectl"
    """The program of most commands."""

    @property
    def namespace(self) -> str:
        return f"scenario-{self.name}"


def read_scenarios(folder: Path = _HERE / "scenarios") -> list[Scenario]:
    """Read all scenarios, in the order of their files."""
    return [_read(path) for path in sorted(folder.glob("*.txt"))]


def _read(path: Path) -> Scenario:
    text = path.read_text()
    name = path.stem.partition("-")[2]
    program: Program = "helm" if _OF_HELM in text else "kubectl"
    return Scenario(name, tuple(_commands(text, program)), with_controllers=_WITH_CONTROLLERS in text, program=program)


def _commands(text: str, program: Program) -> Iterator[Command]:
    section = ""
    for line in text.splitlines():
        if line in (_WITH_CONTROLLERS, _OF_HELM):
            continue
        if line.startswith("# "):
            section = line.removeprefix("# ")
        elif line.strip():
            yield _command(section, line.strip(), program)


def _command(section: str, text: str, program: Program) -> Command:
    directives: dict[str, str] = {}
    while found := _DIRECTIVE.fullmatch(text):
        directives[found["name"]] = found["value"] or "yes"
        text = found["rest"]
    if text.startswith("kubectl "):
        program, text = "kubectl", text.removeprefix("kubectl ")
    if unknown := directives.keys() - _DIRECTIVES:
        raise ValueError(f"unknown directives {sorted(unknown)} before `{text}`")
    return Command(
        section,
        text,
        program,
        lines=int(directives.get("lines", 0)),
        then=directives.get("then", ""),
        until_it_succeeds="until" in directives,
        last="last" in directives,
        unordered="unordered" in directives,
        fields=directives.get("fields", ""),
        keys=directives.get("keys", ""),
        more=directives.get("more", ""),
        differs=directives.get("differs", ""),
        unlike=directives.get("unlike", ""),
        fails=directives.get("fails", ""),
    )
