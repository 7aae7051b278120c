"""Enforces LimitRanges: fills in what containers request, and rejects pods and claims outside of the limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from listwatch.errors import ForbiddenError
from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.json_tree import copied, ensure_object, object_at, objects_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.quota.usage import pod_total, quantities
from listwatch.server.requests import APIRequest

__all__ = ["LIMIT_RANGES", "LimitRanges"]

LIMIT_RANGES = "/limitranges"
_ANNOTATION = "kubernetes.io/limit-ranger"
_NO_AMOUNTS: Mapping[str, Quantity] = {}

Amounts = Mapping[str, Quantity]


class LimitRanges:
    """The limits of all namespaces."""

    def __init__(self, objects: ObjectStore) -> None:
        self._storage = objects.storage
        self._known: dict[str, list[JSONObject]] | None = None

    def reset(self) -> None:
        """Read the objects again with the next write."""
        self._known = None

    def _of(self, namespace: str) -> list[JSONObject]:
        if self._known is None:
            self._known = {}
            for stored in self._storage.scan(LIMIT_RANGES):
                self._known.setdefault(stored.key.namespace, []).append(object_at(decode_stored(stored), "spec"))
        return self._known.get(namespace, [])

    def mutate(self, request: APIRequest, new: JSONObject, old: JSONObject | None) -> JSONObject:
        """Return a new pod with the defaults of its namespace for requests and limits."""
        ranges = self._of(request.namespace)
        if not ranges or old is not None or request.subresource or request.resource.group_resource != ("", "pods"):
            return new
        pod = copied(new)
        for each in ranges:
            _set_defaults(pod, each)
        return pod

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None:
        """Raises ForbiddenError."""
        ranges = self._of(request.namespace)
        if not ranges or new is None or "deletionTimestamp" in object_at(old, "metadata"):
            return
        check = self._check(request, old)
        for each in ranges if check else ():
            assert check is not None
            problems = [*dict.fromkeys(check(new, each))]
            if problems:
                why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                resource = request.resource
                name = text_at(new, "metadata", "name")
                raise ForbiddenError.of(resource.plural, name, why, group=resource.group)

    def _check(
        self, request: APIRequest, old: JSONObject | None
    ) -> Callable[[JSONObject, JSONObject], Iterator[str]] | None:
        match request.resource.group_resource, request.subresource:
            case ("", "pods"), "" if old is None:
                return _pod_problems
            case ("", "pods"), "resize":
                return _pod_problems
            case ("", "persistentvolumeclaims"), "":
                return _claim_problems
        return None


def _limits(spec: JSONObject, type_: str) -> list[JSONObject]:
    return [each for each in objects_at(spec, "limits") if each.get("type") == type_]


def _set_defaults(pod: JSONObject, spec: JSONObject) -> None:
    requests: JSONObject = {}
    limits: JSONObject = {}
    for limit in _limits(spec, "Container"):
        requests |= object_at(limit, "defaultRequest")
        limits |= object_at(limit, "default")
    notes: list[str] = []
    for name, kind in (("containers", "container"), ("initContainers", "init container")):
        for container in objects_at(pod, "spec", name):
            for field, defaults, what in (("requests", requests, "request"), ("limits", limits, "limit")):
                present = object_at(container, "resources", field)
                if missing := sorted(defaults.keys() - present.keys()):
                    amounts = ensure_object(container, "resources", field)
                    amounts.update({each: defaults[each] for each in missing})
                    notes.append(f"{', '.join(missing)} {what} for {kind} {text_at(container, 'name')}")
    if notes:
        annotations = ensure_object(pod, "metadata", "annotations")
        annotations[_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"


def _pod_problems(pod: JSONObject, spec: JSONObject) -> Iterator[str]:
    pod_spec = object_at(pod, "spec")
    containers = [*objects_at(pod_spec, "containers"), *objects_at(pod_spec, "initContainers")]
    for limit in objects_at(spec, "limits"):
        match limit.get("type"):
            case "Container":
                for each in containers:
                    requests, limits = quantities(each, "requests"), quantities(each, "limits")
                    yield from _problems(limit, "Container", requests, limits)
            case "Pod":
                requests = pod_total(pod_spec, lambda each: quantities(each, "requests"))
                limits = pod_total(pod_spec, lambda each: quantities(each, "limits"))
                yield from _problems(limit, "Pod", requests, limits)


def _problems(limit: JSONObject, type_: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in _amounts(limit, "min"):
        yield from _below(type_, name, least, requests, limits)
    for name, most in _amounts(limit, "max"):
        usage = f"maximum {name} usage per {type_} is {most}"
        if name not in limits:
            yield f"{usage}.  No limit is specified"
        elif limits[name] > most:
            yield f"{usage}, but limit is {limits[name]}"
        elif name in requests and requests[name] > most:
            yield f"{usage}, but request is {requests[name]}"
    for name, ratio in _amounts(limit, "maxLimitRequestRatio"):
        shown = f"{name} max limit to request ratio per {type_} is {ratio}"
        if not requests.get(name):
            yield f"{shown}, but no request is specified or request is 0"
        elif not limits.get(name):
            yield f"{shown}, but no limit is specified or limit is 0"
        elif (found := limits[name].value / requests[name].value) > ratio.value:
            yield f"{shown}, but provided ratio is {float(found):f}"


def _below(type_: str, name: str, least: Quantity, requests: Amounts, limits: Amounts) -> Iterator[str]:
    usage = f"minimum {name} usage per {type_} is {least}"
    if name not in requests:
        yield f"{usage}.  No request is specified"
    elif requests[name] < least:
        yield f"{usage}, but request is {requests[name]}"
    elif name in limits and limits[name] < least:
        yield f"{usage}, but limit is {limits[name]}"


def _claim_problems(claim: JSONObject, spec: JSONObject) -> Iterator[str]:
    requests = quantities(object_at(claim, "spec"), "requests")
    for limit in _limits(spec, "PersistentVolumeClaim"):
        for name, least in _amounts(limit, "min"):
            yield from _below("PersistentVolumeClaim", name, least, requests, _NO_AMOUNTS)
        for name, most in _amounts(limit, "max"):
            usage = f"maximum {name} usage per PersistentVolumeClaim is {most}"
            if name not in requests:
                yield f"{usage}.  No request is specified"
            elif requests[name] > most:
                yield f"{usage}, but request is {requests[name]}"


def _amounts(limit: JSONObject, field: str) -> list[tuple[str, Quantity]]:
    return [(name, Quantity(str(amount))) for name, amount in sorted(object_at(limit, field).items())]
