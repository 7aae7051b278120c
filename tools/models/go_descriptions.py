"""Reads the descriptions of API types from Go modules, in which each package has them as maps of strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.models.definitions import Definition

_MAP = re.compile(r"^var map_(\w+) = map\[string\]string\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r'^\s*"([^"]*)":\s*("(?:[^"\\]|\\.)*"),$', re.MULTILINE)


def go_descriptions(folders: Iterable[Path], definitions: Mapping[str, Definition]) -> dict[tuple[str, str, str], str]:
    """The descriptions by module, class and wire name, of the definitions whose packages are in these folders."""
    modules = {"/".join(each.package.split(".")[-2:]): each.module for each in definitions.values()}
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("types_swagger_doc_generated.go")):
            module = modules.get("/".join(path.parent.parts[-2:]))
            if module:
                for name, entries in _MAP.findall(path.read_text(encoding="utf-8")):
                    for wire, text in _ENTRY.findall(entries):
                        if described := json.loads(text).strip():
                            found[module, name, wire] = described
    return found
