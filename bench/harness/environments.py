"""The virtual environments of the contenders, under `.venv/bench`, from the requirements in `bench/environments/`.

`python -m bench.harness.environments` creates those that are missing or outdated, and reports which cannot be created.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

__all__ = ["command_for", "make_all", "reason_missing", "versions"]

BENCH = Path(__file__).parent.parent
HOME = BENCH.parent / ".venv" / "bench"
GO = "clientgo"
GO_MODULES = (GO, "clientv3")


def command_for(contender: str, module: str) -> list[str]:
    """The command that runs a module for a contender; a contender has the name of its module in `contenders/`."""
    if contender.startswith("client-go"):
        return [str(HOME / GO)]
    if contender in GO_MODULES:
        return [str(HOME / contender)]
    return [str(_python(_environment(contender))), "-m", module, contender.partition(",")[0]]


def reason_missing(contender: str) -> str:
    """Why a contender cannot run on this machine; empty if it can."""
    name = GO if contender.startswith("client-go") else _environment(contender)
    note = HOME / f"{name}.missing"
    return note.read_text() if note.exists() else ""


def make_all() -> None:
    """Create the missing environments, and record which cannot be created."""
    HOME.mkdir(parents=True, exist_ok=True)
    for pinned in sorted(BENCH.glob("environments/*.txt")):
        _make(pinned.stem, pinned.read_text(), lambda pinned=pinned: _install(pinned))
    for module in GO_MODULES:
        sources = "".join(file.read_text() for file in sorted((BENCH / module).iterdir()))
        _make(module, sources, lambda module=module: _build(module))


def versions() -> dict[str, str]:
    """The versions of listwatch and of all contenders."""
    found: dict[str, str] = {}
    for pinned in sorted(BENCH.glob("environments/*.txt")):
        found |= dict(
            line.split("==") for line in pinned.read_text().splitlines() if line.startswith(f"{pinned.stem}==")
        )
    for name, module, path in (
        ("client-go", GO, "k8s.io/client-go"),
        ("clientv3", "clientv3", "go.etcd.io/etcd/client/v3"),
    ):
        found[name] = (BENCH / module / "go.mod").read_text().split(f"{path} ")[1].split()[0]
    return {"listwatch": version("listwatch"), **found}


def _environment(contender: str) -> str:
    """The blocking and asynchronous APIs of one library, and its ways to sync, share one environment."""
    library = contender.partition(",")[0].removesuffix("_blocking")
    return library.removesuffix("_async") if library.startswith("lightkube") else library


def _python(environment: str) -> Path:
    # listwatch is measured from the working copy.
    return Path(sys.executable) if environment == "listwatch" else HOME / environment / "bin" / "python"


def _make(name: str, pinned: str, make: Callable[[], str]) -> None:
    stamp, note = HOME / f"{name}.ready", HOME / f"{name}.missing"
    if stamp.exists() and stamp.read_text() == pinned:
        return
    print(f"  creating the environment of {name}", flush=True)
    note.unlink(missing_ok=True)
    if reason := make():
        note.write_text(reason)
        print(f"  {name} is skipped: {reason}", file=sys.stderr)
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


def _build(module: str) -> str:
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    return _run([go, "build", "-o", str(HOME / module), "."], BENCH / module) if go else "Go is not installed"


def _run(command: list[str], folder: Path | None = None) -> str:
    """Run a command; return the last line of its error output, or an empty string if it succeeded."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return (
        ""
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or [f"exit code {done.returncode} without error output"])[-1]
    )


if __name__ == "__main__":
    make_all()
