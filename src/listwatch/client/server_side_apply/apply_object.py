"""Applies one object server-side, or shows what that would change.

    await apply(ConfigMap(metadata=ObjectMeta(name="web", namespace="default"), data={"a": "1"}))
    print(await diff(config_map, client=client))

Without a client, one is created from the environment for this call, as with `ClientSet()`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from listwatch.client.manifests import ManifestApplier
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.server_side_apply.object_diff import FieldConflict, ObjectDiff, changed_fields
from listwatch.client.server_side_apply.program_name import program_name
from listwatch.errors import ConflictError, NotFoundError, RequestError, UsageError
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["apply", "compare", "diff", "open_applier"]

T = TypeVar("T", bound=Object)


async def apply(
    obj: T,
    *,
    client: ClientSet | DynamicClient | None = None,
    namespace: str = "",
    field_manager: str = "",
    force: bool = False,
    dry_run: bool = False,
) -> T:
    """Create an object, or update its fields, by server-side apply; return it as stored, in the class that was passed.

    Pass only the fields that the program manages: fields that it applied before and omits now are removed, and fields
    of other managers stay. The manager is the name of the program, unless `field_manager` is given. ConflictError if
    another manager owns a field with another value; `force` takes the ownership. An object without a namespace is
    applied in `namespace`, or else in that of the configuration.
    """
    tree = _tree(obj)
    async with open_applier(
        client, namespace=namespace, field_manager=field_manager, force=force, dry_run=dry_run
    ) as applier:
        stored = await applier.apply(tree)
    return type(obj).from_wire(stored.to_json())


async def diff(
    obj: Object,
    *,
    client: ClientSet | DynamicClient | None = None,
    namespace: str = "",
    field_manager: str = "",
) -> ObjectDiff:
    """Return what `apply` would change, without changing anything, and the fields that other managers own.

    The server makes the comparison, by a dry run: defaults and fields of other managers are no differences.
    """
    tree = _tree(obj)
    options = {"client": client, "namespace": namespace, "field_manager": field_manager, "dry_run": True}
    async with open_applier(**options, force=False) as applier:  # type: ignore[arg-type]  # options by name
        return await compare(applier, tree)


async def compare(applier: ManifestApplier, obj: Unstructured) -> ObjectDiff:
    """Return what applying an object would change, as `diff` does."""
    resource = await applier.client_of(obj)
    try:
        live = await resource.get(obj.name)
    except NotFoundError:
        live = None
    conflicts: tuple[FieldConflict, ...] = ()
    try:
        applied = await resource.apply(obj, field_manager=applier.field_manager, dry_run=True)
    except ConflictError as error:
        conflicts = FieldConflict.of(error)
        if not conflicts:
            raise
        applied = await resource.apply(obj, field_manager=applier.field_manager, dry_run=True, force=True)
    # The kind is part of the heading.
    before: JSONObject = live.to_dict() if live else {"apiVersion": obj.api_version, "kind": obj.kind}
    changes = changed_fields(before, applied.to_dict())
    return ObjectDiff(obj.describe(), live is not None, changes, conflicts, live.uid if live else "")


@asynccontextmanager
async def open_applier(
    client: ClientSet | DynamicClient | None, *, namespace: str, field_manager: str, force: bool, dry_run: bool
) -> AsyncIterator[ManifestApplier]:
    """Return an applier over the client, or over one of the environment, which is closed afterwards."""
    if client is None:
        async with ClientSet() as own:
            options = {"namespace": namespace, "field_manager": field_manager, "force": force, "dry_run": dry_run}
            async with open_applier(own, **options) as applier:  # type: ignore[arg-type]  # options by name
                yield applier
        return
    if not isinstance(client, ClientSet | DynamicClient):
        raise UsageError(f"`client` must be a ClientSet or a DynamicClient, not a {type(client).__name__}")
    dynamic = client if isinstance(client, DynamicClient) else client.dynamic
    yield ManifestApplier(
        dynamic=dynamic,
        namespace=namespace or dynamic.rest.config.namespace,
        server_side=True,
        force=force,
        field_manager=field_manager or program_name(),
        dry_run=dry_run,
    )


def _tree(obj: object) -> Unstructured:
    if isinstance(obj, Unstructured):
        return obj
    if isinstance(obj, Object):
        return Unstructured.from_wire(obj.to_json())
    advice = "pass an API object; for a dict, Unstructured.from_dict(…)"
    raise RequestError(f"a {type(obj).__name__} cannot be applied; {advice}")
