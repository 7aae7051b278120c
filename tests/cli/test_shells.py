"""How the command names itself in what it suggests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from listwatch.cli.shells import program_call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in the current folder, which PATH does not have."""
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    return scripts


def install(folder: Path) -> None:
    (folder / "listwatch").touch(mode=0o755)


def test_the_command_of_an_environment_outside_path_is_named_by_its_path(folder: Path):
    install(folder)
    assert program_call() == ".venv/bin/listwatch"


def test_the_command_in_path_is_named_without_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch):
    install(folder)
    monkeypatch.setenv("PATH", str(folder))
    assert program_call() == "listwatch"


def test_another_command_in_path_is_not_meant(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install(folder)
    install(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_call() == ".venv/bin/listwatch"


def test_without_a_command_the_module_is_run(folder: Path):
    assert program_call() == ".venv/bin/python -m listwatch"
