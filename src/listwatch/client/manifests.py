"""Applies the objects of YAML and JSON files: namespaces and definitions first, then the objects that need them.

    await apply_files(client, "deploy/", field_manager="my-tool")

`objects/yaml/manifests.py` parses the files. Kinds that `KIND_ORDER` does not name are applied last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from listwatch.api.references import read_reference
from listwatch.client.discovery.rest_mapper import locate
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.conditions import ready
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import (
    AlreadyExistsError,
    APIError,
    DecodeError,
    FieldError,
    ListWatchError,
    TransportError,
    UsageError,
)
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = [
    "KIND_ORDER",
    "Manifest",
    "ManifestApplier",
    "apply_files",
    "apply_objects",
    "in_order",
    "load_files",
    "load_manifests",
    "read_manifests",
]

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
    creates missing objects and patches existing ones. The first error is raised; it names the file and the
    document, and its note the object.
    """
    applier = _applier(
        client, field_manager=field_manager, namespace=namespace, server_side=server_side, force=force, dry_run=dry_run
    )
    return await applier.apply_all(load_manifests(*paths, recursive=recursive))


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
    applier = _applier(
        client, field_manager=field_manager, namespace=namespace, server_side=server_side, force=force, dry_run=dry_run
    )
    return await applier.apply_all([Manifest(each) for each in objects])


def load_files(*paths: str | PathLike[str], recursive: bool = False) -> list[JSONObject]:
    """Read the objects of YAML and JSON files and folders; DecodeError names the invalid file."""
    return [dict(each.content) for each in load_manifests(*paths, recursive=recursive)]


# --- Manifests --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object to apply, and where it is written: a file, and the number of the document in it."""

    content: Mapping[str, Any]  # a JSON tree, or what the caller passes as one
    file: str = ""
    document: int = 0

    @property
    def place(self) -> str:
        """The file and the document; empty if the object does not come from a file."""
        return f"{self.file}, document {self.document}" if self.file else ""


def load_manifests(*paths: str | PathLike[str], recursive: bool = False) -> list[Manifest]:
    """Read the objects of files and folders, with their places."""
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise UsageError(f"a path must be a str or a Path, not {path!r}")
    return [each for path in paths for file in _files(Path(path), recursive=recursive) for each in _load(file)]


def read_manifests(text: bytes, file: str) -> Iterator[Manifest]:
    """Read the objects of a YAML or JSON text; errors name the file and the document."""
    # Imported here: PyYAML is slow to import, and most programs read no YAML.
    from listwatch.objects.yaml.manifests import read_documents

    try:
        for number, tree in read_documents(text):
            match tree:
                case {"apiVersion": str(), "kind": str()}:
                    yield Manifest(tree, file, number)
                case _:
                    raise DecodeError(f"document {number} is not a mapping with apiVersion and kind")
    except DecodeError as error:
        raise DecodeError(error.message, object_name=file, field=error.field) from None


# --- Applying ---------------------------------------------------------------------------------------------------------


def _put_place(error: ListWatchError, place: str) -> None:
    """Let the message of an error begin with the file and the document."""
    if not place:
        return
    if isinstance(error, APIError | TransportError):
        error.doing = f"{place}: {error.doing}"
    elif isinstance(error, FieldError):
        error.object_name = f"{place}: {error.object_name}"
    else:
        error.message = f"{place}: {error.message}"
        error.args = (error.message,)


def _applier(
    client: ClientSet | DynamicClient,
    *,
    field_manager: str,
    namespace: str,
    server_side: bool,
    force: bool,
    dry_run: bool,
) -> ManifestApplier:
    if not isinstance(client, ClientSet | DynamicClient):
        raise UsageError(f"`client` must be a ClientSet or a DynamicClient, not a {type(client).__name__}")
    dynamic = client if isinstance(client, DynamicClient) else client.dynamic
    return ManifestApplier(
        dynamic=dynamic,
        namespace=namespace or dynamic.rest.config.namespace,
        server_side=server_side,
        force=force,
        field_manager=field_manager,
        dry_run=dry_run,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestApplier:
    """Applies one object after the other, and waits for definitions to be established."""

    dynamic: DynamicClient
    namespace: str
    server_side: bool
    force: bool
    field_manager: str
    dry_run: bool
    defined: dict[tuple[str, str], Resource] = field(default_factory=dict)

    async def apply_all(self, manifests: Iterable[Manifest]) -> list[Unstructured]:
        """Apply objects in order; the first error is raised."""
        applied: list[Unstructured] = []
        for manifest in in_order(manifests):
            obj = Unstructured.from_dict(manifest.content)
            try:
                applied.append(await self.apply(obj))
            except ListWatchError as error:
                place = f" ({manifest.place})" if manifest.place else ""
                error.add_note(f"while applying {obj.describe()}{place}, after {len(applied)} other objects")
                _put_place(error, manifest.place)
                raise
        return applied

    async def client_of(self, obj: Unstructured) -> ResourceClient[Unstructured]:
        """Return the client of an object's resource, in the namespace in which it is applied."""
        resource = self.defined.get((obj.api_version, obj.kind)) or await self._find(obj)
        namespace = (obj.namespace or self.namespace) if resource.namespaced else ""
        return self.dynamic.resource(resource, namespace=namespace)

    async def apply(self, obj: Unstructured) -> Unstructured:
        """Apply one object."""
        client = await self.client_of(obj)
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


def in_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects in the order of their application."""
    return sorted(manifests, key=_rank)


def _rank(manifest: Manifest) -> int:
    kind = Unstructured.from_dict(manifest.content).kind
    return len(_RANKS) + 1 if kind in _LAST_KINDS else _RANKS.get(kind, len(_RANKS))


def _files(path: Path, *, recursive: bool) -> Iterator[Path]:
    if path.is_dir():
        below = path.rglob("*") if recursive else path.iterdir()
        yield from sorted(each for each in below if each.suffix in _SUFFIXES and each.is_file())
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"the path {str(path)!r} does not exist")


def _load(file: Path) -> Iterator[Manifest]:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(file)!r} cannot be read: {error.strerror}") from None
    return read_manifests(text, str(file))
