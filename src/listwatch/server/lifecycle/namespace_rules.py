"""The rules of namespaces: where something can be made, and which of them stay. `collector` empties those that go."""

from __future__ import annotations

from listwatch.errors import ForbiddenError, NotFoundError, StatusCause, StatusDetails
from listwatch.meta import ObjectKey
from listwatch.server.requests import APIRequest
from listwatch.server.storage.storage import Storage

__all__ = ["NAMESPACES", "check_mortal", "check_room"]

NAMESPACES = "/namespaces"
"""What the storage calls them."""

_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})


def check_room(storage: Storage, request: APIRequest, name: str) -> None:
    """The namespace of an object that is to be made is there, and not about to go."""
    if not request.resource.namespaced or not request.namespace:
        return
    namespace = storage.get(NAMESPACES, ObjectKey("", request.namespace))
    if namespace is None:
        raise NotFoundError.of("namespaces", request.namespace)
    # Nothing else in a namespace is called so, and it is looked at for every object that is made.
    if b'"deletionTimestamp":' in namespace.value:
        raise _terminating(request, name)


def check_mortal(request: APIRequest) -> None:
    """Some namespaces stay for ever."""
    if request.resource.group_resource == ("", "namespaces") and request.name in _IMMORTAL:
        raise ForbiddenError.of("namespaces", request.name, "this namespace may not be deleted")


def _terminating(request: APIRequest, name: str) -> ForbiddenError:
    resource, namespace = request.resource, request.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = StatusCause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
    details = StatusDetails(name=name, group=resource.group, kind=resource.plural, causes=(cause,))
    return ForbiddenError(ForbiddenError.of(resource.plural, name, why, group=resource.group).message, details=details)
