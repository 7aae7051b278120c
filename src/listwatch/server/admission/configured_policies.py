"""Notices whether a server has policies; only then are the modules that evaluate them imported."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.server.apply.field_sets import MergeShape
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.requests import APIRequest, User
from listwatch.server.storage.values import Event

if TYPE_CHECKING:
    from listwatch.server.admission.policies import Policies

__all__ = ["MUTATING_POLICY", "VALIDATING_POLICY", "ConfiguredPolicies"]

VALIDATING_POLICY, MUTATING_POLICY = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
"""The names of the plugins."""
GROUP = "admissionregistration.k8s.io"

Review = Callable[[User, JSONObject], tuple[bool, str]]
"""Returns whether a user may do something, and why not."""


class ConfiguredPolicies:
    """The policies of a server. `active` is False if no write has to be checked, which is one lookup for each write."""

    def __init__(
        self,
        objects: ObjectStore,
        review: Review,
        shape: Callable[[Resource], MergeShape],
        disabled: Collection[str] = (),
    ) -> None:
        self._objects = objects
        self._review = review
        self._shape = shape
        kinds = (("validating", VALIDATING_POLICY), ("mutating", MUTATING_POLICY))
        self._kinds = [kind for kind, plugin in kinds if plugin not in disabled]
        self.active = False
        for kind in self._kinds:
            for plural in ("policies", "policybindings"):
                objects.storage.subscribe(self._on_event, resource=f"{GROUP}/{kind}admission{plural}")
        self._update()

    @cached_property
    def _policies(self) -> Policies:
        from listwatch.server.admission.policies import Policies

        return Policies(self._objects, self._review, self._shape, self._kinds)

    def _on_event(self, _event: Event) -> None:
        self._update()

    def _update(self) -> None:
        count = self._objects.storage.count
        self.active = any(count(f"{GROUP}/{kind}admissionpolicybindings") for kind in self._kinds)
        if "_policies" in self.__dict__:
            self._policies.reset()

    def mutate(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool) -> JSONObject:
        """Return the object after all mutations; raises an APIError."""
        return self._policies.mutate(request, new, old, dry_run=dry_run)

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raise an APIError if a policy denies the write."""
        self._policies.validate(request, new, old, dry_run=dry_run)
