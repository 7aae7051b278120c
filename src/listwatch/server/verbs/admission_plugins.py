"""What the pipeline expects of admission plugins, which other packages implement."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Protocol

from listwatch.json_value import JSONObject
from listwatch.server.requests import APIRequest

__all__ = [
    "AdmissionPolicies",
    "BodyAdmission",
    "PodSecurity",
    "Priorities",
    "Quotas",
    "RuntimeClasses",
    "ServiceAccounts",
    "View",
]


class Quotas(Protocol):
    """Rejects writes that exceed a quota."""

    @property
    def namespaces(self) -> Container[str]:
        """The namespaces that have quotas."""

    def check(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises ForbiddenError."""


class PodSecurity(Protocol):
    """Rejects pods that violate the level of their namespace."""

    @property
    def resources(self) -> Container[str]:
        """The storage ids of the resources that are checked."""

    @property
    def namespaces(self) -> Container[str]:
        """The namespaces that select a level."""

    def validate(self, storage_id: str, request: APIRequest, new: JSONObject, old: JSONObject | None) -> None:
        """Raises an APIError, or adds warnings to the request."""


class ServiceAccounts(Protocol):
    """Gives pods a service account and its token."""

    def add(self, request: APIRequest, pod: JSONObject) -> None:
        """Raises ForbiddenError."""

    def check_ephemeral(self, request: APIRequest, pod: JSONObject) -> None:
        """Raises ForbiddenError."""


class Priorities(Protocol):
    """Gives pods the priority of their class, and rejects a second default class."""

    def add(self, pod: JSONObject) -> None:
        """Raises ForbiddenError."""

    def check_default(self, priority_class: JSONObject) -> None:
        """Raises ForbiddenError."""


class RuntimeClasses(Protocol):
    """Gives pods what their RuntimeClass has."""

    def add(self, pod: JSONObject) -> None:
        """Raises ForbiddenError."""


class AdmissionPolicies(Protocol):
    """Applies policies that are objects of the server."""

    @property
    def active(self) -> bool:
        """Whether there are any policies or webhooks."""

    @property
    def calls_webhooks(self) -> bool:
        """Whether requests may raise WebhookNeededError, if they have a Replay."""

    def mutate(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        *,
        dry_run: bool,
        add_fields: Callable[[JSONObject], None] | None = None,
    ) -> JSONObject:
        """Return the changed object; raises an APIError.

        `add_fields` sets what built-in plugins add, and is called if a policy or webhook has changed the object.
        """

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises an APIError."""


class View(Protocol):
    """What a subresource shows of an object, such as its Scale."""

    def show(self, tree: JSONObject) -> JSONObject: ...

    def apply(self, tree: JSONObject, shown: JSONObject) -> JSONObject:
        """Return the object with what has changed in the view."""


class BodyAdmission(Protocol):
    """Admits objects that are sent to a subresource, and not stored."""

    def admit_body(self, request: APIRequest, body: JSONObject, *, dry_run: bool = False) -> JSONObject:
        """Return the object after admission; raises an APIError or WebhookNeededError."""
