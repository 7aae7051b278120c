"""`listwatch tree`: objects with the objects that they own, by owner references."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import Target, find_targets, object_tree, target_argument
from listwatch.cli.output import age_of, format_table, object_name, write
from listwatch.cli.tables.status import status_of
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.errors import APIError, ForbiddenError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.object import Object

__all__ = ["command"]

_MAX_NAMES = 8
_MAX_PARALLEL = 8
_SKIPPED = {"events", "leases", "endpoints", "componentstatuses", "bindings"}
"""Resources without owners of interest, or of which there are too many."""


class _Node(NamedTuple):
    resource: Resource
    object: Object

    @property
    def name(self) -> str:
        tree: JSONObject = {"metadata": {"name": self.object.name}}
        return object_name(self.resource, tree)


@click.command()
@target_argument(required=False)
@connected()
async def command(session: Session, *, targets: tuple[str, ...]) -> None:
    """Show objects with the objects that they own.

    Without arguments, all objects of the namespace that own others.

    \b
      listwatch tree deploy/web
      listwatch tree -A
    """
    nodes = await _read_all(session)
    children: defaultdict[str, list[_Node]] = defaultdict(list)
    for node in nodes:
        for owner in node.object.metadata.owner_references:
            children[owner.uid].append(node)
    if targets:
        roots = [node for target in await find_targets(session, targets) for node in await _roots(session, target)]
    else:
        known = {node.object.uid for node in nodes}
        roots = [
            node
            for node in nodes
            if node.object.uid in children
            and not any(owner.uid in known for owner in node.object.metadata.owner_references)
        ]
    lines = [line for root in roots for line in _lines(root, children)]
    if not lines:
        print("No objects that own others were found.", file=sys.stderr)
        return
    statuses = await _statuses(session, [node for _, node in lines])
    now = session.clock.now()
    headers = [*(["Namespace"] if session.all_namespaces else []), "Name", "Status", "Age"]
    rows = [
        [
            *([node.object.namespace] if session.all_namespaces else []),
            f"{indent}{node.name}",
            statuses.get(node.object.uid, ""),
            age_of(_created(node.object), now),
        ]
        for indent, node in lines
    ]
    write(format_table(headers, rows))


async def _roots(session: Session, target: Target) -> list[_Node]:
    client = session.resource_client(target.resource)
    found = [await client.get(name) for name in target.names] if target.names else [*await client.list()]
    return [_Node(target.resource, each) for each in found]


async def _read_all(session: Session) -> list[_Node]:
    """Read the metadata of all objects of the namespace; without a permission for some, a note goes to stderr."""
    found: dict[object, Resource] = {}
    for resource in await session.mapper.resources():
        if "list" in resource.verbs and resource.namespaced and resource.plural not in _SKIPPED:
            found.setdefault(resource.group_resource, resource)
    metadata = MetadataClient(session.client.rest, mapper=session.mapper)
    permits = asyncio.Semaphore(_MAX_PARALLEL)
    skipped: dict[str, APIError] = {}

    async def read(resource: Resource) -> list[_Node]:
        async with permits:
            try:
                listed = await metadata.resource(resource, namespace=session.namespace_of(resource)).list()
            except (ForbiddenError, NotFoundError) as error:
                skipped[str(resource.group_resource)] = error
                return []
        return [_Node(resource, each) for each in listed]

    with _without_server_warnings():
        lists = await asyncio.gather(*map(read, found.values()))
    if skipped and len(skipped) == len(found):
        raise next(iter(skipped.values()))
    if skipped:
        print(f"skipped, because they cannot be listed: {_shortened(sorted(skipped))}", file=sys.stderr)
    return [node for nodes in lists for node in nodes]


@contextmanager
def _without_server_warnings() -> Iterator[None]:
    """Log no warnings about deprecated resources within this block: the user did not select them."""
    logger = logging.getLogger("listwatch.client")

    def is_other(record: logging.LogRecord) -> bool:
        return not hasattr(record, "agent")

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


def _shortened(names: list[str]) -> str:
    rest = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _lines(root: _Node, children: dict[str, list[_Node]]) -> Iterator[tuple[str, _Node]]:
    """Yield each object below a root with the branch before its name."""
    stack = [("", "", root)]
    seen: set[str] = set()
    while stack:
        branch, indent, node = stack.pop()
        yield branch, node
        if node.object.uid in seen:
            continue  # owner references may form a cycle
        seen.add(node.object.uid)
        below = sorted(children.get(node.object.uid, ()), key=lambda each: each.name)
        for number, child in enumerate(reversed(below)):
            is_last = number == 0
            stack.append((indent + ("└─ " if is_last else "├─ "), indent + ("   " if is_last else "│  "), child))


async def _statuses(session: Session, nodes: Iterable[_Node]) -> dict[str, str]:
    """Read the states of objects, with one list for each resource."""
    shown: dict[Resource, set[str]] = defaultdict(set)
    for node in nodes:
        shown[node.resource].add(node.object.uid)
    found: dict[str, str] = {}
    for resource, uids in shown.items():
        try:
            listed = await session.resource_client(resource).list()
        except APIError:
            continue
        found |= {each.uid: status_of(object_tree(each, resource)) for each in listed if each.uid in uids}
    return found


def _created(obj: Object) -> str:
    created = obj.metadata.creation_timestamp
    return created.isoformat() if created else ""
