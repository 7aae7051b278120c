"""Builds a Go program and shows its progress."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_LINES_SHOWN = 20


class GoBuildError(Exception):
    """A program could not be built; the message has the reason."""


def build(package: str, output: Path, *, module: Path, linker_flags: str = "", tests: bool = False, title: str) -> None:
    """Build a package, or its tests, into the file `output`, with the versions of the go.mod file in `module`."""
    if not (go := shutil.which("go")):
        raise GoBuildError(f"{title} cannot be built: no `go` command on PATH")
    options = ["-v", "-trimpath", "-buildvcs=false", f"-ldflags=-s -w {linker_flags}"]
    # vet would check all packages that the tests import.
    action = ["test", "-c", "-vet=off"] if tests else ["build"]
    command = [go, *action, *options, "-o", str(output), package]
    progress = Progress(title)
    process = subprocess.Popen(
        command, cwd=module, env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        reader = threading.Thread(target=progress.read, args=[process.stderr], daemon=True)
        reader.start()
        try:
            _wait(process, progress)
        except BaseException:
            process.kill()
            raise
        reader.join()
    if process.returncode:
        raise GoBuildError(f"{title} cannot be built: go build failed:\n{progress.last_lines}")
    progress.finish()


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}


def _wait(process: subprocess.Popen[str], progress: "Progress") -> None:
    while True:
        try:
            process.wait(progress.interval)
        except subprocess.TimeoutExpired:
            progress.show()
        else:
            return


@dataclass
class Progress:
    """Counts the output lines of `go build`; shown in one line of a terminal, or in a new line every 20 seconds."""

    title: str
    began: float = field(default_factory=time.monotonic)
    downloaded: int = 0
    compiled: int = 0
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES_SHOWN))

    @property
    def interval(self) -> float:
        return 1.0 if sys.stdout.isatty() else 20.0

    @property
    def last_lines(self) -> str:
        return "\n".join(f"  {line}" for line in self._lines)

    def read(self, lines: IO[str]) -> None:
        for line in lines:
            self._lines.append(line.rstrip())
            if line.startswith("go: downloading"):
                self.downloaded += 1
            else:
                self.compiled += 1

    def show(self, end: str = "") -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        state = f"{minutes}:{seconds:02}, {self.downloaded} modules downloaded, {self.compiled} packages compiled"
        line = f"  building {self.title}: {state}{end}"
        print(f"\r{line}" if sys.stdout.isatty() else line, end="" if sys.stdout.isatty() else "\n", flush=True)

    def finish(self) -> None:
        self.show(", done")
        if sys.stdout.isatty():
            print()
