"""From a method and a URL to what is asked for: `read_target` tells what the URL says, `route` what is served there.

    GET    /api/v1/pods                             list, or watch with ?watch      in all namespaces
    POST   /api/v1/namespaces/NS/pods               create
    PUT    /apis/apps/v1/namespaces/NS/deployments/NAME/scale       update a subresource
    DELETE /api/v1/namespaces/NAME                  delete the Namespace itself
    GET    /api/v1/watch/namespaces/NS/pods         watch, as old clients ask for it

Authorization goes by the first step alone: who may not ask is not told what is served. `non_resources` answers where a
path leads to no resource.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from listwatch.errors import (
    BadRequestError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    SelectorError,
    StatusDetails,
    UnsupportedMediaTypeError,
)
from listwatch.meta import Resource
from listwatch.selectors import FieldSelector, Operator
from listwatch.server.codec.decoding import media_type
from listwatch.server.json_tree import quoted
from listwatch.server.patch.patching import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from listwatch.server.requests import ANONYMOUS, APIRequest, NonResourceRequest, Query, User
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACE_SUBRESOURCES = ("status", "finalize")

_ON_COLLECTIONS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_ON_ALL_NAMESPACES = {"GET": "list"}
_ON_OBJECTS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_SUBRESOURCES = {"POST": "create", **_ON_OBJECTS}
_ON_WATCHES = {"GET": "watch"}

# Doors to something else than an object; through the last one goes any path.
_CONNECTIONS = ("exec", "attach", "portforward", "proxy")
_PROXY = "proxy"

# What is longer is not worth remembering: few clients ask for it again.
_SHORT = 256
_MAX_REMEMBERED = 1024

_PATCHES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH})
_PRODUCED = ("application/json", "application/yaml", "application/json;stream=watch")


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """What a method and a URL say, whether that is served or not; what authorizers, faults and logs go by.

    A Namespace is in itself here: its name is also its namespace. A list or watch of one object by field selector has
    that object's name.
    """

    method: str
    path: str
    query: Query = field(default_factory=Query)
    verb: str = ""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


# --- What the URL says ------------------------------------------------------------------------------------------------


def read_target(method: str, target: str) -> RequestInfo:
    """Read the target of an HTTP request, still percent-encoded; raises BadRequestError where it cannot be decoded."""
    return _read_again(method, target) if len(target) <= _SHORT else _read(method, target)


def _read(method: str, target: str) -> RequestInfo:
    path, query = _split_target(target)
    match _segments(path):
        case ["api", version, *rest] if rest:
            return _read_resource(method, path, query, "", version, rest)
        case ["apis", group, version, *rest] if rest:
            return _read_resource(method, path, query, group, version, rest)
        case _:
            return RequestInfo(method, path, query, verb=method.lower())


# Clients ask for the same again and again, and to read it anew is a twentieth of a small write.
_read_again = lru_cache(maxsize=_MAX_REMEMBERED)(_read)


def _split_target(target: str) -> tuple[str, Query]:
    # What is no UTF-8 comes as surrogates, which could not be sent back in an answer.
    text = target.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if not text.startswith("/") and "://" in text:
        text = "/" + text.partition("://")[2].partition("/")[2]
    path, _, query = text.partition("?")
    if _BROKEN_ESCAPE.search(path):
        raise BadRequestError(f"cannot decode the path {path!r}: after a '%' go two hexadecimal digits")
    # A slash is a slash however it is written: segments are told apart only after decoding.
    return unquote_to_bytes(path).decode("utf-8", "replace"), Query.parse(query)


def _segments(path: str) -> list[str]:
    inner = path.strip("/")
    return inner.split("/") if inner else []


def _read_resource(method: str, path: str, query: Query, group: str, version: str, parts: list[str]) -> RequestInfo:
    verb = _VERBS.get(method, "")
    if parts[0] == "watch" and len(parts) > 1:
        verb, parts = "watch", parts[1:]
    namespace = parts[1] if parts[0] == "namespaces" and len(parts) > 1 else ""
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:
        parts = parts[2:]
    resource, name, subresource, *_ = [*parts, "", ""]
    if not name:
        verb, name = _verb_on_collection(verb, query), _selected_name(verb, query)
    return RequestInfo(method, path, query, verb, True, group, version, namespace, resource, subresource, name)


def _verb_on_collection(verb: str, query: Query) -> str:
    if verb == "get":
        return "watch" if query.flag("watch") else "list"
    return "deletecollection" if verb == "delete" else verb


def _selected_name(verb: str, query: Query) -> str:
    """The name of the one object that a list or watch asks for."""
    if verb != "get":
        return ""
    try:
        terms = FieldSelector.parse(query.text("fieldSelector")).requirements
    except SelectorError:
        return ""
    names = (term.value for term in terms if term.field == "metadata.name" and term.operator is Operator.EQUALS)
    return next((name for name in names if not problems_of_segment(name)), "")


def problems_of_segment(name: str) -> list[str]:
    """Why a name cannot be a part of a path."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in name]


# --- What is served there ---------------------------------------------------------------------------------------------


def nothing_there() -> NotFoundError:
    return NotFoundError("the server could not find the requested resource", details=StatusDetails())


def method_not_allowed() -> MethodNotAllowedError:
    message = "the server does not allow this method on the requested resource"
    return MethodNotAllowedError(message, details=StatusDetails())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a path leads: a collection, in one namespace or in all, an object, or a subresource of it."""

    resource: Resource
    namespace: str
    parts: tuple[str, ...] = ()  # the object's name, its subresource, and what follows
    everywhere: bool = False

    @property
    def name(self) -> str:
        return self.parts[0] if self.parts else ""

    @property
    def subresource(self) -> str:
        return self.parts[1] if len(self.parts) > 1 else ""

    def verb(self, method: str, *, old_watch: bool) -> str:
        """What a method means there; raises NotFoundError if no method means anything, else MethodNotAllowedError."""
        methods, verbs = self._offers(old_watch=old_watch)
        verb = methods.get(method)
        if verb in verbs:
            return verb
        raise nothing_there() if verbs.isdisjoint(methods.values()) else method_not_allowed()

    def _offers(self, *, old_watch: bool) -> tuple[Mapping[str, str], frozenset[str]]:
        """What methods mean in such a place, and which verbs there are in this one."""
        if len(self.parts) < 2:
            plain = _ON_OBJECTS if self.parts else _ON_ALL_NAMESPACES if self.everywhere else _ON_COLLECTIONS
            return _ON_WATCHES if old_watch else plain, frozenset(self.resource.verbs)
        subresource = self.resource.subresource(self.subresource)
        if old_watch or subresource is None or (len(self.parts) > 2 and subresource.name != _PROXY):
            return {}, frozenset()
        return _ON_SUBRESOURCES, frozenset(subresource.verbs)


def route(
    info: RequestInfo,
    registry: Registry,
    *,
    headers: Mapping[str, str] | None = None,
    user: User = ANONYMOUS,
    body: bytes = b"",
) -> APIRequest | NonResourceRequest:
    """Find what is served at a URL; raises NotFoundError, MethodNotAllowedError or, for bad names, BadRequestError."""
    headers = headers or {}
    content_type, accept = headers.get("Content-Type", ""), headers.get("Accept", "")
    asked = info.method, info.path, info.verb
    known: tuple[_Place, str] | None = registry.route_cache.get(asked)
    if not known and not _leads_to_resources(info, registry):
        return _non_resource(info, headers, user)
    place, verb = known or _find(info, registry)
    if verb == "patch":
        _check_patch(place.resource, content_type)
    _check_accepted(accept)
    if not known:
        _check_names(place, verb)
        _remember(asked, place, verb, registry)
    return APIRequest(
        verb=verb,
        resource=place.resource,
        namespace=place.namespace,
        name=place.name,
        subresource=place.subresource,
        subpath=_subpath(place, info.path),
        query=info.query,
        body=body,
        content_type=content_type,
        accept=accept,
        user=user,
        method=info.method,
        path=info.path,
        headers=headers,
    )


def _remember(asked: tuple[str, str, str], place: _Place, verb: str, registry: Registry) -> None:
    """Collections are few and asked for again, objects are many. To find one anew is a twentieth of a small write."""
    if not place.parts and len(asked[1]) <= _SHORT:
        if len(registry.route_cache) >= _MAX_REMEMBERED:
            registry.route_cache.clear()
        registry.route_cache[asked] = place, verb


def _non_resource(info: RequestInfo, headers: Mapping[str, str], user: User) -> NonResourceRequest:
    return NonResourceRequest(
        path=info.path,
        parts=tuple(_segments(info.path)),
        method=info.method,
        query=info.query,
        accept=headers.get("Accept", ""),
        user=user,
        headers=headers,
    )


def _leads_to_resources(info: RequestInfo, registry: Registry) -> bool:
    # An unknown group is answered as an unknown path is, and so is a path with more than one slash in front.
    if not info.is_resource or not info.path.startswith(("/api/", "/apis/")):
        return False
    if registry.is_custom_only(info.group):
        # Of a group of custom resources, what is not served is not known either.
        return registry.lookup(info.group, info.version, info.resource) is not None
    return bool(registry.versions(info.group))


def _find(info: RequestInfo, registry: Registry) -> tuple[_Place, str]:
    parts = _segments(info.path)[3 if info.group else 2 :]
    old_watch = parts[0] == "watch"
    place = _place_of(parts[old_watch:], info.group, info.version, registry)
    if place is None:
        raise nothing_there()
    return place, _exact_verb(place.verb(info.method, old_watch=old_watch), place, info.query)


def _place_of(parts: list[str], group: str, version: str, registry: Registry) -> _Place | None:
    def served(plural: str) -> Resource | None:
        return registry.lookup(group, version, plural)

    match parts:
        case ["namespaces", namespace, plural, *rest] if (found := served(plural)) and found.namespaced:
            return _Place(found, namespace, tuple(rest))
        case [plural, *rest] if (found := served(plural)) and (not found.namespaced or not rest):
            return _Place(found, "", tuple(rest), everywhere=found.namespaced)
        case _:
            return None


def _exact_verb(verb: str, place: _Place, query: Query) -> str:
    if place.subresource in _CONNECTIONS:
        return "connect"
    if verb == "list" and query.flag("watch"):
        if "watch" not in place.resource.verbs:
            raise MethodNotAllowedError.of(place.resource.plural, "watch", group=place.resource.group)
        return "watch"
    return verb


# A client sends the same header again and again.
@lru_cache(maxsize=256)
def _check_accepted(accept: str) -> None:
    """Of what a resource can be written as, something must be wanted by its full name, or anything at all."""
    wanted = {clause.partition(";")[0].strip() for clause in accept.split(",")}
    if accept and wanted.isdisjoint(("*/*", *_PRODUCED)):
        offers = ", ".join(_PRODUCED)
        message = f"406: Not Acceptable\n\nAvailable representations: {offers}"
        raise NotAcceptableError(message, details=StatusDetails())


def _check_patch(resource: Resource, content_type: str) -> None:
    if media_type(content_type) not in _PATCHES and builtin_schema().type_of(resource.api_version, resource.kind):
        raise UnsupportedMediaTypeError("415: Unsupported Media Type", details=StatusDetails())


def _check_names(place: _Place, verb: str) -> None:
    if place.parts and not place.name:
        raise BadRequestError("name must be provided")
    if place.resource.namespaced and not place.namespace and verb not in ("list", "watch", "create"):
        raise BadRequestError("Namespace parameter required.")
    for what, text in (("Name", place.name), ("Namespace", place.namespace)):
        if problems := problems_of_segment(text):
            raise BadRequestError(f"{what} parameter invalid: {quoted(text)}: {';'.join(problems)}")


def _subpath(place: _Place, path: str) -> str:
    if place.subresource != _PROXY:
        return ""
    inner = "/".join(("", *place.parts[2:]))
    return f"{inner}/" if path.endswith("/") and not inner.endswith("/") else inner
