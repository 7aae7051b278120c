"""The kinds and types of `authentication.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import GroupVersionKind, Resource
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy


class BoundObjectReference(Model):
    kind: str | None = None
    api_version: str | None = None
    name: str | None = None
    uid: str | None = None


class UserInfo(Model):
    username: str | None = None
    uid: str | None = None
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


class SelfSubjectReviewStatus(Model):
    user_info: UserInfo = field(default_factory=UserInfo)


class TokenRequestSpec(Model):
    audiences: list[str] = field(default_factory=list)
    expiration_seconds: int | None = None
    bound_object_ref: BoundObjectReference | None = None
    attestations: dict[str, list[str]] = field(default_factory=dict)


class TokenRequestStatus(Model):
    token: str = field(default_factory=str)
    expiration_timestamp: datetime | None = None


class TokenReviewSpec(Model):
    token: str = field(default_factory=str)
    audiences: list[str] = field(default_factory=list)


class TokenReviewStatus(Model):
    authenticated: bool | None = None
    user: UserInfo = field(default_factory=UserInfo)
    audiences: list[str] = field(default_factory=list)
    error: str | None = None


class SelfSubjectReview(
    Object,
    resource=Resource(
        "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview",
        namespaced=False,
        verbs=("create",),
    ),
):
    status: SelfSubjectReviewStatus = lazy(SelfSubjectReviewStatus)


class TokenRequest(
    Object,
    gvk=GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest"),
):
    spec: TokenRequestSpec = lazy(TokenRequestSpec)
    status: TokenRequestStatus = lazy(TokenRequestStatus)


class TokenReview(
    Object,
    resource=Resource(
        "authentication.k8s.io", "v1", "TokenReview", "tokenreviews", "tokenreview",
        namespaced=False,
        verbs=("create",),
    ),
):
    spec: TokenReviewSpec = lazy(TokenReviewSpec)
    status: TokenReviewStatus = lazy(TokenReviewStatus)


__getattr__ = only_classes(__name__)
