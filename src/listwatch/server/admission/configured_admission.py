"""Notices whether a server has policies or webhooks; only then are the modules that evaluate them imported."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.server.admission.matching import GROUP
from listwatch.server.admission.reinvocation import Reinvocation
from listwatch.server.apply.field_sets import MergeShape
from listwatch.server.json_tree import copied
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.requests import APIRequest, User
from listwatch.server.storage.values import Event

if TYPE_CHECKING:
    from listwatch.server.admission.limit_ranges import LimitRanges
    from listwatch.server.admission.policies.policies import Policies
    from listwatch.server.admission.webhooks import Webhooks

__all__ = ["PLUGINS", "ConfiguredAdmission"]

_POLICIES = {"validating": "ValidatingAdmissionPolicy", "mutating": "MutatingAdmissionPolicy"}
_WEBHOOKS = {"validating": "ValidatingAdmissionWebhook", "mutating": "MutatingAdmissionWebhook"}
_LIMIT_RANGER = "LimitRanger"
PLUGINS = frozenset({*_POLICIES.values(), *_WEBHOOKS.values(), _LIMIT_RANGER})
"""The names of the plugins."""

Review = Callable[[User, JSONObject], tuple[bool, str]]
"""Returns whether a user may do something, and why not."""


class ConfiguredAdmission:
    """The policies and webhooks of a server. `active` is False if there are none: one lookup for each write."""

    def __init__(
        self,
        objects: ObjectStore,
        review: Review,
        shape: Callable[[Resource], MergeShape],
        new_uid: Callable[[], str],
        disabled: Collection[str] = (),
    ) -> None:
        self._objects = objects
        self._review = review
        self._shape = shape
        self._new_uid = new_uid
        self._policy_kinds = [kind for kind, plugin in _POLICIES.items() if plugin not in disabled]
        self._webhook_kinds = [kind for kind, plugin in _WEBHOOKS.items() if plugin not in disabled]
        self.active = False
        self.calls_webhooks = False
        self._has_policies = False
        self._has_limits = False
        self._enforces_limits = _LIMIT_RANGER not in disabled
        if self._enforces_limits:
            objects.storage.subscribe(self._on_event, resource="/limitranges")
        watched = [f"{kind}admission{each}" for kind in self._policy_kinds for each in ("policies", "policybindings")]
        watched += [f"{kind}webhookconfigurations" for kind in self._webhook_kinds]
        for plural in watched:
            objects.storage.subscribe(self._on_event, resource=f"{GROUP}/{plural}")
        self._update()

    @cached_property
    def _policies(self) -> Policies:
        from listwatch.server.admission.policies.policies import Policies

        return Policies(self._objects, self._review, self._shape, self._policy_kinds)

    @cached_property
    def _webhooks(self) -> Webhooks:
        from listwatch.server.admission.webhooks import Webhooks

        return Webhooks(self._objects, self._review, self._new_uid, self._webhook_kinds)

    @cached_property
    def _limit_ranges(self) -> LimitRanges:
        from listwatch.server.admission.limit_ranges import LimitRanges

        return LimitRanges(self._objects)

    def _on_event(self, _event: Event) -> None:
        self._update()

    def _update(self) -> None:
        count = self._objects.storage.count
        self._has_policies = any(count(f"{GROUP}/{kind}admissionpolicybindings") for kind in self._policy_kinds)
        self.calls_webhooks = any(count(f"{GROUP}/{kind}webhookconfigurations") for kind in self._webhook_kinds)
        self._has_limits = self._enforces_limits and count("/limitranges") > 0
        self.active = self._has_policies or self.calls_webhooks or self._has_limits
        if "_policies" in self.__dict__:
            self._policies.reset()
        if "_webhooks" in self.__dict__:
            self._webhooks.reset()
        if "_limit_ranges" in self.__dict__:
            self._limit_ranges.reset()

    def mutate(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        *,
        dry_run: bool,
        add_fields: Callable[[JSONObject], None] | None = None,
    ) -> JSONObject:
        """Return the object after all mutations; raises an APIError or WebhookNeededError.

        If a policy or webhook changes the object, all plugins run once more: `add_fields` sets what the built-in ones
        add to an object, such as a container that a webhook has added.
        """
        policies, webhooks = Reinvocation(), Reinvocation()
        found = self._mutate_once(request, new, old, policies, webhooks, dry_run=dry_run)
        if policies.has_changed or webhooks.has_changed:
            found = copied(found)
            if add_fields:
                add_fields(found)
            found = self._mutate_once(request, found, old, policies, webhooks, dry_run=dry_run, is_second=True)
        return found

    def _mutate_once(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        policies: Reinvocation,
        webhooks: Reinvocation,
        *,
        dry_run: bool,
        is_second: bool = False,
    ) -> JSONObject:
        new = self._limited(request, new, old)
        if self._has_policies:
            if is_second:
                policies.start_second(new)
            new = self._policies.mutate(request, new, old, policies, dry_run=dry_run)
            policies.end(new)
        if self.calls_webhooks:
            if is_second:
                webhooks.start_second(new)
            new = self._webhooks.mutate(request, new, old, webhooks, dry_run=dry_run)
            webhooks.end(new)
        return new

    def _limited(self, request: APIRequest, new: JSONObject, old: JSONObject | None) -> JSONObject:
        return self._limit_ranges.mutate(request, new, old) if self._has_limits else new

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raise an APIError if the write is denied, or WebhookNeededError."""
        if new is None and self.calls_webhooks:
            self._webhooks.check_deletion(request, old, dry_run=dry_run)
        if self._has_limits:
            self._limit_ranges.validate(request, new, old)
        if self._has_policies:
            self._policies.validate(request, new, old, dry_run=dry_run)
        if self.calls_webhooks:
            self._webhooks.validate(request, new, old, dry_run=dry_run)
