"""The JSONPaths of printer columns: what they select, and when they fail."""

from typing import Any

import pytest

from listwatch.errors import MalformedError
from listwatch.server.tables.printer_paths import PathError, PrinterPath

TREE: dict[str, Any] = {
    "metadata": {"name": "a", "labels": {"example.com/team": "x"}},
    "spec": {
        "size": 3,
        "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}, {"name": "odd", "port": "x"}],
        "words": ["a", "b", "c", "d"],
        "nothing": None,
        "text": "word",
        "closing": [{"name": "a)b", "value": 1}],
    },
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "weight": 1},
            {"type": "Healthy", "status": "False", "weight": 2, "ok": True},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", []),
        (".spec.size", [3]),
        (".spec.none", []),
        (".spec.none.deeper", []),
        (".spec.size.deeper", []),
        (".spec.nothing", [None]),
        (".spec.nothing.deeper", []),
        (".metadata.labels.example\\.com/team", ["x"]),
        (".metadata.labels['example\\.com/team']", ["x"]),
        (".metadata.labels['example.com/team']", []),
        (".spec['size']", [3]),
        (".spec.words[0]", ["a"]),
        (".spec.words[-1]", ["d"]),
        (".spec.words[1:3]", ["b", "c"]),
        (".spec.words[:2]", ["a", "b"]),
        (".spec.words[2:]", ["c", "d"]),
        (".spec.words[0:4:2]", ["a", "c"]),
        (".spec.words[1:1]", []),
        (".spec.words[*]", ["a", "b", "c", "d"]),
        (".spec.words[0,2]", ["a", "c"]),
        (".spec.words[-3:-1]", ["b", "c"]),
        (".spec.ports[*].name", ["http", "https", "odd"]),
        (".spec.ports[0]['name','port']", ["http", 80]),
        (".spec.nothing[0]", []),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Ready')].status", ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        (".status.conditions[?(@.weight>1)].type", ["Healthy"]),
        (".status.conditions[?(@.weight<=1)].type", ["Ready"]),
        (".status.conditions[?(@.ok)].type", ["Healthy"]),
        (".status.conditions[?(@.ok==true)].type", ["Healthy"]),
        ('.status.conditions[?(@.type=="None")].status', []),
        ('.spec.closing[?(@.name=="a)b")].value', [1]),
        ("..team", []),
        ("..port", [80, 443, "x"]),
        (".metadata.labels.*", ["x"]),
        (".spec.size}{.spec.none", [3]),
        ("$.spec.size", [3]),
    ],
)
def test_a_path_selects_values(path: str, found: list[Any]):
    assert PrinterPath(path).find(TREE) == found


@pytest.mark.parametrize(
    "path",
    [
        ".spec.words[9]",
        ".spec.words[-9]",
        ".spec.words[3:1]",
        ".spec.words[0:9]",
        ".spec.words[0:4:0]",
        ".spec.size[0]",
        ".spec.text[?(@.a)]",
        ".spec.nothing[?(@.a)]",
        ".spec.ports[?(@.port>100)].name",
        ".status.conditions[?(@.ok>true)].type",
        ".status.conditions[?(@.type=1)].type",
        ".spec range",
    ],
)
def test_a_path_that_does_not_fit_the_object_fails(path: str):
    with pytest.raises(PathError):
        PrinterPath(path).find(TREE)


@pytest.mark.parametrize(
    "path", [".spec[", ".spec[x]", ".spec[?(@.a]", ".spec[?(@.a)", ".spec #", ".spec 'a", ".a[?(@.b=='x)]", ".a 1.2.3"]
)
def test_an_invalid_path_is_rejected(path: str):
    with pytest.raises(MalformedError):
        PrinterPath(path)
