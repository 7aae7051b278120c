"""Custom resources as operators have them, each with an object that its definition accepts and one that it rejects."""

# Lists and maps are safe defaults of models, and the table of examples has a line for each.
# ruff: noqa: E501, RUF012

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta
from tests.generate.example import Example

import listwatch as lw
from listwatch.models.batch_v1 import JobSpec
from listwatch.models.core_v1 import (
    ConfigMapKeySelector,
    LocalObjectReference,
    ObjectReference,
    Probe,
    SecretKeySelector,
    ServicePort,
)
from listwatch.models.meta_v1 import Condition, LabelSelector

GROUP = "practical.example.com"

Name = Annotated[str, Meta(pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Percentage = Annotated[int, Meta(ge=0, le=100)]
Duration = Annotated[str, Meta(pattern="^([0-9]+(h|m|s|ms))+$")]


class DatabaseEngine(StrEnum):
    POSTGRES = "postgres"
    MYSQL = "mysql"


class DatabaseStorage(lw.Model):
    size: lw.Quantity = lw.Quantity("10Gi")
    class_name: str | None = None


@lw.rule("self.engine != 'mysql' || self.version < 10", message="mysql has no version 10")
class DatabaseSpec(lw.Model):
    """What is wanted."""

    engine: Annotated[DatabaseEngine, lw.rule("self == oldSelf", message="engine is immutable")]
    version: Annotated[int, Meta(ge=1, le=99)]
    storage: DatabaseStorage = DatabaseStorage()
    password: SecretKeySelector | None = None


class DatabaseStatus(lw.Model):
    conditions: list[Condition] = []
    primary: str = ""


@lw.crd(
    short_names=["db"],
    columns=[lw.Column("Engine", ".spec.engine"), lw.Column("Primary", ".status.primary"), lw.Column("Age", ".metadata.creationTimestamp")],
)  # fmt: skip
class Database(lw.CustomResource, group=GROUP, version="v1", kind="Database"):
    """A database that the operator runs."""

    spec: DatabaseSpec
    status: DatabaseStatus = DatabaseStatus()


class BackupSpec(lw.Model):
    database: LocalObjectReference
    schedule: Annotated[str, Meta(min_length=9)]
    keep: Annotated[int, Meta(ge=1)] = 7
    paused: bool = False


class Backup(lw.CustomResource, group=GROUP, version="v1beta1", kind="Backup"):
    spec: BackupSpec


class RestoreSpec(lw.Model):
    backup: str
    point_in_time: datetime | None = None
    target: ObjectReference | None = None


class Restore(lw.CustomResource, group=GROUP, version="v1beta1", kind="Restore"):
    spec: RestoreSpec


class CanaryStep(lw.Model):
    weight: Percentage
    pause: Duration = "0s"


class RolloutSpec(lw.Model):
    replicas: Annotated[int, Meta(ge=0)] = 1
    selector: LabelSelector
    steps: Annotated[list[CanaryStep], Meta(min_length=1, max_length=20)]
    max_surge: int | str = "25%"


@lw.crd(scale=lw.ScalePaths(".spec.replicas", ".status.replicas"))
class Rollout(lw.CustomResource, group=GROUP, version="v1alpha1", kind="Rollout"):
    spec: RolloutSpec
    status: dict[str, Any] = {}


@lw.crd(scope="Cluster")
class Tenant(lw.CustomResource, group=GROUP, version="v1", kind="Tenant"):
    owners: Annotated[list[str], Meta(extra_json_schema={"x-kubernetes-list-type": "set"})]
    limits: dict[str, lw.Quantity] = {}


class HTTPMatch(lw.Model):
    path: Annotated[str, Meta(pattern="^/")] = "/"
    method: Literal["GET", "POST", "PUT", "DELETE"] | None = None
    headers: dict[str, str] = {}


class HTTPBackend(lw.Model):
    name: Name
    port: Annotated[int, Meta(ge=1, le=65535)]
    weight: Annotated[int, Meta(ge=0)] = 1


class RouteRule(lw.Model):
    matches: list[HTTPMatch] = []
    backends: Annotated[list[HTTPBackend], Meta(min_length=1)]
    timeout: Duration | None = None


class RouteSpec(lw.Model):
    hostnames: list[str] = []
    rules: list[RouteRule]


class Route(lw.CustomResource, group=GROUP, version="v1", kind="Route"):
    spec: RouteSpec


class ListenerTLS(lw.Model):
    mode: Literal["Terminate", "Passthrough"] = "Terminate"
    secret: str = ""


@lw.rule("self.protocol != 'HTTPS' || has(self.tls)", message="HTTPS needs tls")
class Listener(lw.Model):
    name: Name
    port: int
    protocol: Literal["HTTP", "HTTPS", "TCP"] = "HTTP"
    tls: ListenerTLS | None = None


class EntranceSpec(lw.Model):
    listeners: Annotated[
        list[Listener],
        Meta(max_length=16, extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
    ]  # fmt: skip


class Entrance(lw.CustomResource, group=GROUP, version="v1", kind="Entrance"):
    spec: EntranceSpec


class SecretStoreProvider(lw.Model):
    vault: dict[str, str] | None = None
    file: str | None = None


class SecretStoreSpec(lw.Model):
    provider: Annotated[
        SecretStoreProvider, lw.rule("has(self.vault) != has(self.file)", message="set exactly one provider")
    ]
    refresh: Duration = "1h"  # fmt: skip


class SecretStore(lw.CustomResource, group=GROUP, version="v1", kind="SecretStore"):
    spec: SecretStoreSpec


class FeatureFlag(lw.CustomResource, group=GROUP, version="v1", kind="FeatureFlag"):
    enabled: bool
    rollout: Percentage = 100
    audience: list[Literal["staff", "beta", "all"]] = ["all"]


class Topic(lw.CustomResource, group=GROUP, version="v1", kind="Topic"):
    partitions: Annotated[int, Meta(ge=1), lw.rule("self >= oldSelf", message="partitions cannot decrease")] = 1
    retention_bytes: int | None = None
    config: dict[str, str] = {}


class Bucket(lw.CustomResource, group=GROUP, version="v1", kind="Bucket"):
    """A bucket of objects."""

    region: Annotated[str, Meta(min_length=2)] = "eu-1"
    policy: dict[str, Any] | None = None
    """Is passed on as it is."""
    versioning: bool = False


@lw.crd(plural="dnsrecords", singular="dnsrecord", short_names=["dns", "rec"], categories=["network"])
class DNSRecord(lw.CustomResource, group=GROUP, version="v1", kind="DNSRecord"):
    type: Literal["A", "AAAA", "CNAME", "TXT"]
    ttl: Annotated[int, Meta(ge=30, multiple_of=30)] = 300
    values: Annotated[list[str], Meta(min_length=1)]


class WorkflowTask(lw.Model):
    name: Name
    needs: list[Name] = []
    job: JobSpec | None = None
    retries: Annotated[int, Meta(ge=0, le=10)] = 0


class WorkflowSpec(lw.Model):
    tasks: list[WorkflowTask]
    parameters: dict[str, str | int] = {}


class Workflow(lw.CustomResource, group=GROUP, version="v1alpha1", kind="Workflow"):
    spec: WorkflowSpec


class AlertLabel(lw.Model):
    name: str
    value: str


class AlertSpec(lw.Model):
    expression: Annotated[str, Meta(min_length=1)]
    for_: Duration = "5m"
    severity: Literal["info", "warning", "critical"] = "warning"
    labels: list[AlertLabel] = []


class Alert(lw.CustomResource, group=GROUP, version="v1", kind="Alert"):
    spec: AlertSpec


class Dashboard(lw.CustomResource, group=GROUP, version="v1", kind="Dashboard"):
    json: Annotated[str, Meta(max_length=100_000)]
    folder: str | None = None


class MonitorSpec(lw.Model):
    ports: list[ServicePort] = []
    liveness: Probe | None = None
    interval: Duration = "30s"


class Monitor(lw.CustomResource, group=GROUP, version="v1", kind="Monitor"):
    spec: MonitorSpec = MonitorSpec()


class MachineAddress(lw.Model):
    address: str
    type: Literal["InternalIP", "ExternalIP", "Hostname"]


class MachineStatus(lw.Model):
    addresses: list[MachineAddress] = []
    phase: Literal["", "Pending", "Running", "Failed"] = ""
    started: datetime | None = None


@lw.crd(columns=[lw.Column("Phase", ".status.phase"), lw.Column("Started", ".status.started")])
class Machine(lw.CustomResource, group=GROUP, version="v1", kind="Machine"):
    provider_id: Annotated[str, lw.rule("self == oldSelf || oldSelf == ''")] = ""
    status: MachineStatus = MachineStatus()


class PoolSpec(lw.Model):
    minimum: Annotated[int, Meta(ge=0)] = 0
    maximum: Annotated[int, Meta(ge=0)] = 10
    labels: dict[str, str] = {}
    taints: list[dict[str, str]] = []


class Pool(lw.CustomResource, group=GROUP, version="v1", kind="Pool"):
    spec: Annotated[PoolSpec, lw.rule("self.minimum <= self.maximum", message="minimum must not exceed maximum")] = (
        PoolSpec()
    )


class VolumeSnapshotSource(lw.Model):
    claim: str | None = None
    content: str | None = None


class Snapshot(lw.CustomResource, group=GROUP, version="v1", kind="Snapshot"):
    source: Annotated[VolumeSnapshotSource, lw.rule("self == oldSelf", message="source is immutable")] = (
        VolumeSnapshotSource()
    )
    size: lw.Quantity | None = None


class ScheduleSpec(lw.Model):
    cron: str = "0 * * * *"
    time_zone: str | None = None
    starting_deadline_seconds: Annotated[int, Meta(ge=0)] | None = None
    concurrency: Literal["Allow", "Forbid", "Replace"] = "Allow"


class Schedule(lw.CustomResource, group=GROUP, version="v1", kind="Schedule"):
    spec: ScheduleSpec = ScheduleSpec()


class GrantSubject(lw.Model):
    kind: Literal["User", "Group", "ServiceAccount"]
    name: str
    namespace: str | None = None


@lw.crd(scope="Cluster", plural="accessgrants")
class Grant(lw.CustomResource, group=GROUP, version="v1", kind="AccessGrant"):
    subjects: Annotated[
        list[GrantSubject],
        Meta(max_length=10),
        lw.rule(
            "self.all(s, s.kind != 'ServiceAccount' || has(s.__namespace__))",
            message="a service account has a namespace",
        ),
    ]
    verbs: list[Literal["get", "list", "watch"]] = ["get"]


class ProxySpec(lw.Model):
    upstream: Annotated[str, Meta(pattern="^https?://")]
    ca: ConfigMapKeySelector | None = None
    headers: dict[str, list[str]] = {}
    weights: list[float] = []


class Proxy(lw.CustomResource, group=GROUP, version="v1", kind="Proxy"):
    spec: ProxySpec


class Matrix(lw.CustomResource, group=GROUP, version="v1", kind="Matrix"):
    cells: list[list[list[float]]] = []
    names: dict[str, dict[str, list[str]]] = {}


@lw.crd(storage=True)
class CacheV1(lw.CustomResource, group=GROUP, version="v1", kind="Cache"):
    memory: lw.Quantity = lw.Quantity("64Mi")
    eviction: Literal["lru", "lfu"] = "lru"


@lw.crd(storage=False, deprecated="use v1")
class CacheV1Beta1(lw.CustomResource, group=GROUP, version="v1beta1", kind="Cache"):
    memory_mb: int = 64


@lw.crd(storage=False, served=False)
class CacheV1Alpha1(lw.CustomResource, group=GROUP, version="v1alpha1", kind="Cache"):
    size: str = ""


class Recipe(lw.CustomResource, group=GROUP, version="v1", kind="Recipe"):
    """A recipe.

    With a second paragraph.
    """

    steps: list[str] = []  # in their order
    # how many people it serves
    serves: Annotated[int, Meta(ge=1, description="The number of portions.")] = 2
    allergens: Annotated[list[str], Meta(max_length=14, extra_json_schema={"x-kubernetes-list-type": "atomic"})] = []


class InstallStep(lw.Model):
    manifest: lw.Unstructured
    wait: bool = True


class Installation(lw.CustomResource, group=GROUP, version="v1", kind="Installation"):
    steps: list[InstallStep] = []


@lw.crd(status=False)
class Preference(lw.CustomResource, group=GROUP, version="v1", kind="Preference"):
    theme: Literal["light", "dark", None] = None
    fonts: dict[str, float] = {}
    at: Annotated[str, Meta(extra_json_schema={"format": "date"})] = "2026-01-01"


class Certificate(lw.CustomResource, group=GROUP, version="v1", kind="Certificate"):
    names: Annotated[list[Annotated[str, Meta(max_length=253)]], Meta(min_length=1, max_length=100)]
    algorithm: Literal["RSA", "ECDSA", "Ed25519"] = "ECDSA"
    bundle: bytes = b""
    usages: list[str] | None = None


class BudgetSpec(lw.Model):
    amounts: Annotated[dict[str, Annotated[float, Meta(ge=0)]], Meta(max_length=12)]
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")] = "EUR"


class Budget(lw.CustomResource, group=GROUP, version="v1", kind="Budget"):
    spec: BudgetSpec


class Window(lw.CustomResource, group=GROUP, version="v1", kind="Window"):
    """When changes are allowed."""

    days: Annotated[list[Literal[1, 2, 3, 4, 5, 6, 7]], Meta(min_length=1)] = [1, 2, 3]
    begin: Annotated[str, lw.rule("duration(self) < duration('24h')", message="a day has 24 hours")] = "8h"
    owner: ObjectReference | None = None


_ROUTE = {"rules": [{"backends": [{"name": "web", "port": 80}]}]}

PRACTICAL = [
    Example((Database,), {"spec": {"engine": "mysql", "version": 8}}, {"spec": {"engine": "mysql", "version": 10}}, "mysql has no version 10"),
    Example((Backup,), {"spec": {"database": {"name": "a"}, "schedule": "0 0 * * *"}}, {"spec": {"database": {}, "schedule": "daily"}}, "spec.schedule"),
    Example((Restore,), {"spec": {"backup": "a", "pointInTime": "2026-01-02T03:04:05Z"}}, {"spec": {"backup": "a", "pointInTime": "soon"}}, "spec.pointInTime"),
    Example((Rollout,), {"spec": {"selector": {}, "steps": [{"weight": 10}]}}, {"spec": {"selector": {}, "steps": [{"weight": 110}]}}, "spec.steps[0].weight"),
    Example((Tenant,), {"owners": ["a"], "limits": {"cpu": "500m"}}, {"owners": ["a", "a"]}, "owners[1]"),
    Example((Route,), {"spec": _ROUTE}, {"spec": {"rules": [{"backends": []}]}}, "spec.rules[0].backends"),
    Example((Entrance,), {"spec": {"listeners": [{"name": "web", "port": 80}]}}, {"spec": {"listeners": [{"name": "web", "port": 443, "protocol": "HTTPS"}]}}, "HTTPS needs tls"),
    Example((SecretStore,), {"spec": {"provider": {"file": "/x"}}}, {"spec": {"provider": {}}}, "set exactly one provider"),
    Example((FeatureFlag,), {"enabled": True}, {"enabled": True, "audience": ["nobody"]}, "audience[0]"),
    Example((Topic,), {"partitions": 3}, {"partitions": 0}, "partitions"),
    Example((Bucket,), {"policy": {"a": [1, {"b": None}]}}, {"region": "e"}, "region"),
    Example((DNSRecord,), {"type": "A", "values": ["10.0.0.1"]}, {"type": "A", "values": ["10.0.0.1"], "ttl": 31}, "ttl"),
    Example((Workflow,), {"spec": {"tasks": [{"name": "a"}], "parameters": {"a": 1, "b": "x"}}}, {"spec": {"tasks": [{"name": "A"}]}}, "spec.tasks[0].name"),
    Example((Alert,), {"spec": {"expression": "up == 0", "for": "1h30m"}}, {"spec": {"expression": "up", "for": "soon"}}, "spec.for"),
    Example((Dashboard,), {"json": "{}"}, {}, "json: Required value"),
    Example((Monitor,), {"spec": {"ports": [{"port": 80}]}}, {"spec": {"ports": [{}]}}, "spec.ports[0].port"),
    Example((Machine,), {"providerId": "a"}, {"providerId": 1}, "providerId"),
    Example((Pool,), {"spec": {"minimum": 2}}, {"spec": {"minimum": 11}}, "minimum must not exceed maximum"),
    Example((Snapshot,), {"source": {"claim": "a"}, "size": "1Gi"}, {"size": "much"}, "size"),
    Example((Schedule,), {"spec": {"timeZone": "Europe/Vienna"}}, {"spec": {"concurrency": "Maybe"}}, "spec.concurrency"),
    Example((Grant,), {"subjects": [{"kind": "User", "name": "a"}]}, {"subjects": [{"kind": "ServiceAccount", "name": "a"}]}, "a service account has a namespace"),
    Example((Proxy,), {"spec": {"upstream": "http://a", "headers": {"a": ["b"]}, "weights": [0.5, 1]}}, {"spec": {"upstream": "ftp://a"}}, "spec.upstream"),
    Example((Matrix,), {"cells": [[[1, 2.5]]], "names": {"a": {"b": ["c"]}}}, {"cells": [[1]]}, "cells[0][0]"),
    Example((CacheV1, CacheV1Beta1, CacheV1Alpha1), {"memory": "1Gi"}, {"eviction": "random"}, "eviction"),
    Example((Recipe,), {"steps": ["boil"]}, {"serves": 0}, "serves"),
    Example((Installation,), {"steps": [{"manifest": {"apiVersion": "v1", "kind": "Pod"}}]}, {"steps": [{"manifest": {"kind": "Pod"}}]}, "steps[0].manifest.apiVersion"),
    Example((Preference,), {"theme": None, "fonts": {"a": 1.5}}, {"theme": "blue"}, "theme"),
    Example((Certificate,), {"names": ["a"], "bundle": "AAE="}, {"names": []}, "names"),
    Example((Budget,), {"spec": {"amounts": {"january": 10.5}}}, {"spec": {"amounts": {"january": -1}}}, "spec.amounts.january"),
    Example((Window,), {"days": [1, 7]}, {"begin": "30h"}, "a day has 24 hours"),
]  # fmt: skip
