"""The objects that the arguments of a command name, in the forms of kubectl.

pods                     all objects of a resource: plural, singular, short name or kind
pods,services            of several resources; `all` and other categories work too
pods.v1.  deployments.apps  deployments.v1.apps
pods web-0 web-1         some objects of a resource
pod/web-0 deploy/web     objects of several resources
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import click

from listwatch.cli.cluster.completion import complete_objects
from listwatch.cli.cluster.session import Session
from listwatch.errors import NoMatchError, UsageError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.object import Object

__all__ = [
    "Target",
    "find_target",
    "find_targets",
    "object_tree",
    "read_objects",
    "selector_options",
    "target_argument",
]

Function = Callable[..., object]


class Target(NamedTuple):
    """A resource, and the names of some of its objects; without names, all of them."""

    resource: Resource
    names: tuple[str, ...] = ()

    def watched_fields(self, field_selector: str) -> str:
        """Return the field selector of a watch, which can be one of all objects or of one object."""
        if len(self.names) > 1:
            raise click.UsageError("Name one object, or select several with --selector.")
        return ",".join(filter(None, (field_selector, *(f"metadata.name={name}" for name in self.names))))


def target_argument(*, required: bool = True) -> Callable[[Function], Function]:
    """Return a decorator that adds the argument `targets`."""
    return click.argument(
        "targets", nargs=-1, required=required, metavar="TYPE[/NAME] [NAME]...", shell_complete=complete_objects
    )


def selector_options(function: Function) -> Function:
    """Add `-l` and `--field-selector`."""
    fields = click.option(
        "--field-selector", default="", metavar="SELECTOR", help="Select by fields, as in status.phase=Running."
    )
    labels = click.option(
        "-l", "--selector", default="", metavar="SELECTOR", help="Select by labels, as in app=web,tier!=cache."
    )
    return labels(fields(function))


async def find_targets(session: Session, arguments: Sequence[str]) -> list[Target]:
    """Return what the arguments name; NoMatchError with similar names if the server has no such resource."""
    if not any("/" in each for each in arguments):
        kinds, *names = arguments
        resources = [each for kind in kinds.split(",") if kind for each in await _resources(session, kind)]
        return [Target(each, tuple(names)) for each in resources]
    found: list[Target] = []
    for argument in arguments:
        kind, slash, name = argument.partition("/")
        if not (kind and slash and name) or "/" in name:
            raise UsageError(f"{argument!r} is not TYPE/NAME, as in pod/web-0; use one form for all arguments")
        found.append(Target(await session.mapper.resource_for(kind), (name,)))
    return found


async def find_target(session: Session, arguments: Sequence[str], *, named: bool = False) -> Target:
    """Return the only resource that the arguments name; with `named`, one object of it."""
    found = await find_targets(session, arguments)
    if len(found) != 1 or (named and len(found[0].names) != 1):
        what = "one object, as in pod/web-0" if named else "one resource, as in pods"
        raise UsageError(f"name {what}, instead of: {' '.join(arguments)}")
    return found[0]


async def _resources(session: Session, kind: str) -> tuple[Resource, ...]:
    try:
        return (await session.mapper.resource_for(kind),)
    except NoMatchError:
        members = (await session.mapper.resources()).in_category(kind)
        if not members:
            raise
        return tuple(each for each in members if "list" in each.verbs)


async def read_objects(
    session: Session, target: Target, *, selector: str = "", field_selector: str = "", managed_fields: bool = True
) -> list[JSONObject]:
    """Read the objects of a target in the selected namespace, with apiVersion and kind."""
    client = session.resource_client(target.resource)
    if target.names:
        found = [await client.get(name) for name in target.names]
    else:
        found = [*await client.list(label_selector=selector or None, field_selector=field_selector or None)]
    return [object_tree(each if managed_fields else each.without_managed_fields(), target.resource) for each in found]


def object_tree(obj: Object, resource: Resource) -> JSONObject:
    """Return an object as a dict; apiVersion and kind, which the items of lists lack, come first."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **obj.to_dict()}
