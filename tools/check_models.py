"""Compares the committed models with an API server: `python -m tools.check_models URL`.

Models are generated from the server's schemas and compared fact by fact: each kind, each field with its type, list type
and merge key, each resource with its names and verbs. Differences that are normal between versions are counted, and
listed with `--each`: kinds and fields that only one side has, required fields, defaults and enumerations. Any other
difference is an error.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.generate_models import PACKAGE, generate
from tools.models.source import Source, read_source

Facts = dict[str, str]
"""Facts by name: `type core.v1.Pod.spec`, `python core_v1.Pod.spec`, `resource apps/v1 pods kind`."""

BY_VERSION = "limits"
"""Facts that may differ between versions: required fields, defaults and enumerations."""
CHANGED = {
    "type core.v1.PodStatus.nodeAllocatableResourceClaimStatuses": "alpha; atomic in 1.36, a map in 1.37",
}
"""Known changes between versions, and why they are not errors."""


class Comparison(NamedTuple):
    """Where two sets of facts differ."""

    only_models: list[str]
    only_server: list[str]
    contradictions: dict[str, tuple[str, str]]


def committed_facts(package: Path = PACKAGE) -> Facts:
    """The facts of the models in the package."""
    names = [*package.glob("models/*_v*.py"), package / "models/table.py", package / "server/schema/schema_data.py"]
    return facts({str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in names})


def server_facts(source: Source) -> Facts:
    """The facts of models generated from the server."""
    return facts(dict(generate(source)))


def facts(files: Mapping[str, str]) -> Facts:
    """The facts of generated files, which are given by their paths in the package."""
    found: Facts = {}
    for path, text in files.items():
        if path == "models/table.py":
            found |= dict(_resources(json.loads(_constant(text, "RESOURCES"))))
        elif path == "server/schema/schema_data.py":
            found |= dict(_types(json.loads(_constant(text, "DATA"))))
        elif path.startswith("models/") and path.endswith(".py"):
            found |= dict(_classes(Path(path).stem, ast.parse(text)))
    return found


def compare(models: Facts, server: Facts) -> Comparison:
    return Comparison(
        sorted(models.keys() - server.keys()),
        sorted(server.keys() - models.keys()),
        {name: (models[name], server[name]) for name in sorted(models.keys() & server) if models[name] != server[name]},
    )


# --- Facts of generated files -----------------------------------------------------------------------------------------


def _constant(text: str, name: str) -> str:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            value: str = ast.literal_eval(node.value)
            return value
    raise ValueError(f"{name} is not in the generated text")


def _resources(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        api_version = f"{row['group']}/{row['version']}".lstrip("/")
        for name in row.keys() - {"group", "version", "plural"}:
            yield f"resource {api_version} {row['plural']} {name}", json.dumps(row[name], sort_keys=True)


def _types(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for package, content in data["packages"].items():
        for name, row in content["types"].items():
            yield f"{BY_VERSION} {package}.{name}", json.dumps(row.get("v"))
            yield (
                f"type {package}.{name}",
                json.dumps({key: row[key] for key in row.keys() - {"f", "v"}}, sort_keys=True),
            )
            for field, description in row.get("f", {}).items():
                stated = {"t": description} if isinstance(description, str) else dict(description)
                shape = stated.pop("t")
                limits = {key: stated.pop(key) for key in ("d", "e") if key in stated}
                marks = shape[len(shape.rstrip("!=")) :]
                yield f"{BY_VERSION} {package}.{name}.{field}", json.dumps([marks, limits], sort_keys=True)
                yield f"type {package}.{name}.{field}", json.dumps([shape.rstrip("!="), stated], sort_keys=True)


def _classes(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.AnnAssign):
                    kind = ast.unparse(line.annotation).removesuffix(" | None")  # optional fields may differ by version
                    yield f"python {module}.{node.name}.{ast.unparse(line.target)}", kind


# --- Report -----------------------------------------------------------------------------------------------------------


def report(source: Source, comparison: Comparison, count: int, *, each: bool = False) -> bool:
    """Print errors and the number of other differences, or `each` of them; return whether there are no errors."""
    print(f"{count:,} facts of the models compared with Kubernetes {source.version}")
    for title, names in (
        ("only in the models", comparison.only_models),
        ("only on the server", comparison.only_server),
    ):
        kinds = ", ".join(f"{number} × {kind}" for kind, number in sorted(Counter(map(_kind, names)).items()))
        print(f"  {title}: {len(names):,} ({kinds})" if names else f"  {title}: nothing")
        for name in names:
            if each and _kind(name) not in ("python", BY_VERSION):  # these repeat facts of the type
                print(f"    {name}")
    found = comparison.contradictions
    errors = [name for name in found if _kind(name) != BY_VERSION and name not in CHANGED]
    print(f"  differences in required fields, defaults and enumerations: {len(found) - len(errors):,}")
    for name in found if each else errors:
        ours, theirs = found[name]
        title = "ERROR" if name in errors else f"  ({CHANGED[name]})" if name in CHANGED else " "
        print(f"  {title} {name}: {_short(ours)} in the models, {_short(theirs)} on the server")
    print(f"  {len(errors):,} errors")
    return not errors


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:100] + "…"


def _kind(name: str) -> str:
    return name.partition(" ")[0]


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description="Compare the committed models with an API server.")
    parser.add_argument("source", help="URL of an API server, or a folder as for `make models`")
    parser.add_argument("--token-file", type=Path, help="file with a bearer token for the API server")
    parser.add_argument("--ca-file", help="CA certificate of the API server")
    parser.add_argument("--each", action="store_true", help="also list differences that are normal between versions")
    options = parser.parse_args(arguments)
    token = options.token_file.read_text().strip() if options.token_file else None
    source = read_source(options.source, token=token, ca_file=options.ca_file)
    models = committed_facts()
    return 0 if report(source, compare(models, server_facts(source)), len(models), each=options.each) else 1


if __name__ == "__main__":
    sys.exit(main())
