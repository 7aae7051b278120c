"""The objects that a list or watch selects by labels, fields and shards. `list_options` reads the selectors.

Each resource has a few selectable fields, named by their paths in the stored object or by aliases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from listwatch.api.shard_selector import ShardSelector
from listwatch.errors import BadRequestError
from listwatch.meta import GroupResource, ObjectKey, Resource
from listwatch.selectors import FieldRequirement, FieldSelector, LabelSelector, Operator
from listwatch.server.storage.values import Event, EventType, Stored

# --- The fields -------------------------------------------------------------------------------------------------------

_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"
_DEFAULT_FIELDS = f"{_NAME} {_NAMESPACE}"
_FIELDS = {
    "pods": """
        metadata.name metadata.namespace spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName
        spec.hostNetwork status.phase status.podIP status.podIPs status.nominatedNodeName
    """,
    "events": """
        metadata.name metadata.namespace involvedObject.kind involvedObject.namespace involvedObject.name
        involvedObject.uid involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason
        reportingComponent source type
    """,
    "nodes": "metadata.name spec.unschedulable",
    "namespaces": "metadata.name status.phase",
    "replicationcontrollers": "metadata.name metadata.namespace status.replicas",
    "secrets": "metadata.name metadata.namespace type",
    "services": "metadata.name metadata.namespace spec.clusterIP spec.type",
    "jobs.batch": "metadata.name metadata.namespace status.successful",
    "certificatesigningrequests.certificates.k8s.io": "metadata.name spec.signerName",
    "clustertrustbundles.certificates.k8s.io": "metadata.name spec.signerName",
    "podcertificaterequests.certificates.k8s.io": "metadata.name spec.signerName spec.podName spec.nodeName",
    "resourceslices.resource.k8s.io": "metadata.name spec.nodeName spec.driver",
}
# Aliases of fields.
_ALIASES = {
    "pods": {"spec.host": "spec.nodeName"},
    "events.events.k8s.io": {
        **{
            f"regarding.{name}": f"involvedObject.{name}"
            for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
        },
        "reportingController": "reportingComponent",
        "reason": "reason",
        "type": "type",
    },
}
_ERRORS = {
    "jobs.batch": 'field label "{field}" not supported for Job',
    "resourceslices.resource.k8s.io": "field label not supported for {resource.gvk}: {field}",
}
_DEFAULT_ERROR = "field label not supported: {field}"
_UNLISTED_ERROR = '"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'

# The paths of fields that differ from their names; the first one with a value counts.
_PLACES = {
    "status.podIP": ("status.podIPs.0.ip", "status.podIP"),
    "status.successful": ("status.succeeded",),
    "source": ("source.component", "reportingComponent"),
}
# A missing field is an empty string, except these.
_ZEROS = {"spec.hostNetwork": "false", "spec.unschedulable": "false", "status.replicas": "0", "status.successful": "0"}


def check_fields(
    selector: FieldSelector, resource: Resource, selectable: tuple[str, ...] | None = None
) -> FieldSelector:
    """Return the selector with aliases resolved; raises BadRequestError for a field that is not selectable.

    `selectable` are the fields that a CustomResourceDefinition adds to the name and the namespace.
    """
    return FieldSelector(
        tuple(
            FieldRequirement(_stored_name(each.field, resource, selectable), each.operator, each.value)
            for each in selector.requirements
        )
    )


def _stored_name(field: str, resource: Resource, selectable: tuple[str, ...] | None) -> str:
    name = str(resource.group_resource)
    if selectable is not None:
        if field in (_NAME, *selectable) or (field == _NAMESPACE and resource.namespaced):
            return field
        raise BadRequestError(_DEFAULT_ERROR.format(field=field))
    if stored := _ALIASES.get(name, {}).get(field):
        return stored
    listed = name in _FIELDS or name in _ALIASES
    if field in _FIELDS.get(name, _DEFAULT_FIELDS).split():
        return field
    error = _ERRORS.get(name, _DEFAULT_ERROR if listed else _UNLISTED_ERROR)
    raise BadRequestError(error.format(field=field, resource=resource))


# --- Selectable values ------------------------------------------------------------------------------------------------


class Selectable(NamedTuple):
    """The labels, selectable fields and uid of an object; cached with the object, because many watches use them."""

    labels: Mapping[str, str]
    fields: Mapping[str, str]
    uid: str


@lru_cache(maxsize=1024)
def reader(stored_as: GroupResource, selectable: tuple[str, ...] = ()) -> Callable[[bytes], Selectable]:
    """Return a function that reads these from the bytes of an object of the resource."""
    own = [*selectable] or [name for name in _FIELDS.get(str(stored_as), "").split() if name not in (_NAME, _NAMESPACE)]
    places = {name: _PLACES.get(name, (name,)) for name in own}
    paths = [place.split(".") for choices in places.values() for place in choices]
    decoder = msgspec.json.Decoder(_type_with([["metadata", "labels"], ["metadata", "uid"], *paths]))

    def read(value: bytes) -> Selectable:
        parts = decoder.decode(value)
        fields = {name: _first_text(parts, choices) or _ZEROS.get(name, "") for name, choices in places.items()}
        return Selectable(_walk(parts, "metadata.labels") or {}, fields, _text(_walk(parts, "metadata.uid")))

    return read


def _type_with(paths: Iterable[list[str]]) -> Any:
    """Return a struct type with these paths only, so that the decoder skips the rest."""
    inner: dict[str, list[list[str]]] = {}
    for name, *rest in paths:
        inner.setdefault(name, []).append(rest)
    # A list is decoded completely; `_walk` finds the element.
    types = {
        name: _type_with(rests) | None if all(rest and not rest[0].isdigit() for rest in rests) else Any
        for name, rests in inner.items()
    }
    return msgspec.defstruct("Part", [(name, each, None) for name, each in types.items()])


def _first_text(parts: object, places: tuple[str, ...]) -> str:
    return next(filter(None, (_text(_walk(parts, place)) for place in places)), "")


def _walk(value: object, path: str) -> Any:
    for name in path.split("."):
        match value:
            case dict():
                value = value.get(name)
            case list():
                value = value[int(name)] if len(value) > int(name) else None
            case _:
                value = getattr(value, name, None)
    return value


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int():
            return str(value)
        case _:
            return ""


# --- The selection ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """The objects of one stored resource that a request selects; `fields` is a result of `check_fields`."""

    stored_as: GroupResource
    namespace: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector)
    fields: FieldSelector = field(default_factory=FieldSelector)
    selectable: tuple[str, ...] = ()
    """The selectable fields of a custom resource in the requested version."""
    shards: ShardSelector | None = None

    @property
    def is_everything(self) -> bool:
        """Whether all objects of the namespace are selected."""
        return self.has_no_terms and self.shards is None

    @property
    def has_no_terms(self) -> bool:
        """Whether nothing is selected by labels or fields."""
        return self.labels.is_empty and self.fields.is_empty

    @property
    def name(self) -> str:
        """The only name that a selected object can have; empty if there is no such name."""
        terms = self.fields.requirements
        equal = (term.value for term in terms if term.field == _NAME and term.operator is Operator.EQUALS)
        return next(equal, "")

    def matches(self, stored: Stored) -> bool:
        return self._matches_key(stored.key) and self._matches_content(stored)

    def change(self, event: Event) -> EventType | None:
        """Return the type of the event within this selection; None if neither state is selected.

        An object that leaves the selection is DELETED, in its last selected state.
        """
        was_seen = event.previous is not None and self.matches(event.previous)
        is_seen = event.type != "DELETED" and self.matches(event.stored)
        if is_seen:
            return "MODIFIED" if was_seen else "ADDED"
        return "DELETED" if was_seen else None

    def _matches_key(self, key: ObjectKey) -> bool:
        if self.namespace and key.namespace != self.namespace:
            return False
        if self.shards is not None and self.shards.field == "namespace" and not self._is_in_shards(key.namespace):
            return False
        known = {_NAME: key.name, _NAMESPACE: key.namespace}
        terms = self.fields.requirements
        return all(term.accepts(known[term.field]) for term in terms if term.field in known)

    def _matches_content(self, stored: Stored) -> bool:
        terms = [term for term in self.fields.requirements if term.field not in (_NAME, _NAMESPACE)]
        by_uid = self.shards is not None and self.shards.field == "uid"
        if self.labels.is_empty and not terms and not by_uid:
            return True
        read = reader(self.stored_as, self.selectable)
        seen = stored.view(read)
        if not all(term.field in seen.fields for term in terms):
            seen = read(stored.value)  # the cached values are those of another version
        if by_uid and not self._is_in_shards(seen.uid):
            return False
        return self.labels.matches(seen.labels) and all(term.accepts(seen.fields[term.field]) for term in terms)

    def _is_in_shards(self, text: str) -> bool:
        assert self.shards is not None
        return self.shards.matches(text)
