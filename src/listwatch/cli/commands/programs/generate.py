"""`listwatch generate`: CustomResourceDefinitions from classes, classes from them, and configurations of webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from listwatch.cli.cluster.connection import connection_options, take_options

if TYPE_CHECKING:
    from listwatch.cli.cluster.session import ConnectionOptions
    from listwatch.json_value import JSONObject

__all__ = ["command"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Generate CustomResourceDefinitions from classes, classes from them, or configurations of webhooks."""


@command.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A folder; a file NAME.yaml for each definition.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the files in --output are not up to date.")
def crd(*, files: tuple[Path, ...], output: Path | None, check: bool) -> int:
    """Print the CustomResourceDefinitions of the classes in Python files.

    Every lw.CustomResource that a file defines is one version of a kind. Docstrings and comments become descriptions,
    annotations become types and validation. If lw.Webhooks of a file convert a kind, its definition has the conversion.

    \b
      listwatch generate crd fleet.py | kubectl apply --server-side -f -
      listwatch generate crd fleet.py -o crds
      listwatch generate crd fleet.py -o crds --check
    """
    from listwatch.cli.programs.loader import load_declarations
    from listwatch.generate import custom_resource_definitions

    _require_output(output, check=check)
    loaded = [load_declarations(file) for file in files]
    definitions = custom_resource_definitions(*(each for file in loaded for each in file.require_resources()))
    for webhooks in (each for file in loaded for each in file.webhooks):
        definitions = [webhooks.with_conversion(each) for each in definitions]
    return _finish({f"{each.name}.yaml": each.to_yaml() for each in definitions}, output, check=check)


@command.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A folder; a file for each configuration.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the files in --output are not up to date.")
@click.option(
    "--ca-bundle",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the authorities to trust, in PEM. [default: the program writes them, or cert-manager]",
)
def webhooks(*, files: tuple[Path, ...], output: Path | None, check: bool, ca_bundle: Path | None) -> int:
    """Print the configurations of the admission webhooks in Python files.

    Each lw.Webhooks that a file defines makes a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration.
    Conversions are part of what `listwatch generate crd` prints.

    \b
      listwatch generate webhooks fleet.py | kubectl apply --server-side -f -
      listwatch generate webhooks fleet.py -o manifests
      listwatch generate webhooks fleet.py -o manifests --check
    """
    from listwatch.cli.programs.loader import load_declarations

    _require_output(output, check=check)
    bundle = b"" if ca_bundle is None else ca_bundle.read_bytes()
    found = [
        each
        for file in files
        for declared in load_declarations(file).require_webhooks()
        for each in declared.configurations(ca_bundle=bundle)
    ]
    texts = {f"{each.kind.lower()}-{each.name}.yaml": each.to_yaml() for each in found}
    return _finish(texts, output, check=check)


@command.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", type=click.Path(allow_dash=True))
@click.option("-R", "--recursive", is_flag=True, help="Read folders with their sub-folders.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A folder; a Python file for each group-version.")
@click.option("--group", default="", metavar="NAME", help="Only the definitions of this API group.")
@click.option("--lenient", is_flag=True, help="Also read objects that the schema does not allow: no enums, no limits.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the files in --output are not up to date.")
@connection_options(namespaced=False)
def models(
    *,
    sources: tuple[str, ...],
    recursive: bool,
    output: Path | None,
    group: str,
    lenient: bool,
    check: bool,
    **connection: object,
) -> int:
    """Print the classes of CustomResourceDefinitions.

    SOURCE is a YAML or JSON file, a folder, a URL, or - for stdin. Without it, the definitions of the cluster are read.

    \b
      listwatch generate models crds/ -o myapp/models
      listwatch generate models --group cert-manager.io -o myapp/models
      listwatch generate models https://example.com/crds.yaml
    """
    from listwatch.generate import model_modules

    _require_output(output, check=check)
    options = take_options(connection)
    definitions = _read(sources, recursive=recursive) if sources else _fetch(options)
    modules = model_modules(definitions, group=group, lenient=lenient)
    if not modules:
        where = ", ".join(sources) or "the cluster"
        raise click.UsageError(f"{where} has no CustomResourceDefinitions{f' of the group {group}' * bool(group)}.")
    if output is not None:
        texts = {f"{each.name}.py": each.source for each in modules}
        return _check(output, texts) if check else _write(output, texts)
    if len(modules) > 1:
        names = ", ".join(f"{each.group}/{each.version}" for each in modules)
        raise click.UsageError(f"There are several modules ({names}): pass --output FOLDER, or --group NAME.")
    click.echo(modules[0].source, nl=False)
    return 0


def _require_output(output: Path | None, *, check: bool) -> None:
    if check and output is None:
        raise click.UsageError("--check compares with files: pass --output FOLDER.")


def _read(sources: Sequence[str], *, recursive: bool) -> list[JSONObject]:
    from listwatch.cli.manifest_files import read_manifest_files

    paths = [path for source in sources for path in _definition_files(source, recursive=recursive)]
    manifests = read_manifest_files(paths, recursive=False) if paths else []
    return [dict(each.content) for each in manifests if each.content.get("kind") == "CustomResourceDefinition"]


def _definition_files(source: str, *, recursive: bool) -> list[str]:
    """Return the files of a folder, without those of kustomize, which are no objects; any other source as it is."""
    folder = Path(source)
    if source == "-" or not folder.is_dir():
        return [source]
    found = sorted(folder.rglob("*") if recursive else folder.iterdir())
    return [
        str(each)
        for each in found
        if each.suffix in (".yaml", ".yml", ".json") and each.stem != "kustomization" and each.is_file()
    ]


def _fetch(options: ConnectionOptions) -> list[JSONObject]:
    from listwatch.cli.cluster.session import open_session
    from listwatch.cli.running import run_async

    found: list[JSONObject] = []

    async def fetch() -> int:
        async with open_session(options) as session:
            listed = await session.client.apiextensions_v1.customresourcedefinitions().list()
            found.extend(each.to_dict() for each in listed.items)
        return 0

    run_async(fetch())
    return found


def _finish(texts: dict[str, str], output: Path | None, *, check: bool) -> int:
    """Print the documents, or write or compare files."""
    if output is None:
        click.echo("---\n".join(texts.values()), nl=False)
        return 0
    return _check(output, texts) if check else _write(output, texts)


def _write(folder: Path, texts: dict[str, str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        click.echo(folder / name)
    return 0


def _check(folder: Path, texts: dict[str, str]) -> int:
    stale = [
        folder / name
        for name, text in texts.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
    for each in stale:
        click.echo(f"error: {each} is not up to date: run the command without --check", err=True)
    return 1 if stale else 0
