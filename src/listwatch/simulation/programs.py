"""What the program of a simulated container does: for how long it runs, and its exit code. Pure.

    Program(seconds=5.0, exit_code=1)

Commands such as `sleep 5`, `true`, `false` and `sh -c "sleep 5; exit 3"` are understood. No other program ends by
itself.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from listwatch.errors import UsageError
from listwatch.models.core_v1 import Container, Pod

__all__ = ["FOREVER", "Program", "ProgramFunction", "program_of", "run_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Runs for `seconds` of the cluster's clock, then exits with `exit_code`; `output` is its log from the start."""

    seconds: float = math.inf
    exit_code: int = 0
    output: str = ""

    def __post_init__(self) -> None:
        if not self.seconds >= 0:
            raise UsageError(f"seconds={self.seconds}: a program cannot run for less than 0 seconds")
        if not 0 <= self.exit_code <= 255:
            raise UsageError(f"exit_code={self.exit_code}: exit codes are from 0 to 255")


FOREVER = Program()

ProgramFunction = Callable[[Pod, Container], Program | None]
"""Returns what a container of a pod does, or None for the default."""

_SHELLS = ("sh", "bash", "ash")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)([smhd]?)")
_SEPARATOR = re.compile(r"(;|&&|\n)\s*")
_MAX_SCRIPT = 16 * 1024
"""The characters of a script that is understood; the time to split a word grows with the square of its length."""


def program_of(container: Container) -> Program | None:
    """What the command of a container does; None if that is not known, as for the command of an image."""
    if _image_name(container.image or "") == "pause":
        return FOREVER
    return run_command([*container.command, *container.args])


def run_command(command: Sequence[str]) -> Program | None:
    """What a command does; None if it is not one of those that are understood."""
    match [_last_part(each) if place == 0 else each for place, each in enumerate(command)]:
        case ["true" | ":", *_]:
            return Program(seconds=0.0)
        case ["echo", *words]:
            return Program(seconds=0.0, output=" ".join(words[1:]) if words[:1] == ["-n"] else f"{' '.join(words)}\n")
        case ["false", *_]:
            return Program(seconds=0.0, exit_code=1)
        case ["sleep", duration]:
            seconds = _duration(duration)
            return None if seconds is None else Program(seconds=seconds)
        case [shell, "-c", script] if shell in _SHELLS:
            return _run_script(script)
    return None


def _run_script(script: str) -> Program | None:
    """Run simple commands one after the other; other syntax of shells is not understood."""
    if len(script) > _MAX_SCRIPT:
        return None
    parts = _SEPARATOR.split(script.strip())
    total, code, output = 0.0, 0, ""
    for text, separator in zip(parts[::2], ["", *parts[1::2]], strict=True):
        if separator == "&&" and code:
            continue
        match _words(text):
            case None:
                return None
            case []:
                continue
            case ["exit"]:
                return Program(seconds=total, exit_code=code, output=output)
            case ["exit", number] if number.isdecimal():
                return Program(seconds=total, exit_code=int(number) % 256, output=output)
            case words:
                if re.search(r"[`$(){}<>|&]", text) or (found := run_command(words)) is None:
                    return None
                # What follows a program that runs forever is not printed.
                output += "" if math.isinf(total) else found.output
                total, code = total + found.seconds, found.exit_code
    return Program(seconds=total, exit_code=code, output=output)


def _words(text: str) -> list[str] | None:
    """The words of a simple command, without quotes; None if a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _duration(text: str) -> float | None:
    if text in ("infinity", "inf"):
        return math.inf
    found = _DURATION.fullmatch(text)
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


def _image_name(image: str) -> str:
    return _last_part(image.partition("@")[0]).partition(":")[0]
