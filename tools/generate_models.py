"""Generates the models: `python -m tools.generate_models SOURCE`, or `make models`.

SOURCE is a folder with `schemas.json`, `discovery-api-v1.json` and `discovery-apis.json`, or the URL of an API server.

The stubs beside the modules have the descriptions of the API. If SOURCE has none, they come from the server that
`--descriptions` names, then from Go modules, and otherwise stay as they are. `make descriptions` reads them from a real
kube-apiserver and, for what is newer than it, from the Go modules of the API.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.models.client_groups import client_groups_text
from tools.models.definitions import read_definitions
from tools.models.go_descriptions import go_descriptions
from tools.models.informer_groups import informer_groups_text
from tools.models.python_code import ModuleWriter
from tools.models.source import Source, read_source
from tools.models.stub_code import Descriptions, StubWriter, descriptions_in, descriptions_of
from tools.models.tables import schema_data_text, table_text

PACKAGE = Path(__file__).parent.parent / "src" / "listwatch"


def generate(source: Source, descriptions: Descriptions | None = None) -> Iterator[tuple[str, str]]:
    """Yield the path of each file in the package and its text; the same arguments always give the same text.

    `descriptions` are used where the source has none.
    """
    definitions = read_definitions(source.schemas)
    documented = {**(descriptions or {}), **descriptions_of(definitions)}
    resources = {each.gvk: each for each in source.resources}
    for module in sorted({each.module for each in definitions.values()}):
        yield f"models/{module}.py", ModuleWriter(module, definitions, resources, source.version).text()
        yield f"models/{module}.pyi", StubWriter(module, definitions, resources, source.version, documented).text()
    yield "models/table.py", table_text(source, definitions)
    yield "server/schema/schema_data.py", schema_data_text(source, definitions)
    yield "client/resources/typed_groups.py", client_groups_text(source, definitions)
    yield "factory/typed_groups.py", informer_groups_text(source, definitions)


def write(source: Source, package: Path, documented: Source | None = None, go_modules: Iterable[Path] = ()) -> int:
    """Write the generated files, remove stale ones, and return the number of files."""
    descriptions = descriptions_in(package / "models")
    descriptions |= go_descriptions(go_modules, read_definitions(source.schemas))
    if documented:
        descriptions |= descriptions_of(read_definitions(documented.schemas))
    files = dict(generate(source, descriptions))
    for stale in package.glob("models/*_v*.py*"):
        if f"models/{stale.name}" not in files:
            stale.unlink()
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return len(files)


def main(arguments: list[str] | None = None) -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Generate listwatch's models from an API server's schemas and discovery."
    )
    parser.add_argument("source", help="a folder, or the URL of an API server")
    parser.add_argument("--descriptions", metavar="URL", help="an API server with descriptions, for a source without")
    parser.add_argument(
        "--go-module", metavar="FOLDER", type=Path, action="append", default=[], help="a Go module with descriptions"
    )
    parser.add_argument("--token-file", type=Path, help="file with a bearer token for the API server")
    parser.add_argument("--ca-file", help="CA certificate of the API server")
    parser.add_argument("--output", type=Path, default=PACKAGE, help="package to write to (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        token = options.token_file.read_text().strip() if options.token_file else None
        source, documented = (
            place and read_source(place, token=token, ca_file=options.ca_file)
            for place in (options.source, options.descriptions)
        )
    except (OSError, ValueError) as error:
        parser.error(f"cannot read {options.source}: {error}")
    count = write(source, options.output, documented, options.go_module)
    print(f"{count} files from Kubernetes {source.version} in {options.output}")


if __name__ == "__main__":
    main()
