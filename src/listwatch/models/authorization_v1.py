"""The kinds and types of `authorization.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy


class FieldSelectorAttributes(Model):
    raw_selector: str | None = None
    requirements: list[meta_v1.FieldSelectorRequirement] = field(default_factory=list)


class LabelSelectorAttributes(Model):
    raw_selector: str | None = None
    requirements: list[meta_v1.LabelSelectorRequirement] = field(default_factory=list)


class NonResourceAttributes(Model):
    path: str | None = None
    verb: str | None = None


class NonResourceRule(Model):
    verbs: list[str] = field(default_factory=required_list)
    non_resource_urls: list[str] = field(default_factory=list, name="nonResourceURLs")


class ResourceAttributes(Model):
    namespace: str | None = None
    verb: str | None = None
    group: str | None = None
    version: str | None = None
    resource: str | None = None
    subresource: str | None = None
    name: str | None = None
    field_selector: FieldSelectorAttributes | None = None
    label_selector: LabelSelectorAttributes | None = None


class ResourceRule(Model):
    verbs: list[str] = field(default_factory=required_list)
    api_groups: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    resource_names: list[str] = field(default_factory=list)


class SelfSubjectAccessReviewSpec(Model):
    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: NonResourceAttributes | None = None


class SelfSubjectRulesReviewSpec(Model):
    namespace: str | None = None


class SubjectAccessReviewSpec(Model):
    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: NonResourceAttributes | None = None
    user: str | None = None
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)
    uid: str | None = None


class SubjectAccessReviewStatus(Model):
    allowed: bool = field(default_factory=bool)
    denied: bool | None = None
    reason: str | None = None
    evaluation_error: str | None = None


class SubjectRulesReviewStatus(Model):
    resource_rules: list[ResourceRule] = field(default_factory=required_list)
    non_resource_rules: list[NonResourceRule] = field(default_factory=required_list)
    incomplete: bool = field(default_factory=bool)
    evaluation_error: str | None = None


class LocalSubjectAccessReview(
    Object,
    resource=Resource(
        "authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", "localsubjectaccessreview",
        namespaced=True,
        verbs=("create",),
    ),
):
    spec: SubjectAccessReviewSpec = lazy(SubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = lazy(SubjectAccessReviewStatus)


class SelfSubjectAccessReview(
    Object,
    resource=Resource(
        "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview",
        namespaced=False,
        verbs=("create",),
    ),
):
    spec: SelfSubjectAccessReviewSpec = lazy(SelfSubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = lazy(SubjectAccessReviewStatus)


class SelfSubjectRulesReview(
    Object,
    resource=Resource(
        "authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview",
        namespaced=False,
        verbs=("create",),
    ),
):
    spec: SelfSubjectRulesReviewSpec = lazy(SelfSubjectRulesReviewSpec)
    status: SubjectRulesReviewStatus = lazy(SubjectRulesReviewStatus)


class SubjectAccessReview(
    Object,
    resource=Resource(
        "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview",
        namespaced=False,
        verbs=("create",),
    ),
):
    spec: SubjectAccessReviewSpec = lazy(SubjectAccessReviewSpec)
    status: SubjectAccessReviewStatus = lazy(SubjectAccessReviewStatus)


__getattr__ = only_classes(__name__)
