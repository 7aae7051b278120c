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
    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class UserInfo(Model):
    extra: dict[str, list[str]] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    uid: str | None = None
    username: str | None = None


class SelfSubjectReviewStatus(Model):
    user_info: UserInfo = field(default_factory=UserInfo)


class TokenRequestSpec(Model):
    attestations: dict[str, list[str]] = field(default_factory=dict)
    audiences: list[str] = field(default_factory=list)
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: int | None = None


class TokenRequestStatus(Model):
    expiration_timestamp: datetime | None = None
    token: str = field(default_factory=str)


class TokenReviewSpec(Model):
    audiences: list[str] = field(default_factory=list)
    token: str = field(default_factory=str)


class TokenReviewStatus(Model):
    audiences: list[str] = field(default_factory=list)
    authenticated: bool | None = None
    error: str | None = None
    user: UserInfo = field(default_factory=UserInfo)


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
