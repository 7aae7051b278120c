"""The kinds and types of `meta/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import field

from listwatch._exports import only_classes
from listwatch.objects.metadata import (
    ListMeta as ListMeta,
    ManagedFieldsEntry as ManagedFieldsEntry,
    ObjectMeta as ObjectMeta,
    OwnerReference as OwnerReference,
    ShardInfo as ShardInfo,
)
from listwatch.objects.declarations.model import Model, required_dict, required_list


class APIResource(Model):
    name: str = field(default_factory=str)
    singular_name: str = field(default_factory=str)
    namespaced: bool = field(default_factory=bool)
    group: str | None = None
    version: str | None = None
    kind: str = field(default_factory=str)
    verbs: list[str] = field(default_factory=required_list)
    short_names: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    storage_version_hash: str | None = None


class APIResourceList(Model):
    group_version: str = field(default_factory=str)
    resources: list[APIResource] = field(default_factory=required_list)
    api_version: str | None = None
    kind: str | None = None


class Condition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    observed_generation: int | None = None
    last_transition_time: datetime | None = None
    reason: str = field(default_factory=str)
    message: str = field(default_factory=str)


class DeleteOptions(Model):
    grace_period_seconds: int | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] = field(default_factory=list)
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    api_version: str | None = None
    kind: str | None = None


class FieldSelectorRequirement(Model):
    key: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class GroupResource(Model):
    group: str = field(default_factory=str)
    resource: str = field(default_factory=str)


class Info(Model):
    build_date: str = field(default_factory=str)
    compiler: str = field(default_factory=str)
    emulation_major: str | None = None
    emulation_minor: str | None = None
    git_commit: str = field(default_factory=str)
    git_tree_state: str = field(default_factory=str)
    git_version: str = field(default_factory=str)
    go_version: str = field(default_factory=str)
    major: str = field(default_factory=str)
    min_compatibility_major: str | None = None
    min_compatibility_minor: str | None = None
    minor: str = field(default_factory=str)
    platform: str = field(default_factory=str)


class LabelSelector(Model):
    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: list[LabelSelectorRequirement] = field(default_factory=list)


class LabelSelectorRequirement(Model):
    key: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class Preconditions(Model):
    uid: str | None = None
    resource_version: str | None = None


class Status(Model):
    metadata: ListMeta = field(default_factory=ListMeta)
    status: str | None = None
    message: str | None = None
    reason: str | None = None
    details: StatusDetails | None = None
    code: int | None = None
    api_version: str | None = None
    kind: str | None = None


class StatusCause(Model):
    reason: str | None = None
    message: str | None = None
    field: str | None = None


class StatusDetails(Model):
    name: str | None = None
    group: str | None = None
    kind: str | None = None
    uid: str | None = None
    causes: list[StatusCause] = field(default_factory=list)
    retry_after_seconds: int | None = None


class WatchEvent(Model):
    type: str = field(default_factory=str)
    object: dict[str, Any] = field(default_factory=required_dict)


__getattr__ = only_classes(__name__)
