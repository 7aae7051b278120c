"""The paths of resources, with their operations and parameters.

    /api/v1/namespaces/{namespace}/pods/{name}            get put patch delete; the parameters name and namespace
    /api/v1/namespaces/{namespace}/pods/{name}/exec       connections: get post
    /api/v1/watch/namespaces/{namespace}/pods             deprecated, and not of custom resources

Operations have no descriptions, and parameters have none either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind, Resource, Subresource
from listwatch.server.openapi.definitions import GVK, BuiltinDefinitions, custom_name, gvk_extension
from listwatch.server.openapi.operation_parts import (
    ANY_TYPES,
    OBJECT_TYPES,
    PROTOBUF_TYPES,
    capitalized,
    group_name,
    responses,
    tag,
    with_types,
)
from listwatch.server.schema.registry import builtin_traits

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
_CONNECTION_PARAMETERS = {
    "attach": "container stderr:boolean stdin:boolean stdout:boolean tty:boolean",
    "exec": "command container stderr:boolean stdin:boolean stdout:boolean tty:boolean",
    "log": "container follow:boolean insecureSkipTLSVerifyBackend:boolean limitBytes:integer previous:boolean "
    "sinceSeconds:integer stream tailLines:integer timestamps:boolean",
    "portforward": "ports:integer",
    "proxy": "path",
}
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
_TEXT_TYPE = "text/plain"
_STREAM_TYPES = ("application/json;stream=watch",)
_PATCH_TYPES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
# Only built-in kinds have these: kubectl reads from the document whether it can send a strategic merge patch.
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
        suffix = capitalized(each.name)
        if each.name in _CONNECTION_PARAMETERS:
            yield from operations.connections(f"{item}/{each.name}", each, suffix, ("name", *outer))
            continue
        found = operations.at(
            each.verbs, ("get", "post", "put", "patch", "delete"), ("name", *outer), suffix=suffix, gvk=each.gvk
        )
        yield f"{item}/{each.name}", found
    if "watch" in resource.verbs and operations.is_builtin:
        watched = f"{base}/watch{scope}/{resource.plural}"
        if resource.namespaced:
            yield f"{base}/watch/{resource.plural}", operations.watch("watchlist", f"List{_EVERYWHERE}", ("pretty",))
        yield watched, operations.watch("watchlist", "List", outer)
        yield f"{watched}/{{name}}", operations.watch("watch", "", ("name", *outer))


class _Operations:
    """Makes the operations of one resource."""

    def __init__(self, resource: Resource, definitions: BuiltinDefinitions) -> None:
        self._resource = resource
        self._definitions = definitions
        self.is_builtin = definitions.refer(resource.gvk.api_version, resource.kind) is not None
        self._types = OBJECT_TYPES + (PROTOBUF_TYPES if self.is_builtin else ())
        self._stream_types = _STREAM_TYPES + (_BUILTIN_STREAM_TYPES if self.is_builtin else ())
        self._patch_types = _PATCH_TYPES + (_BUILTIN_PATCH_TYPES if self.is_builtin else ())
        # A Namespace is returned too, but the documents of the real server do not say so.
        self._returns_deleted = resource.kind != "Namespace" and builtin_traits(resource).returns_deleted

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

    def watch(self, action: str, suffix: str, parameters: Sequence[str]) -> JSONObject:
        """Return the operations of a path that only serves watches."""
        event = self._definitions.refer_to("meta.v1.WatchEvent")
        tree: JSONObject = {
            "operationId": self._operation_id("watch", suffix),
            "responses": responses(self._definitions, ("200",), event, self._types + self._stream_types),
            "tags": [self._tag()],
            "x-kubernetes-action": action,
            GVK: gvk_extension(self._resource.gvk),
        }
        names = sorted([*_LIST_PARAMETERS.split(), *parameters])
        return {
            "get": with_types(self._definitions, tree, self._types + self._stream_types),
            "parameters": [self._parameter(name) for name in names],
        }

    def connections(
        self, path: str, subresource: Subresource, suffix: str, outer: Sequence[str]
    ) -> Iterator[tuple[str, JSONObject]]:
        """Iterate over the paths of a subresource that connects to something else, or of a log."""
        names = [*_CONNECTION_PARAMETERS[subresource.name].split(), *outer]
        if subresource.name == "log":
            types = (_TEXT_TYPE, *self._types)
            yield path, self._texts(("get",), "get", suffix, subresource.gvk, types, names)
            return
        names.remove("pretty")
        methods = [_ACTIONS.get(verb, verb) for verb in subresource.verbs]
        if subresource.name == "proxy":
            methods += ["head", "options"]
        yield path, self._texts(methods, "connect", suffix, subresource.gvk, ANY_TYPES, names)
        if subresource.name == "proxy":
            operations = self._texts(methods, "connect", f"{suffix}WithPath", subresource.gvk, ANY_TYPES, names)
            parameters = operations["parameters"]
            assert isinstance(parameters, list)
            place = next(index for index, each in enumerate(parameters) if each == self._parameter("path"))
            parameters.insert(place, {**self._parameter("name"), "name": "path"})
            yield f"{path}/{{path}}", operations

    def _texts(
        self,
        methods: Iterable[str],
        action: str,
        suffix: str,
        gvk: GroupVersionKind,
        types: Sequence[str],
        parameters: Iterable[str],
    ) -> JSONObject:
        """Return operations whose responses are texts."""
        operations: JSONObject = {}
        for method in sorted(methods):
            tree: JSONObject = {
                "operationId": self._operation_id(action, suffix, method=method if action == "connect" else ""),
                "responses": responses(self._definitions, ("200",), {"type": "string"}, types),
                "tags": [self._tag()],
                "x-kubernetes-action": action,
                GVK: gvk_extension(gvk),
            }
            operations[method] = with_types(self._definitions, tree, types)
        return {**operations, "parameters": [self._parameter(name) for name in sorted(parameters)]}

    def _operation(self, action: str, suffix: str, gvk: GroupVersionKind) -> JSONObject:
        tree: JSONObject = {
            "operationId": self._operation_id(action, suffix),
            "parameters": [self._parameter(each) for each in _PARAMETERS[action].split()],
            "responses": responses(
                self._definitions, _CODES.get(action, ("200",)), self._result(action, gvk), self._produced(action)
            ),
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
        return with_types(self._definitions, tree, self._produced(action), consumed=types or ANY_TYPES)

    def _produced(self, action: str) -> tuple[str, ...]:
        return self._types + (self._stream_types if action == "list" else ())

    def _operation_id(self, action: str, suffix: str, *, method: str = "") -> str:
        resource = self._resource
        version = f"{group_name(resource.group)}{capitalized(resource.version)}"
        verb = f"{_ID_VERBS.get(action, action)}{version}{method.capitalize()}"
        scope = "Namespaced" if resource.namespaced and not suffix.endswith(_EVERYWHERE) else ""
        collection = "Collection" if action == "deletecollection" else ""
        return f"{verb}{collection}{scope}{resource.kind}{suffix}"

    def _tag(self) -> str:
        return f"{tag(self._resource.group)}_{self._resource.version}"

    def _result(self, action: str, gvk: GroupVersionKind) -> JSONObject:
        """Return the schema of what an operation returns."""
        match action:
            case "list":
                return self._schema(gvk, self._resource.list_kind)
            case "deletecollection" | "delete" if action != "delete" or not self._returns_deleted:
                return self._definitions.refer_to("meta.v1.Status")
            case _:
                return self._schema(gvk, gvk.kind)

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
