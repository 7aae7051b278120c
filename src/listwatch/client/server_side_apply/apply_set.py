"""Applies a set of objects, and deletes those that an earlier apply of the set made and this one lacks.

The set is an ApplySet as kubectl uses it: a ConfigMap names the kinds and namespaces of the members, and each member
has a label with the id of the set. The ConfigMap is extended before anything is applied, and reduced at the end, so an
interrupted apply loses no member.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from listwatch._version import __version__
from listwatch.client.manifests import Manifest, ManifestApplier
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.server_side_apply.apply_object import open_applier
from listwatch.errors import ConflictError, MethodNotAllowedError, NoMatchError, NotFoundError, UsageError
from listwatch.json_value import JSONObject
from listwatch.objects.unstructured import Unstructured

__all__ = ["ApplySet", "ApplySetResult", "apply_set", "apply_set_id"]

_PREFIX = "applyset.kubernetes.io"
_ID, _PART_OF = f"{_PREFIX}/id", f"{_PREFIX}/part-of"
_TOOLING, _KINDS = f"{_PREFIX}/tooling", f"{_PREFIX}/contains-group-kinds"
_NAMESPACES = f"{_PREFIX}/additional-namespaces"
_TOOL = "listwatch"
_NAMESPACE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

_Member = tuple[ResourceClient[Unstructured], Unstructured]


@dataclass(slots=True)
class ApplySetResult:
    """The objects that were applied, as stored, and those that were deleted because the set no longer has them."""

    applied: list[Unstructured] = field(default_factory=list)
    pruned: list[Unstructured] = field(default_factory=list)


async def apply_set(
    client: ClientSet | DynamicClient,
    objects: Iterable[Mapping[str, object]],
    *,
    name: str,
    namespace: str = "",
    field_manager: str = "",
    force: bool = False,
    dry_run: bool = False,
) -> ApplySetResult:
    """Apply all objects server-side, then delete what an earlier apply of the set `name` made and `objects` lacks.

    The set is kept in a ConfigMap of that name in `namespace`, or else in that of the configuration. Objects that other
    programs made are never deleted. An error of an apply is raised before anything is deleted. With `dry_run`, nothing
    is written, and the result has what would be.
    """
    async with open_applier(
        client, namespace=namespace, field_manager=field_manager, force=force, dry_run=dry_run
    ) as applier:
        found = ApplySet(applier, name)
        members = await found.begin(objects)
        applied = await applier.apply_all([Manifest(each.to_dict()) for each in members])
        pruned = await found.finish({each.uid for each in applied})
        return ApplySetResult(applied, [each for _, each in pruned])


def apply_set_id(name: str, namespace: str) -> str:
    """Return the id of a set whose parent is a ConfigMap, as kubectl makes it."""
    digest = hashlib.sha256(f"{name}.{namespace}.ConfigMap.".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


class ApplySet:
    """A set of objects: `begin`, apply the members that it returns, and `finish`.

    Without `finish`, because a member could not be applied, nothing is deleted and no member is lost.
    """

    def __init__(self, applier: ManifestApplier, name: str) -> None:
        if not name:
            raise UsageError("the set needs a name, under which later applies find its objects")
        self._applier = applier
        self._name = name
        self._namespace = applier.namespace or "default"
        self._id = apply_set_id(name, self._namespace)
        self._parents: ResourceClient[Unstructured] = applier.dynamic.resource(
            "v1", "ConfigMap", namespace=self._namespace
        )
        self._known: tuple[set[str], set[str]] = set(), set()
        self._wanted: tuple[set[str], set[str]] = set(), set()

    async def begin(self, objects: Iterable[Mapping[str, object]]) -> list[Unstructured]:
        """Let the set contain what it had and what it will have; return the members with the label of the set."""
        members = [self._labelled(each) for each in objects]
        self._known = await self._read_parent()
        self._wanted = self._scope_of(members)
        await self._write_parent(self._known[0] | self._wanted[0], self._known[1] | self._wanted[1])
        return members

    async def finish(self, kept: set[str]) -> list[_Member]:
        """Delete the members whose uids are not in `kept`, and return them; then the set contains what was applied."""
        pruned = await self.obsolete(kept)
        for client, each in pruned:
            await self._delete(client, each)
        await self._write_parent(*self._wanted)
        return pruned

    async def obsolete(self, kept: set[str]) -> list[_Member]:
        """Return what `finish` would delete, with the clients of their resources."""
        kinds, namespaces = self._known
        found: dict[str, _Member] = {}  # by uid: two kinds may be one resource
        for kind in sorted(kinds):
            for client in await self._clients_of(kind, namespaces | {self._namespace}):
                for each in await self._members(client, kind):
                    if each.uid not in kept and not each.metadata.deletion_timestamp:
                        found.setdefault(each.uid, (client, each))
        return [*found.values()]

    async def _members(self, client: ResourceClient[Unstructured], kind: str) -> Iterable[Unstructured]:
        try:
            return await client.list(label_selector={_PART_OF: self._id})
        except MethodNotAllowedError as error:
            raise self._wrong_parent(_KINDS, kind, "which cannot be listed") from error

    def _labelled(self, obj: Mapping[str, object]) -> Unstructured:
        tree = Unstructured.from_dict(obj).to_dict()
        metadata = {**tree.get("metadata", {})}
        metadata["labels"] = {**(metadata.get("labels") or {}), _PART_OF: self._id}
        return Unstructured.from_dict({**tree, "metadata": metadata})

    def _scope_of(self, members: list[Unstructured]) -> tuple[set[str], set[str]]:
        """Return the kinds of the members, as Kind.group, and their namespaces without that of the set."""
        kinds, namespaces = set(), set()
        for each in members:
            group = each.api_version.rpartition("/")[0]
            kinds.add(f"{each.kind}.{group}" if group else each.kind)
            namespaces.add(each.namespace)
        return kinds, namespaces - {"", self._namespace}

    async def _read_parent(self) -> tuple[set[str], set[str]]:
        """Return the kinds and namespaces that the set had before."""
        try:
            parent = await self._parents.get(self._name)
        except NotFoundError:
            return set(), set()
        annotations = parent.metadata.annotations
        tool = annotations.get(_TOOLING, "").partition("/")[0]
        if parent.labels.get(_ID) != self._id or tool != _TOOL:
            found = f"is a set of {tool}" if tool else "is no set of applied objects"
            raise UsageError(f"ConfigMap {self._namespace}/{self._name} {found}; use another name, or delete it first")
        kinds, namespaces = _split(annotations.get(_KINDS, "")), _split(annotations.get(_NAMESPACES, ""))
        for name in sorted(namespaces):
            if not _NAMESPACE_NAME.fullmatch(name):
                raise self._wrong_parent(_NAMESPACES, name, "which is not the name of a namespace")
        return kinds, namespaces

    def _wrong_parent(self, annotation: str, value: str, why: str) -> UsageError:
        place = f"the annotation {annotation} of ConfigMap {self._namespace}/{self._name}"
        return UsageError(f"nothing is pruned, because {place} contains {value!r}, {why}; correct the annotation")

    async def _write_parent(self, kinds: set[str], namespaces: set[str]) -> None:
        if self._applier.dry_run:
            return
        parent: JSONObject = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self._name,
                "labels": {_ID: self._id},
                "annotations": {
                    _TOOLING: f"{_TOOL}/v{__version__}",
                    _KINDS: ",".join(sorted(kinds)),
                    _NAMESPACES: ",".join(sorted(namespaces)),
                },
            },
        }
        await self._parents.apply(parent, field_manager=f"{self._applier.field_manager}-applyset", force=True)

    async def _clients_of(self, kind: str, namespaces: set[str]) -> list[ResourceClient[Unstructured]]:
        try:
            resource = await self._applier.dynamic.mapper.resource_for(kind)
        except NoMatchError:
            return []  # its definition was deleted, with all objects
        scopes = sorted(namespaces) if resource.namespaced else [""]
        return [self._applier.dynamic.resource(resource, namespace=each) for each in scopes]

    async def _delete(self, client: ResourceClient[Unstructured], obj: Unstructured) -> None:
        namespace = obj.namespace
        scoped = client.namespace(namespace) if namespace else client
        with suppress(NotFoundError, ConflictError):  # deleted, or replaced by another object of that name
            await scoped.delete(obj.name, uid=obj.uid, propagation_policy="Background", dry_run=self._applier.dry_run)


def _split(text: str) -> set[str]:
    return {*filter(None, text.split(","))}
