"""What is there before anybody creates anything: the namespaces that every cluster has."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from listwatch.errors import AlreadyExistsError
from listwatch.server.requests import APIRequest, User
from listwatch.server.verbs.verbs import Verbs

__all__ = ["add_namespaces"]

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def add_namespaces(verbs: Verbs, user: User) -> None:
    """Create those that are missing, as this user."""
    resource = verbs.registry.lookup("", "v1", "namespaces")
    assert resource is not None
    for name in _NAMESPACES:
        body = msgspec.json.encode({"metadata": {"name": name}})
        request = APIRequest("create", resource, body=body, content_type="application/json", user=user, method="POST")
        with suppress(AlreadyExistsError):
            verbs.respond(request)
