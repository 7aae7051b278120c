"""The command in shells: how it is called again, and its completion scripts."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

__all__ = [
    "COMPLETE_VARIABLE",
    "PROGRAM",
    "SHELLS",
    "completion_script",
    "detect_shell",
    "install_completion",
    "program_call",
]

PROGRAM = "listwatch"
COMPLETE_VARIABLE = "_LISTWATCH_COMPLETE"
"""Set by the scripts when they call the program for completions."""
SHELLS = ("bash", "zsh", "fish")
_RC_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}
_FISH_FILE = ".config/fish/completions/listwatch.fish"


def program_call() -> str:
    """Return how this program is called from this shell: `listwatch` only if PATH has it."""
    folder = Path(sys.executable).parent
    found = shutil.which(PROGRAM)
    if found is not None and (Path(found).parent == folder or _is_same_file(found, sys.argv[0])):
        return PROGRAM
    if (folder / PROGRAM).is_file():
        return shlex.quote(_shown(folder / PROGRAM))
    return f"{shlex.quote(_shown(Path(sys.executable)))} -m {PROGRAM}"


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _shown(file: Path) -> str:
    """The path from the current folder, if the file is below it."""
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)


def completion_script(shell: str) -> str:
    """Return the script, which calls `listwatch` for each completion."""
    # Imported here: `app.py` imports this module for every command.
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(click.Command(PROGRAM), {}, PROGRAM, COMPLETE_VARIABLE)
    # Not `source()`, which starts bash to read its version.
    return completion.source_template % completion.source_vars() + "\n"


def install_completion(shell: str) -> list[Path]:
    """Write the script below the home directory, and load it when the shell starts; return the changed files."""
    home = Path.home()
    if shell == "fish":
        file = home / _FISH_FILE
        _write(file, completion_script(shell))
        return [file]
    file = home / ".local/share/listwatch" / f"completion.{shell}"
    _write(file, completion_script(shell))
    start = home / _RC_FILES[shell]
    line = f'[ -f "{file}" ] && source "{file}"\n'
    present = start.read_text(encoding="utf-8") if start.exists() else ""
    if line in present:
        return [file]
    with start.open("a", encoding="utf-8") as opened:
        opened.write(("" if not present or present.endswith("\n") else "\n") + line)
    return [file, start]


def detect_shell() -> str:
    """Return the user's shell; click.UsageError if it has no completion."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"$SHELL is {name or 'not set'}; name a shell: --install-completion={'|'.join(SHELLS)}")
    return name


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
