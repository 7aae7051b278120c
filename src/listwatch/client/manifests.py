"""Applies the objects of YAML and JSON files: namespaces and definitions first, then the objects that need them.

    await apply_files(client, "deploy/", field_manager="my-tool")

`objects/manifests.py` parses the files. Kinds that `KIND_ORDER` does not name are applied last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from listwatch.api.references import read_reference
from listwatch.client.discovery.rest_mapper import locate
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.conditions import ready
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import AlreadyExistsError, DecodeError, ListWatchError, UsageError
from listwatch.json_value import JSONObject
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
# Applied after everything else: their webhooks would reject objects before their own servers run.
_LAST_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")

_RANKS = {kind: rank for rank, kind in enumerate(KIND_ORDER)}
_SUFFIXES = (".yaml", ".yml", ".json")
_ESTABLISH_TIMEOUT = 60.0


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
    """Apply all objects of files and folders, and return them as stored, in the order of application.

    Objects without a namespace are applied in `namespace`, or else in that of the configuration. `server_side=False`
    creates missing objects and patches existing ones. The first error is raised, with a note that names the object.
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
    objects: Iterable[Mapping[str, object]],
    *,
    field_manager: str,
    namespace: str = "",
    server_side: bool = True,
    force: bool = False,
    dry_run: bool = False,
) -> list[Unstructured]:
    """Apply objects as `apply_files` does."""
    if not isinstance(client, ClientSet | DynamicClient):
        raise UsageError(f"`client` must be a ClientSet or a DynamicClient, not a {type(client).__name__}")
    dynamic = client if isinstance(client, DynamicClient) else client.dynamic
    applier = _Applier(
        dynamic=dynamic,
        namespace=namespace or dynamic.rest.config.namespace,
        server_side=server_side,
        force=force,
        field_manager=field_manager,
        dry_run=dry_run,
    )
    applied: list[Unstructured] = []
    for obj in sorted(map(Unstructured.from_dict, objects), key=_rank):
        try:
            applied.append(await applier.apply(obj))
        except ListWatchError as error:
            error.add_note(f"while applying {obj.describe()}, after {len(applied)} other objects")
            raise
    return applied


def load_files(*paths: str | PathLike[str], recursive: bool = False) -> list[JSONObject]:
    """Read the objects of YAML and JSON files and folders; DecodeError names the invalid file."""
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise UsageError(f"a path must be a str or a Path, not {path!r}")
    return [tree for path in paths for file in _files(Path(path), recursive=recursive) for tree in _load(file)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applier:
    """Applies one object after the other, and waits for definitions to be established."""

    dynamic: DynamicClient
    namespace: str
    server_side: bool
    force: bool
    field_manager: str
    dry_run: bool
    defined: dict[tuple[str, str], Resource] = field(default_factory=dict)

    async def apply(self, obj: Unstructured) -> Unstructured:
        resource = self.defined.get((obj.api_version, obj.kind)) or await self._find(obj)
        namespace = (obj.namespace or self.namespace) if resource.namespaced else ""
        client = self.dynamic.resource(resource, namespace=namespace)
        stored = await (self._apply if self.server_side else self._create_or_merge)(client, obj)
        if obj.kind == "CustomResourceDefinition" and not self.dry_run:
            # Objects of this kind may follow, and the server rejects them until it is established.
            await wait_for(client, obj.name, ready, timeout=_ESTABLISH_TIMEOUT)
            self.defined.update({(each.api_version, each.kind): each for each in _defined_by(stored)})
        return stored

    async def _find(self, obj: Unstructured) -> Resource:
        located = locate(read_reference(obj.api_version, obj.kind), self.dynamic.mapper)
        return located if isinstance(located, Resource) else await located()

    async def _apply(self, client: ResourceClient[Unstructured], obj: Unstructured) -> Unstructured:
        return await client.apply(obj, force=self.force, field_manager=self.field_manager, dry_run=self.dry_run)

    async def _create_or_merge(self, client: ResourceClient[Unstructured], obj: Unstructured) -> Unstructured:
        try:
            return await client.create(obj, field_manager=self.field_manager, dry_run=self.dry_run)
        except AlreadyExistsError:
            return await client.patch(obj.name, obj, field_manager=self.field_manager, dry_run=self.dry_run)


def _defined_by(definition: Unstructured) -> Iterator[Resource]:
    """Yield the resources of a CustomResourceDefinition, which discovery lists only some time after they are served."""
    spec = definition["spec"]
    names, is_namespaced = spec["names"], spec["scope"] == "Namespaced"
    for version in spec["versions"]:
        yield Resource(spec["group"], version["name"], names["kind"], names["plural"], namespaced=is_namespaced)


def _rank(obj: Unstructured) -> int:
    return len(_RANKS) + 1 if obj.kind in _LAST_KINDS else _RANKS.get(obj.kind, len(_RANKS))


def _files(path: Path, *, recursive: bool) -> Iterator[Path]:
    if path.is_dir():
        below = path.rglob("*") if recursive else path.iterdir()
        yield from sorted(each for each in below if each.suffix in _SUFFIXES and each.is_file())
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"the path {str(path)!r} does not exist")


def _load(file: Path) -> Iterator[JSONObject]:
    # Imported here: PyYAML is slow to import, and most programs read no YAML.
    from listwatch.objects.manifests import read_all

    try:
        for number, tree in enumerate(read_all(file.read_bytes()), start=1):
            match tree:
                case {"apiVersion": str(), "kind": str()}:
                    yield tree
                case _:
                    raise DecodeError(f"object {number} is not a mapping with apiVersion and kind")
    except DecodeError as error:
        raise DecodeError(error.message, object_name=str(file), field=error.field) from None
    except OSError as error:
        raise UsageError(f"{str(file)!r} cannot be read: {error.strerror}") from None
