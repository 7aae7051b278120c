"""Writes the status of ValidatingAdmissionPolicies: the problems that a check of their expressions finds.

In a real cluster, kube-controller-manager does this.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from listwatch.errors import APIError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import integer_at, object_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.patch.patching import APPLY_PATCH
from listwatch.server.requests import APIRequest, Query, Response, User
from listwatch.server.storage.values import Event

if TYPE_CHECKING:
    from listwatch.server.admission.policies.type_checking import TypeChecker

__all__ = ["PolicyStatus"]

_POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies"
_MANAGER = "validatingadmissionpolicy-status"
_USER = User(f"system:serviceaccount:kube-system:{_MANAGER}-controller", groups=("system:masters",))
_QUERY = Query.parse(f"fieldManager={_MANAGER}&force=true")


class PolicyStatus:
    """Checks a policy after each change of its spec."""

    def __init__(self, objects: ObjectStore, respond: Callable[[APIRequest], Response]) -> None:
        self._objects = objects
        self._respond = respond
        self._pending: dict[str, None] = {}
        objects.storage.subscribe(self._on_event, resource=_POLICIES)

    @cached_property
    def _checker(self) -> TypeChecker:
        # Few servers have policies.
        from listwatch.server.admission.policies.type_checking import TypeChecker

        return TypeChecker(self._objects)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def recover(self) -> None:
        """Schedule all policies of a storage that was used before."""
        for stored in self._objects.storage.scan(_POLICIES):
            self._pending[stored.key.name] = None

    def run_pending(self) -> None:
        """Write the status of the policies that events concern."""
        pending, self._pending = self._pending, {}
        for name in pending:
            if stored := self._objects.storage.get(_POLICIES, ObjectKey("", name)):
                self._process(decode_stored(stored))

    def _on_event(self, event: Event) -> None:
        if event.type != "DELETED":
            self._pending[event.key.name] = None

    def _process(self, policy: JSONObject) -> None:
        generation = integer_at(policy, "metadata", "generation")
        if generation <= integer_at(policy, "status", "observedGeneration"):
            return
        name, warnings = text_at(policy, "metadata", "name"), self._checker.warnings(object_at(policy, "spec"))
        checked: JSONObject = {"expressionWarnings": [*warnings]} if warnings else {}
        resource = self._objects.registry.by_storage_id(_POLICIES)
        body: JSONObject = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name},
            "status": {"observedGeneration": generation, "typeChecking": checked},
        }
        request = APIRequest(
            "patch",
            resource,
            name=name,
            subresource="status",
            query=_QUERY,
            body=msgspec.json.encode(body),
            content_type=APPLY_PATCH,
            user=_USER,
            method="PATCH",
        )
        try:
            self._respond(request)
        except APIError:  # admission rejects it; the next change of the policy is another attempt
            return
