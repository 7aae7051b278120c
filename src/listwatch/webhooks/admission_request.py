"""The request that a function of an admission webhook receives with the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, GroupVersionResource
from listwatch.objects.object import Object

__all__ = ["AdmissionRequest", "Operation", "UserInfo"]

T = TypeVar("T", bound=Object)

_NO_KIND = GroupVersionKind("", "", "")
_NO_RESOURCE = GroupVersionResource("", "", "")

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
"""What a request does to an object."""


@dataclass(frozen=True, slots=True)
class UserInfo:
    """The user that sent a request."""

    name: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest(Generic[T]):
    """The request that an admission webhook reviews. `warn` and `annotate` add to its response.

    Tests create one with the fields that their function reads: `AdmissionRequest(operation="UPDATE", old=before)`.
    """

    operation: Operation = "CREATE"
    old: T | None = None
    """The stored object of an update or deletion; for a deletion, the function also gets it as the object."""
    uid: str = ""
    """The uid of this review, which log lines contain."""
    name: str = ""
    """Empty if the server generates the name, and for the deletion of a collection."""
    namespace: str = ""
    subresource: str = ""
    kind: GroupVersionKind = _NO_KIND
    """The kind of the object as the webhook gets it."""
    resource: GroupVersionResource = _NO_RESOURCE
    request_kind: GroupVersionKind = _NO_KIND
    """The kind that the user sent, which may be another version."""
    request_resource: GroupVersionResource = _NO_RESOURCE
    user: UserInfo = UserInfo()
    dry_run: bool = False
    """Nothing is stored: the function must have no side effects."""
    options: JSONObject = field(default_factory=dict[str, JSON])
    """CreateOptions, UpdateOptions or DeleteOptions."""
    warnings: list[str] = field(default_factory=list[str])
    audit_annotations: dict[str, str] = field(default_factory=dict[str, str])

    def warn(self, message: str) -> None:
        """Send a warning to the user, which kubectl prints; keep it below 120 characters."""
        self.warnings.append(message)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the audit event of the request; the server prefixes the key with the webhook's name."""
        self.audit_annotations[key] = value
