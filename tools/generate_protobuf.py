"""Generates the protobuf schemas: `python -m tools.generate_protobuf`, a part of `make models`.

The source are the Go modules of Kubernetes' API types, which the `go` command downloads from the Go proxy. Only the
packages of the group versions in `listwatch.models` are read, and those that they refer to.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from listwatch.models.table import MODULES
from tools.models.go_messages import Package, read_package

VERSION = "v0.37.2"
GO_MODULES = ("k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator")
OUTPUT = Path(__file__).parent.parent / "src" / "listwatch" / "protobuf" / "schemas"

# Group versions without resources: the kinds of all groups, and discovery.
_META = ("meta.k8s.io/v1", "meta.k8s.io/v1beta1", "apidiscovery.k8s.io/v2")


def download(version: str) -> list[Path]:
    """Return the folders of the Go modules."""
    names = [f"{module}@{version}" for module in GO_MODULES]
    found = subprocess.run(["go", "mod", "download", "-json", *names], check=True, capture_output=True, text=True)
    decoder, text, folders = json.JSONDecoder(), found.stdout.strip(), []
    while text:
        document, end = decoder.raw_decode(text)
        folders.append(Path(document["Dir"]))
        text = text[end:].lstrip()
    return folders


def read_packages(folders: Iterable[Path]) -> dict[str, Package]:
    """Read all packages with messages, by short name."""
    places = (place.parent for folder in folders for place in sorted(folder.rglob("generated.proto")))
    packages = (read_package(place) for place in places if not {"testapigroup", "testdata"} & {*place.parts})
    return {package.name: package for package in packages}


def generate(packages: dict[str, Package], api_versions: Iterable[str], version: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each file and its text; the same source always gives the same text."""
    served = {package.api_version: name for name, package in packages.items() if package.api_version}
    if missing := sorted({*api_versions} - {*served}):
        raise ValueError(f"the Go modules have no protobuf messages for {', '.join(missing)}")
    index = {
        api_version: served[api_version] for api_version in sorted({*api_versions, *_META}) if api_version in served
    }
    for name in sorted(_with_references(packages, index.values())):
        yield f"{name}.py", _module_text(packages[name], version)
    yield "index.py", _index_text(index, version)


def _with_references(packages: dict[str, Package], names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    rest = [*names]
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest += packages[name].references
    return found


def _module_text(package: Package, version: str) -> str:
    lines: list[str] = []
    for name, fields in sorted(package.messages.items()):
        lines += textwrap.wrap(
            f"{name} {fields}".rstrip(), 118, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False
        )
    return _text(f"The messages of {package.name}", version, 'MESSAGES = """\\', *lines, '"""')


def _index_text(index: dict[str, str], version: str) -> str:
    rows = (f'    "{api_version}": "{package}",' for api_version, package in index.items())
    return _text("The module with the messages of each group version", version, "PACKAGES = {", *rows, "}")


def _text(title: str, version: str, *lines: str) -> str:
    return "\n".join([
        f'"""{title}, from the Go modules of Kubernetes API types {version}.',
        "",
        "Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.",
        '"""',
        "",
        *lines,
        "",
    ])  # fmt: skip


def write(files: dict[str, str], output: Path) -> None:
    """Write the files, and remove stale ones."""
    for stale in output.glob("*.py"):
        if stale.name not in files and stale.name != "__init__.py":
            stale.unlink()
    for name, text in files.items():
        (output / name).write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description="Generate the protobuf schemas from Go modules.")
    parser.add_argument("--version", default=VERSION, help="of the Go modules (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder to write to (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        folders = download(options.version)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", "") or error
        sys.exit(f"the Go modules cannot be downloaded: {reason}")
    files = dict(generate(read_packages(folders), MODULES, options.version))
    write(files, options.output)
    print(f"{len(files)} files from the Go modules {options.version} in {options.output}")


if __name__ == "__main__":
    main()
