"""Turns a method and a URL into a request: `read_target` reads the URL, `route` finds the resource that it names.

    GET    /api/v1/pods                             list, or watch with ?watch      in all namespaces
    POST   /api/v1/namespaces/NS/pods               create
    PUT    /apis/apps/v1/namespaces/NS/deployments/NAME/scale       update a subresource
    DELETE /api/v1/namespaces/NAME                  delete the Namespace itself
    GET    /api/v1/watch/namespaces/NS/pods         watch, in the form of old clients

Authorization uses the result of `read_target` only, so that an unauthorized client does not learn what is served.
`non_resources` responds to requests for paths without a resource.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
from listwatch.server.patch.patching import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    check_patch_type,
)
from listwatch.server.requests import ANONYMOUS, APIRequest, NonResourceRequest, Query, User
from listwatch.server.rules.checks import path_segment
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACE_SUBRESOURCES = ("status", "finalize")

_ON_COLLECTIONS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_ON_ALL_NAMESPACES = {"GET": "list"}
_ON_OBJECTS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_SUBRESOURCES = {"POST": "create", **_ON_OBJECTS}
_ON_PROXIES = {**_ON_SUBRESOURCES, "HEAD": "get", "OPTIONS": "get"}
_ON_WATCHES = {"GET": "watch"}
_NAMED_VERBS = ("get", "update", "patch", "delete")

# Subresources that connect to something else; the last one takes any path.
_CONNECTIONS = ("exec", "attach", "portforward", "proxy")
_PROXY = "proxy"

MAX_TERMS = 1000
"""The terms of a selector: each of them is checked for each object."""

# Longer targets and headers are not cached, because few clients repeat them, and the caches would be large.
_SHORT = 256
_MAX_CACHED = 1024

_PATCHES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH})
_PRODUCED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """A request as parsed from its method and URL, for authorizers, faults and the request log; it may not be served.

    A Namespace has its name also as namespace. A list or watch of one object by field selector has its name.
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


# --- URLs -------------------------------------------------------------------------------------------------------------


def read_target(method: str, target: str) -> RequestInfo:
    """Read the percent-encoded target of an HTTP request; raises BadRequestError if it cannot be decoded."""
    return _read_cached(method, target) if len(target) <= _SHORT else _read(method, target)


def _read(method: str, target: str) -> RequestInfo:
    path, query = _split_target(target)
    match _segments(path):
        case ["api", version, *rest] if rest:
            return _read_resource(method, path, query, "", version, rest)
        case ["apis", group, version, *rest] if rest:
            return _read_resource(method, path, query, group, version, rest)
        case _:
            return RequestInfo(method, path, query, verb=method.lower())


# Clients repeat their requests, and reading a target takes a twentieth of the time of a small write.
_read_cached = lru_cache(maxsize=_MAX_CACHED)(_read)


def _split_target(target: str) -> tuple[str, Query]:
    # Invalid UTF-8 arrives as surrogates, which could not be encoded in a response.
    text = target.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if not text.startswith("/") and "://" in text:
        text = "/" + text.partition("://")[2].partition("/")[2]
    path, _, query = text.partition("?")
    if _BROKEN_ESCAPE.search(path):
        raise BadRequestError(f"cannot decode the path {path!r}: a '%' must be followed by two hexadecimal digits")
    # Segments are split after decoding, because an encoded slash counts as a slash.
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
    """Return the name of the only object that a list or watch can select."""
    selector = query.text("fieldSelector")
    if verb != "get" or selector.count(",") > MAX_TERMS:
        return ""
    try:
        terms = FieldSelector.parse(selector).requirements
    except SelectorError:
        return ""
    names = (term.value for term in terms if term.field == "metadata.name" and term.operator is Operator.EQUALS)
    return next((name for name in names if not path_segment(name)), "")


# --- Resources --------------------------------------------------------------------------------------------------------


def resource_not_found() -> NotFoundError:
    return NotFoundError("the server could not find the requested resource", details=StatusDetails())


def method_not_allowed() -> MethodNotAllowedError:
    message = "the server does not allow this method on the requested resource"
    return MethodNotAllowedError(message, details=StatusDetails())


@dataclass(frozen=True, slots=True)
class _Place:
    """The target of a path: a collection in one namespace or all, an object, or a subresource of it."""

    resource: Resource
    namespace: str
    parts: tuple[str, ...] = ()  # the object's name, its subresource, and what follows
    all_namespaces: bool = False

    @property
    def name(self) -> str:
        return self.parts[0] if self.parts else ""

    @property
    def subresource(self) -> str:
        return self.parts[1] if len(self.parts) > 1 else ""

    def verb(self, method: str, *, is_old_watch: bool) -> str:
        """Return the verb of a method; raises NotFoundError if no method is allowed, else MethodNotAllowedError."""
        methods, verbs = self._offers(is_old_watch=is_old_watch)
        verb = methods.get(method)
        if verb in verbs:
            return verb
        raise resource_not_found() if verbs.isdisjoint(methods.values()) else method_not_allowed()

    def _offers(self, *, is_old_watch: bool) -> tuple[Mapping[str, str], frozenset[str]]:
        """Return the verbs of methods on such a path, and the verbs that this resource supports."""
        if len(self.parts) < 2:
            plain = _ON_OBJECTS if self.parts else _ON_ALL_NAMESPACES if self.all_namespaces else _ON_COLLECTIONS
            return _ON_WATCHES if is_old_watch else plain, frozenset(self.resource.verbs)
        subresource = self.resource.subresource(self.subresource)
        if is_old_watch or subresource is None or (len(self.parts) > 2 and subresource.name != _PROXY):
            return {}, frozenset()
        methods = _ON_PROXIES if subresource.name == _PROXY else _ON_SUBRESOURCES
        return methods, frozenset(subresource.verbs)


def route(
    info: RequestInfo,
    registry: Registry,
    *,
    headers: Mapping[str, str] | None = None,
    user: User = ANONYMOUS,
    body: bytes = b"",
) -> APIRequest | NonResourceRequest:
    """Find the resource of a URL; raises NotFoundError, MethodNotAllowedError or BadRequestError."""
    headers = headers or {}
    content_type, accept = headers.get("Content-Type", ""), headers.get("Accept", "")
    key = info.method, info.path, info.verb
    known: tuple[_Place, str] | None = registry.route_cache.get(key)
    if not known and not _names_resource(info, registry):
        return _non_resource(info, headers, user)
    place, verb = known or _find(info, registry)
    if verb == "patch":
        _check_patch(place.resource, content_type)
    # The target of a connection responds in a format of its own.
    if verb != "connect" and not (place.subresource == "log" and "text/plain" in accept):
        _check_accepted(accept, verb, place.resource)
    if not known:
        _check_names(place, verb)
        _cache_route(key, place, verb, registry)
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


def _cache_route(key: tuple[str, str, str], place: _Place, verb: str, registry: Registry) -> None:
    """Cache the routes of collections, which are few; those of objects are many."""
    if not place.parts and len(key[1]) <= _SHORT:
        if len(registry.route_cache) >= _MAX_CACHED:
            registry.route_cache.clear()
        registry.route_cache[key] = place, verb


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


def _names_resource(info: RequestInfo, registry: Registry) -> bool:
    # An unknown group is treated like an unknown path, and so is a path that starts with more than one slash.
    if not info.is_resource or not info.path.startswith(("/api/", "/apis/")):
        return False
    if registry.is_custom_only(info.group):
        # In a group of custom resources, a resource that is not served is an unknown path.
        found = registry.lookup(info.group, info.version, info.resource)
        return found is not None and _is_in_scope(info, found)
    return bool(registry.versions(info.group))


def _is_in_scope(info: RequestInfo, resource: Resource) -> bool:
    """Whether the path has a namespace as the resource requires; only reads may be in all namespaces."""
    if not resource.namespaced:
        return not info.namespace
    return bool(info.namespace) or info.verb in ("list", "watch")


def _find(info: RequestInfo, registry: Registry) -> tuple[_Place, str]:
    parts = _segments(info.path)[3 if info.group else 2 :]
    is_old_watch = parts[0] == "watch"
    place = _place_of(parts[is_old_watch:], info.group, info.version, registry)
    if place is None:
        raise resource_not_found()
    if _is_custom(place.resource):
        return _find_custom(place, info.verb)
    return place, _exact_verb(place.verb(info.method, is_old_watch=is_old_watch), place, info.query)


def _find_custom(place: _Place, verb: str) -> tuple[_Place, str]:
    """Return the target of a request for a custom resource, whose verb does not depend on the rest of the path."""
    resource, verbs = place.resource, place.resource.verbs
    if place.subresource:
        subresource = resource.subresource(place.subresource)
        if subresource is None:
            raise NotFoundError.of(resource.plural, place.name, group=resource.group)
        verbs = subresource.verbs
    if verb not in verbs:
        raise MethodNotAllowedError.of(resource.plural, verb, group=resource.group)
    # The name of a new object is in the body, also if the path has one.
    return replace(place, parts=()) if verb == "create" else place, verb


def _is_custom(resource: Resource) -> bool:
    return builtin_schema().type_of(resource.api_version, resource.kind) is None


def _place_of(parts: list[str], group: str, version: str, registry: Registry) -> _Place | None:
    def served(plural: str) -> Resource | None:
        return registry.lookup(group, version, plural)

    match parts:
        case ["namespaces", namespace, plural, *rest] if (found := served(plural)) and found.namespaced:
            return _Place(found, namespace, tuple(rest))
        case [plural, *rest] if (found := served(plural)) and (not found.namespaced or not rest):
            return _Place(found, "", tuple(rest), all_namespaces=found.namespaced)
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


def _check_accepted(accept: str, verb: str, resource: Resource) -> None:
    """Raise NotAcceptableError unless the header has a supported media type by its full name, or `*/*`.

    Custom resources are checked when the representation is negotiated.
    """
    if _accepts_cached(accept) if len(accept) <= _SHORT else _accepts(accept):
        return
    if builtin_schema().type_of(resource.api_version, resource.kind):
        offers = ", ".join((*_PRODUCED, *_STREAMS) if verb in ("list", "watch") else _PRODUCED)
        message = f"406: Not Acceptable\n\nAvailable representations: {offers}"
        raise NotAcceptableError(message, details=StatusDetails())


def _accepts(accept: str) -> bool:
    wanted = {clause.partition(";")[0].strip() for clause in accept.split(",")}
    return not accept or not wanted.isdisjoint(("*/*", *_PRODUCED))


# A client repeats its headers.
_accepts_cached = lru_cache(maxsize=256)(_accepts)


def _check_patch(resource: Resource, content_type: str) -> None:
    if not _is_custom(resource):
        if media_type(content_type) not in _PATCHES:
            raise UnsupportedMediaTypeError("415: Unsupported Media Type", details=StatusDetails())
    elif media_type(content_type) != APPLY_PATCH:
        check_patch_type(content_type, is_custom=True)


def _check_names(place: _Place, verb: str) -> None:
    if not place.name and (place.parts or verb in _NAMED_VERBS):
        raise BadRequestError("name must be provided")
    if place.resource.namespaced and not place.namespace and verb not in ("list", "watch", "create"):
        raise BadRequestError("Namespace parameter required.")
    for what, text in (("Name", place.name), ("Namespace", place.namespace)):
        if problems := path_segment(text):
            raise BadRequestError(f"{what} parameter invalid: {quoted(text)}: {';'.join(problems)}")


def _subpath(place: _Place, path: str) -> str:
    if place.subresource != _PROXY:
        return ""
    inner = "/".join(("", *place.parts[2:]))
    return f"{inner}/" if path.endswith("/") and not inner.endswith("/") else inner
