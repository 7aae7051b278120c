"""`listwatch describe`: an object in detail, with its events."""

from __future__ import annotations

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import find_targets, read_objects, selector_options, target_argument
from listwatch.cli.output import age_of, format_table, write
from listwatch.cli.tables.event_table import EVENT_HEADERS, event_row, events_about
from listwatch.errors import ForbiddenError, NotFoundError
from listwatch.json_value import JSON, JSONObject

__all__ = ["command"]

_WIDTH = 14
_HIDDEN = ("apiVersion", "kind", "metadata")


@click.command()
@target_argument()
@selector_options
@connected()
async def command(session: Session, *, targets: tuple[str, ...], selector: str, field_selector: str) -> None:
    """Show objects in detail, with their events.

    The values of a Secret are not shown, only their sizes.

    \b
      listwatch describe pod/web-0
      listwatch describe pods -l app=web
    """
    texts = []
    for target in await find_targets(session, targets):
        for tree in await read_objects(
            session, target, selector=selector, field_selector=field_selector, managed_fields=False
        ):
            texts.append(_describe(session, tree) + await _events(session, tree))
    write("\n\n".join(texts))


def _describe(session: Session, tree: JSONObject) -> str:
    metadata = tree.get("metadata")
    meta: JSONObject = metadata if isinstance(metadata, dict) else {}
    created = meta.get("creationTimestamp")
    age = age_of(created if isinstance(created, str) else "", session.clock.now())
    lines = [
        _field("Name", meta.get("name")),
        *([_field("Namespace", meta["namespace"])] if "namespace" in meta else []),
        _field("Kind", f"{tree.get('kind')} ({tree.get('apiVersion')})"),
        *_map("Labels", meta.get("labels")),
        *_map("Annotations", meta.get("annotations")),
        _field("Created", f"{created} ({age} ago)"),
        *([_field("Deleted", meta["deletionTimestamp"])] if "deletionTimestamp" in meta else []),
        *[_field("Owned by", f"{owner['kind']}/{owner['name']}") for owner in _owners(meta)],
        *([_field("Finalizers", ", ".join(map(str, finalizers)))] if (finalizers := _list(meta, "finalizers")) else []),
    ]
    content: JSONObject = {name: part for name, part in tree.items() if name not in _HIDDEN}
    if tree.get("kind") == "Secret":
        content["data"] = _sizes(content.get("data"))
        content.pop("stringData", None)
    # Imported here: PyYAML is slow to import.
    from listwatch.objects.yaml.manifests import write as write_yaml

    details = write_yaml(content) if content else ""
    return "\n".join(lines) + "\n" + _capitalized(details)


async def _events(session: Session, tree: JSONObject) -> str:
    try:
        found = await events_about(session, tree)
    except (ForbiddenError, NotFoundError) as error:
        return f"Events:        unknown: {error}\n"
    if not found:
        return "Events:        <none>\n"
    now = session.clock.now()
    table = format_table(EVENT_HEADERS, [event_row(each, now) for each in found])
    return "Events:\n" + "".join(f"  {line}\n" for line in table.splitlines())


def _field(name: str, value: JSON) -> str:
    return f"{name + ':':<{_WIDTH}} {value}"


def _map(name: str, values: JSON) -> list[str]:
    pairs = [f"{key}={value}" for key, value in sorted(values.items())] if isinstance(values, dict) else []
    first, *others = pairs or ["<none>"]
    return [_field(name, first), *(" " * (_WIDTH + 1) + each for each in others)]


def _owners(meta: JSONObject) -> list[JSONObject]:
    return [each for each in _list(meta, "ownerReferences") if isinstance(each, dict)]


def _list(meta: JSONObject, name: str) -> list[JSON]:
    found = meta.get(name)
    return found if isinstance(found, list) else []


def _sizes(data: JSON) -> JSON:
    return {name: f"{len(str(value)) * 3 // 4} bytes" for name, value in data.items()} if isinstance(data, dict) else {}


def _capitalized(yaml: str) -> str:
    """Return the document with the names of its parts as headings, as the fields above have them."""
    lines = yaml.splitlines()
    return "".join(f"{line[0].upper()}{line[1:]}\n" if line[:1].isalpha() else f"{line}\n" for line in lines)
