"""The paths of resources, with the operations and parameters that clients read: validation, dry-run, selectors.

The deprecated paths of watches, `/api/v1/watch/…`, are left out, and so are those of connections, such as exec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind, Resource
from listwatch.server.openapi.definitions import GVK, BuiltinDefinitions, custom_name, gvk_extension

__all__ = ["paths_of"]

_LIST_PARAMETERS = (
    "allowWatchBookmarks:boolean continue fieldSelector labelSelector limit:integer resourceVersion "
    "resourceVersionMatch sendInitialEvents:boolean shardSelector timeoutSeconds:integer watch:boolean"
)
_WRITE_PARAMETERS = "dryRun fieldManager fieldValidation"
_DELETE_PARAMETERS = (
    "dryRun gracePeriodSeconds:integer ignoreStoreReadErrorWithClusterBreakingPotential:boolean "
    "orphanDependents:boolean propagationPolicy"
)
_COLLECTION_PARAMETERS = " ".join(
    sorted({*_LIST_PARAMETERS.split(), *_DELETE_PARAMETERS.split()} - {"allowWatchBookmarks:boolean", "watch:boolean"})
)
_PARAMETERS = {
    "list": _LIST_PARAMETERS,
    "get": "",
    "post": _WRITE_PARAMETERS,
    "put": _WRITE_PARAMETERS,
    "patch": f"{_WRITE_PARAMETERS} force:boolean",
    "delete": _DELETE_PARAMETERS,
    "deletecollection": _COLLECTION_PARAMETERS,
}
_METHODS = {"list": "get", "deletecollection": "delete"}
_ACTIONS = {"create": "post", "update": "put"}
_CODES = {
    "post": ("200", "201", "202"),
    "put": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
}
_ID_VERBS = {"get": "read", "put": "replace", "post": "create", "deletecollection": "delete"}
_EVERYWHERE = "ForAllNamespaces"
_TYPES = ("application/json", "application/yaml")
_STREAM_TYPES = ("application/json;stream=watch",)
_PATCH_TYPES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
# Only built-in kinds have these: kubectl reads from the document whether it can send a strategic merge patch.
_BUILTIN_TYPES = ("application/vnd.kubernetes.protobuf",)
_BUILTIN_STREAM_TYPES = ("application/vnd.kubernetes.protobuf;stream=watch",)
_BUILTIN_PATCH_TYPES = ("application/strategic-merge-patch+json",)


def paths_of(resource: Resource, definitions: BuiltinDefinitions) -> Iterator[tuple[str, JSONObject]]:
    """Iterate over the paths of a resource, with their operations."""
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    outer = ("namespace", "pretty") if resource.namespaced else ("pretty",)
    operations = _Operations(resource, definitions)
    collection, item = f"{base}{scope}/{resource.plural}", f"{base}{scope}/{resource.plural}/{{name}}"
    yield collection, operations.at(resource.verbs, ("list", "post", "deletecollection"), outer)
    if resource.namespaced and "list" in resource.verbs:
        everywhere = operations.at(("list",), ("list",), ("pretty",), suffix=_EVERYWHERE)
        yield f"{base}/{resource.plural}", everywhere
    if any(verb in resource.verbs for verb in ("get", "update", "patch", "delete")):
        yield item, operations.at(resource.verbs, ("get", "put", "patch", "delete"), ("name", *outer))
    for each in resource.subresources:
        if each.gvk != resource.gvk and definitions.refer(each.gvk.api_version, each.gvk.kind) is None:
            continue  # a connection, whose options have no schema
        suffix = each.name[:1].upper() + each.name[1:]
        found = operations.at(
            each.verbs, ("get", "post", "put", "patch", "delete"), ("name", *outer), suffix=suffix, gvk=each.gvk
        )
        yield f"{item}/{each.name}", found


class _Operations:
    """Makes the operations of one resource."""

    def __init__(self, resource: Resource, definitions: BuiltinDefinitions) -> None:
        self._resource = resource
        self._definitions = definitions
        is_builtin = definitions.refer(resource.gvk.api_version, resource.kind) is not None
        self._types = _TYPES + (_BUILTIN_TYPES if is_builtin else ())
        self._stream_types = _STREAM_TYPES + (_BUILTIN_STREAM_TYPES if is_builtin else ())
        self._patch_types = _PATCH_TYPES + (_BUILTIN_PATCH_TYPES if is_builtin else ())

    def at(
        self,
        verbs: Sequence[str],
        actions: Sequence[str],
        parameters: Sequence[str],
        *,
        suffix: str = "",
        gvk: GroupVersionKind | None = None,
    ) -> JSONObject:
        """Return the operations of a path: those of the actions that the verbs allow."""
        offered = {_ACTIONS.get(verb, verb) for verb in verbs}
        tree: JSONObject = {
            _METHODS.get(action, action): self._operation(action, suffix, gvk or self._resource.gvk)
            for action in actions
            if action in offered
        }
        return {**tree, "parameters": [self._parameter(name) for name in sorted(parameters)]}

    def _operation(self, action: str, suffix: str, gvk: GroupVersionKind) -> JSONObject:
        tree: JSONObject = {
            "operationId": self._operation_id(action, suffix),
            "parameters": [self._parameter(each) for each in _PARAMETERS[action].split()],
            "responses": {
                **{code: self._response(action, gvk) for code in _CODES.get(action, ("200",))},
                "401": {"description": "Unauthorized"},
            },
            "tags": [self._tag()],
            "x-kubernetes-action": action,
            GVK: gvk_extension(gvk),
        }
        schema, types = self._body(action, gvk)
        is_required = action not in ("delete", "deletecollection")
        if self._definitions.is_v3:
            if schema:
                body: JSONObject = {"content": {each: {"schema": schema} for each in types}}
                tree["requestBody"] = {**body, "required": True} if is_required else body
            return tree
        if schema:
            inline: JSONObject = {"in": "body", "name": "body", "schema": schema}
            parameters = tree["parameters"]
            assert isinstance(parameters, list)
            parameters.append({**inline, "required": True} if is_required else inline)
        produced = self._types + (self._stream_types if action == "list" else ())
        return {**tree, "consumes": [*(types or ("*/*",))], "produces": [*produced], "schemes": ["https"]}

    def _operation_id(self, action: str, suffix: str) -> str:
        resource = self._resource
        version = resource.version[:1].upper() + resource.version[1:]
        scope = "Namespaced" if resource.namespaced and suffix != _EVERYWHERE else ""
        collection = "Collection" if action == "deletecollection" else ""
        return (
            f"{_ID_VERBS.get(action, action)}{_group_name(resource)}{version}{collection}{scope}{resource.kind}{suffix}"
        )

    def _tag(self) -> str:
        name = _group_name(self._resource)
        return f"{name[:1].lower()}{name[1:]}_{self._resource.version}"

    def _response(self, action: str, gvk: GroupVersionKind) -> JSONObject:
        match action:
            case "list":
                schema = self._schema(gvk, self._resource.list_kind)
            case "deletecollection" | "delete":
                schema = self._definitions.refer_to("meta.v1.Status")
            case _:
                schema = self._schema(gvk, gvk.kind)
        if not self._definitions.is_v3:
            return {"description": "OK", "schema": schema}
        types = self._types + (self._stream_types if action == "list" else ())
        return {"description": "OK", "content": {each: {"schema": schema} for each in types}}

    def _body(self, action: str, gvk: GroupVersionKind) -> tuple[JSONObject, tuple[str, ...]]:
        """Return the schema of the request body, empty if there is none, and the media types of it."""
        match action:
            case "post" | "put":
                return self._schema(gvk, gvk.kind), ("*/*",)
            case "patch":
                return self._definitions.refer_to("meta.v1.Patch"), self._patch_types
            case "delete" | "deletecollection":
                return self._definitions.refer_to("meta.v1.DeleteOptions"), ("*/*",)
            case _:
                return {}, ()

    def _parameter(self, text: str) -> JSONObject:
        name, _, type_ = text.partition(":")
        where: JSONObject = {"in": "path", "required": True} if name in ("name", "namespace") else {"in": "query"}
        schema: JSONObject = {"type": type_ or "string", "uniqueItems": True}
        return {**where, "name": name, **({"schema": schema} if self._definitions.is_v3 else schema)}

    def _schema(self, gvk: GroupVersionKind, kind: str) -> JSONObject:
        found = self._definitions.refer(gvk.api_version, kind)
        return found or {"$ref": self._definitions.prefix + custom_name(self._resource, kind)}


def _group_name(resource: Resource) -> str:
    """The group as in the names of operations: Core, Apps, RbacAuthorization, ComExample."""
    group = resource.group
    words = group.removesuffix(".k8s.io").split(".") if group.endswith(".k8s.io") else [*reversed(group.split("."))]
    return "".join(word[:1].upper() + word[1:] for word in words) or "Core"
