"""The tutorial, followed from an empty folder: its files are written, and its commands run, in order."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import listwatch as lw
from listwatch.server import APIServer

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
# Without another plugin for async tests.
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:asyncio")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-W", "error", *PLUGINS]
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE)
BLOCKS = [(found["language"], found["title"] or "", found["text"]) for found in BLOCK.finditer(PAGE.read_text())]


def write(folder: Path, title: str, text: str) -> None:
    """Write a file of the tutorial; `(added)` is appended to it, `(changed)` replaces functions and imports of it."""
    name, _, what = title.partition(" ")
    path = folder / name
    if not what:
        path.write_text(text)
    elif what == "(added)":
        path.write_text(f"{path.read_text()}\n\n{text}")
    else:
        assert what == "(changed)"
        path.write_text(changed(path.read_text(), text))


def changed(program: str, changes: str) -> str:
    lines = program.splitlines()
    for change in ast.parse(changes).body:
        [old] = [each for each in ast.parse("\n".join(lines)).body if is_same(each, change)]
        assert old.end_lineno is not None
        lines[old.lineno - 1 : old.end_lineno] = (ast.get_source_segment(changes, change) or "").splitlines()
    return "\n".join([*lines, ""])


def is_same(one: ast.stmt, other: ast.stmt) -> bool:
    if isinstance(one, ast.ImportFrom) and isinstance(other, ast.ImportFrom):
        return one.module == other.module
    names = [getattr(each, "name", None) for each in (one, other)]
    return names[0] is not None and names[0] == names[1]


def generate(folder: Path, text: str) -> None:
    """Run a command of the tutorial whose output is a file."""
    arguments, _, file = text.strip().removeprefix("$ listwatch ").partition(" > ")
    command = [sys.executable, "-m", "listwatch", *arguments.split()]
    (folder / file).write_bytes(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)


def follow(folder: Path) -> list[str]:
    """Follow the tutorial; return the last line of every run of the tests."""
    outcomes = []
    for language, title, text in BLOCKS:
        if title:
            write(folder, title, text)
        elif text.startswith("$ listwatch generate"):
            generate(folder, text)
        elif language == "console" and text.startswith("$ python -m pytest"):
            result = subprocess.run(PYTEST, cwd=folder, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout
            expected = text.splitlines()[-1]
            assert expected in result.stdout
            outcomes.append(expected)
    return outcomes


def test_the_tests_of_the_tutorial_pass_after_each_step(tmp_path: Path):
    assert follow(tmp_path) == ["1 passed", "5 passed", "6 passed", "7 passed"]


async def test_the_program_of_the_tutorial_runs(tmp_path: Path):
    for _, title, text in BLOCKS:
        if title:
            write(tmp_path, title, text)
        elif text.startswith("$ listwatch generate"):
            generate(tmp_path, text)
    main = (tmp_path / "main.py").read_text()
    (tmp_path / "main.py").write_text(main.replace("health_port=8081", "health_port=0"))
    apply, tree, describe = [
        line.split()[2:]
        for _, _, text in BLOCKS
        for line in text.splitlines()
        if re.match(r"\$ listwatch (?!serve|generate)", line)
    ]
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        server.kubeconfig(tmp_path / "kubeconfig")
        assert "webapp.example.com/shop created" in await output(tmp_path, "-m", "listwatch", *apply)
        controller = await start(tmp_path, "main.py")
        webapps = client.dynamic.resource("example.com/v1", "WebApp", namespace="default")
        await lw.wait_for(webapps, "shop", "condition=Ready=False", timeout=60)
        assert "deployment.apps/shop" in await output(tmp_path, "-m", "listwatch", *tree)
        assert "0 of 2 replicas are ready" in await output(tmp_path, "-m", "listwatch", *describe)
        controller.send_signal(signal.SIGTERM)
        printed, _ = await controller.communicate()
        assert controller.returncode == 0, printed.decode()


async def output(folder: Path, *arguments: str) -> str:
    process = await start(folder, *arguments)
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


async def start(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=folder,
        env={**os.environ, "KUBECONFIG": "kubeconfig"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


def test_a_change_of_something_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="not enough values"):
        changed("def one(): ...\n", "def missing(): ...\n")
