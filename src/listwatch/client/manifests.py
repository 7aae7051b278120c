"""Brings what YAML files say into being: namespaces and definitions first, then what lives in them.

    await apply_files(client, "deploy/", field_manager="my-tool")

`objects/manifests.py` reads the files. `KIND_ORDER` is the order; kinds that it does not name come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from listwatch.api.references import read_reference
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.resources.resource_locator import locate
from listwatch.client.wait.conditions import ready
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import AlreadyExistsError, DecodeError, ListWatchError, UsageError
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["KIND_ORDER", "apply_files", "apply_objects", "load_files"]

KIND_ORDER = (
    "Namespace",
    "CustomResourceDefinition",
    "PriorityClass",
    "ResourceQuota",
    "LimitRange",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Service",
    "IngressClass",
    "Ingress",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Job",
    "CronJob",
    "APIService",
)
# They judge what comes after them: nothing may, or their own servers would never start.
_AFTER_ALL = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")

_RANKS = {kind: rank for rank, kind in enumerate(KIND_ORDER)}
_ENDINGS = (".yaml", ".yml", ".json")
_ESTABLISHED_WITHIN = 60.0


async def apply_files(
    client: ClientSet | DynamicClient,
    *paths: str | PathLike[str],
    field_manager: str,
    namespace: str = "",
    recursive: bool = False,
    server_side: bool = True,
    force: bool = False,
    dry_run: bool = False,
) -> list[Unstructured]:
    """Apply all objects of files and folders; they as the server made them, in the order in which it was done.

    What names no namespace goes to `namespace`, or else to that of the configuration. `server_side=False` creates what
    is not there and merges the rest into what is. The first error ends it, and a note says which object it was about.
    """
    trees = load_files(*paths, recursive=recursive)
    return await apply_objects(
        client,
        trees,
        field_manager=field_manager,
        namespace=namespace,
        server_side=server_side,
        force=force,
        dry_run=dry_run,
    )


async def apply_objects(
    client: ClientSet | DynamicClient,
    objects: Iterable[Mapping[str, Any]],
    *,
    field_manager: str,
    namespace: str = "",
    server_side: bool = True,
    force: bool = False,
    dry_run: bool = False,
) -> list[Unstructured]:
    """The same for objects that were read already."""
    if not isinstance(client, ClientSet | DynamicClient):
        raise UsageError(f"objects are applied with a ClientSet or a DynamicClient, not with a {type(client).__name__}")
    dynamic = client if isinstance(client, DynamicClient) else client.dynamic
    applier = _Applier(
        dynamic=dynamic,
        namespace=namespace or dynamic.rest.config.namespace,
        server_side=server_side,
        force=force,
        options={"field_manager": field_manager, "dry_run": dry_run},
    )
    applied: list[Unstructured] = []
    for obj in sorted(map(Unstructured.from_dict, objects), key=_rank):
        try:
            applied.append(await applier.apply(obj))
        except ListWatchError as error:
            error.add_note(f"while applying {obj.describe()}, after {len(applied)} others")
            raise
    return applied


def load_files(*paths: str | PathLike[str], recursive: bool = False) -> list[dict[str, Any]]:
    """The objects in YAML and JSON files, and in those of folders; DecodeError names the file that is wrong."""
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise UsageError(f"a file or folder to apply is a path, as text or a Path, not {path!r}")
    return [tree for path in paths for file in _files(Path(path), recursive=recursive) for tree in _load(file)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applier:
    """Applies one object after the other, and waits for what the next ones need."""

    dynamic: DynamicClient
    namespace: str
    server_side: bool
    force: bool
    options: dict[str, Any]
    defined: dict[tuple[str, str], Resource] = field(default_factory=dict)

    async def apply(self, obj: Unstructured) -> Unstructured:
        resource = self.defined.get((obj.api_version, obj.kind)) or await self._find(obj)
        place = (obj.namespace or self.namespace) if resource.namespaced else ""
        client = self.dynamic.resource(resource, namespace=place)
        made = await (self._apply if self.server_side else self._create_or_merge)(client, obj)
        if obj.kind == "CustomResourceDefinition" and not self.options["dry_run"]:
            # Objects of that kind may be next, and nothing takes them before.
            await wait_for(client, obj.name, ready, timeout=_ESTABLISHED_WITHIN)
            self.defined.update({(each.api_version, each.kind): each for each in _defined_by(made)})
        return made

    async def _find(self, obj: Unstructured) -> Resource:
        located = locate(read_reference(obj.api_version, obj.kind), self.dynamic.mapper)
        return located if isinstance(located, Resource) else await located()

    async def _apply(self, client: ResourceClient[Unstructured], obj: Unstructured) -> Unstructured:
        return await client.apply(obj, force=self.force, **self.options)

    async def _create_or_merge(self, client: ResourceClient[Unstructured], obj: Unstructured) -> Unstructured:
        try:
            return await client.create(obj, **self.options)
        except AlreadyExistsError:
            return await client.patch(obj.name, obj, **self.options)


def _defined_by(definition: Unstructured) -> Iterator[Resource]:
    """What a CustomResourceDefinition adds, which servers list only some time after they serve it."""
    spec = definition["spec"]
    names, is_namespaced = spec["names"], spec["scope"] == "Namespaced"
    for version in spec["versions"]:
        yield Resource(spec["group"], version["name"], names["kind"], names["plural"], namespaced=is_namespaced)


def _rank(obj: Unstructured) -> int:
    return len(_RANKS) + 1 if obj.kind in _AFTER_ALL else _RANKS.get(obj.kind, len(_RANKS))


def _files(path: Path, *, recursive: bool) -> Iterator[Path]:
    if path.is_dir():
        below = path.rglob("*") if recursive else path.iterdir()
        yield from sorted(each for each in below if each.suffix in _ENDINGS and each.is_file())
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"there is no file or folder {str(path)!r} to apply")


def _load(file: Path) -> Iterator[dict[str, Any]]:
    # PyYAML is slow to load, and most programs read no YAML.
    from listwatch.objects.manifests import read_all

    try:
        for number, tree in enumerate(read_all(file.read_bytes()), start=1):
            match tree:
                case {"apiVersion": str(), "kind": str()}:
                    yield tree
                case _:
                    raise DecodeError(f"object {number} is no mapping with apiVersion and kind")
    except DecodeError as error:
        raise DecodeError(error.message, object_name=str(file), field=error.field) from None
    except OSError as error:
        raise UsageError(f"{str(file)!r} cannot be read: {error.strerror}") from None
