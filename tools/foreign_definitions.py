"""Generates classes from the CustomResourceDefinitions of other projects, and definitions from these classes.

    python -m tools.foreign_definitions            print a line for each project

The definitions are files of Go modules, which `go mod download` fetches. For each project it counts the definitions,
the classes that were imported, and the fields that the definitions of these classes lack, or have with another type.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

from listwatch.client import load_files
from listwatch.errors import ListWatchError
from listwatch.generate import custom_resource_definitions, model_modules
from listwatch.json_value import JSON, JSONObject
from listwatch.objects import CustomResource

__all__ = ["PROJECTS", "DownloadError", "Outcome", "Project", "check", "definitions_of"]


class Project(NamedTuple):
    """A Go module with definitions."""

    name: str
    module: str
    folder: str


PROJECTS = (
    Project("cert-manager", "github.com/cert-manager/cert-manager@v1.21.2", "deploy/crds"),
    Project("Argo Rollouts", "github.com/argoproj/argo-rollouts@v1.10.1", "manifests/crds"),
    Project(
        "Prometheus operator",
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        "example/prometheus-operator-crd",
    ),
    Project("Gateway API", "sigs.k8s.io/gateway-api@v1.4.0", "config/crd/experimental"),
    Project("Crossplane", "github.com/crossplane/crossplane/v2@v2.1.0", "cluster/crds"),
)


class DownloadError(Exception):
    """A module cannot be downloaded."""


class Outcome(NamedTuple):
    """What was generated from the definitions of a project."""

    definitions: int
    classes: list[type[CustomResource]]
    differences: list[str]
    """Fields that only one of the schemas has."""


def definitions_of(project: Project) -> list[JSONObject]:
    """Return the definitions of a project; DownloadError if its module cannot be downloaded."""
    command = ["go", "mod", "download", "-json", project.module]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        found = json.loads(done.stdout)
    except (OSError, ValueError) as error:
        raise DownloadError(f"{project.module}: {error}") from error
    if "Dir" not in found:
        raise DownloadError(f"{project.module}: {found.get('Error', done.stderr)}")
    files = sorted(Path(found["Dir"], project.folder).glob("*.yaml"))
    trees = load_files(*(each for each in files if each.stem != "kustomization"))
    return [each for each in trees if each["kind"] == "CustomResourceDefinition"]


def check(definitions: list[JSONObject]) -> Outcome:
    """Generate classes, import them, and generate definitions from them."""
    with TemporaryDirectory() as folder:
        found = [
            cls
            for module in model_modules(definitions)
            for cls in _classes_of(module.source, Path(folder, f"{module.name}.py"))
        ]
        return Outcome(len(definitions), found, [*_differences(definitions, found)])


def _differences(definitions: list[JSONObject], found: list[type[CustomResource]]) -> Iterator[str]:
    classes = {(cls.gvk.group, cls.gvk.version, cls.gvk.kind): cls for cls in found}
    for definition in definitions:
        spec = definition["spec"]
        assert isinstance(spec, dict)
        for version, schema in _versions(spec):
            group, kind = str(spec["group"]), str(spec["names"]["kind"])  # type: ignore[index,call-overload]  # objects
            [again] = custom_resource_definitions(classes[group, version, kind])
            generated = dict(_versions(again.to_dict()["spec"]))[version]
            for path, type_ in sorted({*_types(schema)} ^ {*_types(generated)}):
                yield f"{kind}.{version}.{group}: {path} ({type_})"


def _classes_of(source: str, file: Path) -> list[type[CustomResource]]:
    file.write_text(source, encoding="utf-8")  # descriptions are read from it
    module = ModuleType(f"foreign_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # annotations are resolved there
    exec(compile(source, file, "exec"), vars(module))
    found = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, CustomResource)]
    return [each for each in found if each.__module__ == module.__name__]


def _versions(spec: JSONObject) -> Iterator[tuple[str, JSON]]:
    for version in spec["versions"]:  # type: ignore[union-attr]  # a list of objects
        assert isinstance(version, dict)
        schema = version["schema"]
        assert isinstance(schema, dict)
        yield str(version["name"]), schema["openAPIV3Schema"]


def _types(schema: JSON, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the type of each field, except for those that every object has."""
    assert isinstance(schema, dict)
    yield path, str(schema.get("type", "any"))
    properties = schema.get("properties")
    for name, each in (properties if isinstance(properties, dict) else {}).items():
        if path or name not in ("apiVersion", "kind", "metadata"):
            yield from _types(each, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(each := schema.get(keyword), dict) and "type" in each:
            yield from _types(each, f"{path}[{keyword}]")


def main() -> int:
    """Run as a command."""
    failed = False
    for project in PROJECTS:
        try:
            outcome = check(definitions_of(project))
        except (DownloadError, ListWatchError) as error:
            print(f"{project.name}: {error}")
            failed = True
            continue
        counts = f"{outcome.definitions} definitions, {len(outcome.classes)} classes"
        print(f"{project.name} ({project.module}): {counts}, {len(outcome.differences)} differences")
        for each in outcome.differences:
            print(f"  {each}")
        failed |= bool(outcome.differences)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
