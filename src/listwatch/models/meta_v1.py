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
    categories: list[str] = field(default_factory=list)
    group: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    namespaced: bool = field(default_factory=bool)
    short_names: list[str] = field(default_factory=list)
    singular_name: str = field(default_factory=str)
    storage_version_hash: str | None = None
    verbs: list[str] = field(default_factory=required_list)
    version: str | None = None


class APIResourceList(Model):
    api_version: str | None = None
    group_version: str = field(default_factory=str)
    kind: str | None = None
    resources: list[APIResource] = field(default_factory=required_list)


class Condition(Model):
    last_transition_time: datetime | None = None
    message: str = field(default_factory=str)
    observed_generation: int | None = None
    reason: str = field(default_factory=str)
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class DeleteOptions(Model):
    api_version: str | None = None
    dry_run: list[str] = field(default_factory=list)
    grace_period_seconds: int | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    kind: str | None = None
    orphan_dependents: bool | None = None
    preconditions: Preconditions | None = None
    propagation_policy: str | None = None


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
    match_expressions: list[LabelSelectorRequirement] = field(default_factory=list)
    match_labels: dict[str, str] = field(default_factory=dict)


class LabelSelectorRequirement(Model):
    key: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class Preconditions(Model):
    resource_version: str | None = None
    uid: str | None = None


class Status(Model):
    api_version: str | None = None
    code: int | None = None
    details: StatusDetails | None = None
    kind: str | None = None
    message: str | None = None
    metadata: ListMeta = field(default_factory=ListMeta)
    reason: str | None = None
    status: str | None = None


class StatusCause(Model):
    message: str | None = None
    reason: str | None = None
    field: str | None = None


class StatusDetails(Model):
    causes: list[StatusCause] = field(default_factory=list)
    group: str | None = None
    kind: str | None = None
    name: str | None = None
    retry_after_seconds: int | None = None
    uid: str | None = None


class WatchEvent(Model):
    object: dict[str, Any] = field(default_factory=required_dict)
    type: str = field(default_factory=str)


__getattr__ = only_classes(__name__)
