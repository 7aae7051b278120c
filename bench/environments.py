"""Where each contender runs: an environment of its own under `.venv/bench`, made of what `environments/` pins.

`python -m bench.environments` makes those that are missing or out of date, and says who cannot be had, with the reason.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

__all__ = ["command_for", "make_all", "reason_missing", "versions"]

HERE = Path(__file__).parent
HOME = HERE.parent / ".venv" / "bench"
GO = "clientgo"


def command_for(contender: str, module: str) -> list[str]:
    """How to run a module for a contender, which is named as its module in `contenders/`."""
    if contender.startswith("client-go"):
        return [str(HOME / GO)]
    return [str(_python(_environment(contender))), "-m", module, contender.removesuffix(", list")]


def reason_missing(contender: str) -> str:
    """Why a contender cannot run here; empty if it can."""
    name = GO if contender.startswith("client-go") else _environment(contender)
    note = HOME / f"{name}.missing"
    return note.read_text() if note.exists() else ""


def make_all() -> None:
    """Make what is missing, and note what cannot be made."""
    HOME.mkdir(parents=True, exist_ok=True)
    for pinned in sorted(HERE.glob("environments/*.txt")):
        _make(pinned.stem, pinned.read_text(), lambda pinned=pinned: _install(pinned))
    _make(GO, "".join(file.read_text() for file in sorted((HERE / GO).iterdir())), _build)


def versions() -> dict[str, str]:
    """Of all that is compared."""
    found: dict[str, str] = {}
    for pinned in sorted(HERE.glob("environments/*.txt")):
        found |= dict(
            line.split("==") for line in pinned.read_text().splitlines() if line.startswith(f"{pinned.stem}==")
        )
    required = (HERE / GO / "go.mod").read_text().split("k8s.io/client-go ")[1]
    return {"listwatch": version("listwatch"), "client-go": required.split()[0], **found}


def _environment(contender: str) -> str:
    """Faces of one library, and ways to use it, share one."""
    library = contender.removesuffix(", list").removesuffix("_blocking")
    return library.removesuffix("_async") if library.startswith("lightkube") else library


def _python(environment: str) -> Path:
    # listwatch is measured as it is in the working copy.
    return Path(sys.executable) if environment == "listwatch" else HOME / environment / "bin" / "python"


def _make(name: str, pinned: str, make: Callable[[], str]) -> None:
    stamp, note = HOME / f"{name}.ready", HOME / f"{name}.missing"
    if stamp.exists() and stamp.read_text() == pinned:
        return
    print(f"  environment of {name}", flush=True)
    note.unlink(missing_ok=True)
    if reason := make():
        note.write_text(reason)
        print(f"  {name} is left out: {reason}", file=sys.stderr)
    else:
        stamp.write_text(pinned)


def _install(pinned: Path) -> str:
    folder = HOME / pinned.stem
    if uv := shutil.which("uv"):
        steps = [[uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)]]
        steps += [[uv, "pip", "install", "--quiet", "--python", str(_python(pinned.stem)), "-r", str(pinned)]]
    else:
        steps = [[sys.executable, "-m", "venv", "--clear", str(folder)]]
        steps += [[str(_python(pinned.stem)), "-m", "pip", "install", "--quiet", "-r", str(pinned)]]
    return next(filter(None, (_run(step) for step in steps)), "")


def _build() -> str:
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    return _run([go, "build", "-o", str(HOME / GO), "."], HERE / GO) if go else "there is no Go here to build it"


def _run(command: list[str], folder: Path | None = None) -> str:
    """Empty, or what went wrong."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed without a word"])[-1]


if __name__ == "__main__":
    make_all()
