"""A write as admission sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey, Resource
from listwatch.server.codec.decoding import decode_options
from listwatch.server.json_tree import copied, object_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.protocol.write_options import delete_options_of
from listwatch.server.requests import APIRequest, kind_of

__all__ = ["Attributes", "attributes_of", "in_version", "request_value"]

_OPERATIONS = {
    "create": "CREATE",
    "update": "UPDATE",
    "patch": "UPDATE",
    "delete": "DELETE",
    "deletecollection": "DELETE",
    "connect": "CONNECT",
}


@dataclass(slots=True)
class Attributes:
    """One write: the request, and the object before and after it, in the version of `resource`.

    `resource` is the requested one, or the version of it that a rule names. Subresources may have objects of their own
    kind, such as an Eviction or the options of a command.
    """

    request: APIRequest
    resource: Resource
    new: JSONObject | None
    old: JSONObject | None
    dry_run: bool
    options: JSONObject | None
    """The options of the request, such as CreateOptions; None for a connection."""
    namespace: JSONObject | None
    """The namespace of the object; None for objects without one."""

    @property
    def operation(self) -> str:
        if self.request.verb == "connect":
            return "CONNECT"
        # An update or an apply of a missing object creates it.
        if self.new is not None and self.old is None:
            return "CREATE"
        return _OPERATIONS.get(self.request.verb, "UPDATE") if self.new is None or self.old is None else "UPDATE"

    @property
    def name(self) -> str:
        if self.request.verb == "deletecollection":
            return ""  # of each object in it too, as in kube-apiserver
        return self.request.name or text_at(self.new or self.old or {}, "metadata", "name")

    @property
    def is_namespace(self) -> bool:
        return self.request.resource.group_resource == ("", "namespaces")


def attributes_of(
    objects: ObjectStore, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool
) -> Attributes:
    """Return the attributes of a write in the requested version."""
    namespace = None
    if request.namespace and request.resource.namespaced:
        namespace = objects.find("/namespaces", ObjectKey("", request.namespace))
    found = Attributes(request, request.resource, new, old, dry_run, None, namespace)
    found.options = _options(found, objects)
    return found


def _options(attributes: Attributes, objects: ObjectStore) -> JSONObject | None:
    request, operation = attributes.request, attributes.operation
    if operation == "CONNECT":
        return None
    query, given = request.query, dict[str, JSON]()
    if operation == "DELETE" and request.body:
        given = decode_options(request.body, request.content_type, "DeleteOptions", objects.schema)
    elif operation == "DELETE":
        given = delete_options_of(query)
    else:
        given = {name: query.text(name) for name in ("fieldManager", "fieldValidation")}
    if operation == "DELETE" and attributes.is_namespace:
        given["preconditions"] = {
            "uid": text_at(attributes.old, "metadata", "uid"),
            **object_at(given, "preconditions"),
        }
    given.setdefault("dryRun", [*query.all("dryRun")])
    kind: JSONObject = {"kind": f"{operation.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
    return {**{name: each for name, each in given.items() if each not in ("", [], None)}, **kind}


def in_version(attributes: Attributes, resource: Resource, objects: ObjectStore) -> Attributes:
    """Return a write in another version of its resource; raises an APIError or WebhookNeededError."""
    if resource == attributes.resource:
        return attributes
    new, old = (
        objects.in_version(copied(each), resource) if each is not None and each["kind"] == resource.kind else each
        for each in (attributes.new, attributes.old)
    )
    return replace(attributes, resource=resource, new=new, old=old)


def request_value(attributes: Attributes) -> JSONObject:
    """Return the AdmissionRequest of a write, without its objects."""
    request, user = attributes.request, attributes.request.user
    extra: JSONObject = {name: [*values] for name, values in user.extra.items()}
    info: JSONObject = {"username": user.name, "uid": user.uid, "groups": [*user.groups], "extra": extra}
    found: JSONObject = {
        "kind": _kind(attributes.resource, request.subresource),
        "resource": _plural(attributes.resource),
        "subResource": request.subresource,
        "requestKind": _kind(request.resource, request.subresource),
        "requestResource": _plural(request.resource),
        "requestSubResource": request.subresource,
        "name": attributes.name,
        "namespace": attributes.name if attributes.is_namespace else request.namespace,
        "operation": attributes.operation,
        "userInfo": {name: value for name, value in info.items() if value},
        "dryRun": attributes.dry_run,
        "options": attributes.options,
    }
    return {name: value for name, value in found.items() if value != ""}


def _kind(resource: Resource, subresource: str) -> JSONObject:
    kind = kind_of(resource, subresource)
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _plural(resource: Resource) -> JSONObject:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}
