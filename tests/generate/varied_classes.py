"""Custom resources of many shapes, each with an object that its definition accepts and one that it rejects."""

# Lists and maps are safe defaults of models, and the table of examples has a line for each.
# ruff: noqa: E501, RUF012

from __future__ import annotations

from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta
from tests.generate.example import Example
from tests.generate.practical_classes import PRACTICAL

import listwatch as lw
from listwatch.models.autoscaling_v2 import MetricSpec
from listwatch.models.core_v1 import (
    Affinity,
    Container,
    EnvVar,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PodTemplateSpec,
    ResourceRequirements,
    Toleration,
    Volume,
)
from listwatch.models.meta_v1 import Condition, LabelSelector
from listwatch.models.networking_v1 import NetworkPolicySpec
from listwatch.models.rbac_v1 import PolicyRule
from listwatch.objects import MicroTime

GROUP = "varied.example.com"


class Bare(lw.CustomResource, group=GROUP, version="v1", kind="Bare"): ...


class ScalarsSpec(lw.Model):
    """All scalars."""

    text: str
    whole: int
    number: float
    flag: bool
    data: bytes
    at: datetime
    exactly_at: MicroTime
    amount: lw.Quantity


class Scalars(lw.CustomResource, group=GROUP, version="v1", kind="Scalars"):
    """Has a required field of every scalar type."""

    spec: ScalarsSpec


class DefaultsSpec(lw.Model):
    text: str = "red"
    whole: int = 0
    number: float = 0.5
    flag: bool = False
    data: bytes = b"\x00\xff"
    at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    amount: lw.Quantity = lw.Quantity("1Gi")
    names: list[str] = ["a", "b"]
    labels: dict[str, str] = {"app": "web"}
    port: int | str = "http"


class Defaults(lw.CustomResource, group=GROUP, version="v1", kind="Default"):
    spec: DefaultsSpec = DefaultsSpec()


class OptionalSpec(lw.Model):
    text: str | None = None
    whole: int | None
    names: list[str] | None = None
    color: Literal["red", "green", None] = None


class Optionals(lw.CustomResource, group=GROUP, version="v1", kind="Optional"):
    spec: OptionalSpec | None = None


class Phase(StrEnum):
    NEW = "New"
    OLD = "Old"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class EnumSpec(lw.Model):
    phase: Phase = Phase.NEW
    level: Level = Level.LOW
    color: Literal["red", "green"]
    count: Literal[1, 2, 3] = 2


class Enums(lw.CustomResource, group=GROUP, version="v1", kind="Enum"):
    spec: EnumSpec


class LimitSpec(lw.Model):
    between: Annotated[int, Meta(ge=1, le=100)] = 3
    strictly: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    even: Annotated[int, Meta(multiple_of=2)] = 2
    name: Annotated[str, Meta(pattern="^[a-z]([-a-z0-9]*[a-z0-9])?$", min_length=1, max_length=63)]
    items: Annotated[list[Annotated[str, Meta(max_length=8)]], Meta(min_length=1, max_length=3)]
    entries: Annotated[dict[str, int], Meta(max_length=2)] = {}
    secret: Annotated[bytes, Meta(max_length=32)] = b""


class Limits(lw.CustomResource, group=GROUP, version="v1", kind="Limit"):
    spec: LimitSpec


class Inner(lw.Model):
    """An inner value."""

    size: int = 1
    names: list[str] = []


class Middle(lw.Model):
    inner: Inner = Inner(size=4)
    many: list[Inner] = [Inner(size=2)]
    by_name: dict[str, Inner] = {}


class NestedSpec(lw.Model):
    middle: Middle = Middle()
    required: Inner
    matrix: list[list[int]] = []
    lists: dict[str, list[str]] = {}


class Nested(lw.CustomResource, group=GROUP, version="v1", kind="Nested"):
    spec: NestedSpec


class NameSpec(lw.Model):
    cluster_ip: str = lw.field(default="None", name="clusterIP")
    from_: str = "here"
    with_dash: str | None = lw.field(default=None, name="with-dash")
    dollar: str | None = lw.field(default=None, name="$dollar")
    required_url: str = lw.field(name="requiredURL")


class Names(lw.CustomResource, group=GROUP, version="v1", kind="Name"):
    spec: NameSpec


class FreeSpec(lw.Model):
    anything: Any = None
    settings: dict[str, Any] = {}
    items: list[Any] = []
    values: dict[str, dict[str, Any]] = {}


class Free(lw.CustomResource, group=GROUP, version="v1", kind="Free"):
    spec: FreeSpec


class TemplateSpec(lw.Model):
    template: PodTemplateSpec
    selector: LabelSelector


@lw.crd(plural="podtemplaters")
class Template(lw.CustomResource, group=GROUP, version="v1", kind="Templater"):
    spec: TemplateSpec


class PartsSpec(lw.Model):
    affinity: Affinity | None = None
    containers: list[Container] = []
    environment: list[EnvVar] = []
    resources: ResourceRequirements = ResourceRequirements()
    tolerations: list[Toleration] = []
    volumes: list[Volume] = []
    claim: PersistentVolumeClaimSpec | None = None
    policy: NetworkPolicySpec | None = None
    rules: list[PolicyRule] = []
    metrics: list[MetricSpec] = []


class Parts(lw.CustomResource, group=GROUP, version="v1", kind="Part"):
    spec: PartsSpec


class EmbeddedSpec(lw.Model):
    claim: PersistentVolumeClaim | None = None
    other: lw.Unstructured | None = None


class Embedded(lw.CustomResource, group=GROUP, version="v1", kind="Embedded"):
    spec: EmbeddedSpec


class StatusStatus(lw.Model):
    ready: int = 0
    conditions: Annotated[
        list[Condition],
        Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
    ] = []


class Status(lw.CustomResource, group=GROUP, version="v1", kind="Status"):
    status: StatusStatus = StatusStatus()


class ScaledSpec(lw.Model):
    replicas: int = 1


class ScaledStatus(lw.Model):
    replicas: int = 0
    selector: str = ""


@lw.crd(
    short_names=["sc"],
    categories=["all"],
    scale=lw.ScalePaths(".spec.replicas", ".status.replicas", ".status.selector"),
    columns=[
        lw.Column("Replicas", ".spec.replicas", description="How many."),
        lw.Column("Ready", ".status.replicas", priority=1),
        lw.Column("Available", '.status.conditions[?(@.type=="Available")].status'),
        lw.Column("Age", ".metadata.creationTimestamp"),
    ],
    selectable_fields=[".spec.replicas"],
)
class Scaled(lw.CustomResource, group=GROUP, version="v1", kind="Scaled"):
    spec: ScaledSpec = ScaledSpec()
    status: ScaledStatus = ScaledStatus()


class ClusterSpec(lw.Model):
    region: str = "eu"


@lw.crd(scope="Cluster", plural="clusterwide", singular="clusterwide")
class Cluster(lw.CustomResource, group=GROUP, version="v1", kind="ClusterWide"):
    spec: ClusterSpec = ClusterSpec()


@lw.rule("self.low <= self.high", message="low must not exceed high")
class RuleSpec(lw.Model):
    low: int = 1
    high: int = 2
    region: Annotated[str, lw.rule("self == oldSelf", message="region is immutable")] = "eu"
    names: Annotated[
        list[Annotated[str, Meta(max_length=10)]], lw.rule("self.all(n, n != 'x')"), Meta(max_length=5)
    ] = []


class Rules(lw.CustomResource, group=GROUP, version="v1", kind="Rule"):
    spec: RuleSpec = RuleSpec()


class ListSpec(lw.Model):
    names: Annotated[list[str], Meta(extra_json_schema={"x-kubernetes-list-type": "set"})] = []
    labels: Annotated[dict[str, str], Meta(extra_json_schema={"x-kubernetes-map-type": "atomic"})] = {}


class Lists(lw.CustomResource, group=GROUP, version="v1", kind="List0"):
    spec: ListSpec


class DocumentedSpec(lw.Model):
    """The specification."""

    below: str = ""
    """A string below the field.

    It may have "quotes", a backslash \\ and several paragraphs.
    """
    beside: str = ""  # a comment beside the field
    # a comment above the field,
    # of two lines
    above: str = ""
    meta: Annotated[str, Meta(description="A description.", title="Meta")] = ""
    inner: Inner = Inner()
    """Another description of an inner value."""


class Documented(lw.CustomResource, group=GROUP, version="v1", kind="Documented"):
    """A kind with descriptions."""

    spec: DocumentedSpec = DocumentedSpec()


@lw.crd(storage=True)
class Versioned(lw.CustomResource, group=GROUP, version="v1", kind="Versioned"):
    spec: ClusterSpec = ClusterSpec()


@lw.crd(deprecated="use v1", storage=False)
class OldVersioned(lw.CustomResource, group=GROUP, version="v1alpha1", kind="Versioned"):
    spec: dict[str, Any] = {}


@lw.crd(annotations={"api-approved.kubernetes.io": "unapproved, experimental-only"})
class Protected(lw.CustomResource, group="varied.x-k8s.io", version="v1alpha1", kind="Protected"):
    region: str = "eu"
    ships: Annotated[int, Meta(ge=0)] = 0


@lw.crd(status=False, served=True)
class Plain(lw.CustomResource, group=GROUP, version="v1", kind="Policy"):
    status: str = ""
    data: dict[str, str] = {}
    binary_data: dict[str, bytes] = {}


_SCALARS = {
    "text": "a", "whole": 2**40, "number": 1.5, "flag": True, "data": "AAE=", "at": "2026-01-02T03:04:05Z",
    "exactlyAt": "2026-01-02T03:04:05.000006Z", "amount": "500m",
}  # fmt: skip
_POD = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}

EXAMPLES = [
    Example((Bare,), {}),
    Example((Scalars,), {"spec": _SCALARS}, {"spec": {**_SCALARS, "amount": "1 kg"}}, "spec.amount"),
    Example((Defaults,), {}, {"spec": {"names": [1]}}, "spec.names[0]"),
    Example((Optionals,), {"spec": {"whole": None}}, {"spec": {}}, "spec.whole: Required value"),
    Example((Enums,), {"spec": {"color": "red"}}, {"spec": {"color": "blue"}}, '"red", "green"'),
    Example((Limits,), {"spec": {"name": "a", "items": ["b"]}}, {"spec": {"name": "a", "items": []}}, "spec.items"),
    Example((Nested,), {"spec": {"required": {}}}, {"spec": {}}, "spec.required: Required value"),
    Example((Names,), {"spec": {"requiredURL": "a", "with-dash": "b", "$dollar": "c"}}, {"spec": {}}, "spec.requiredURL"),
    Example((Free,), {"spec": {"anything": [1, {"a": "b"}], "settings": {"a": 1}, "items": [1, "a"]}}),
    Example((Template,), {"spec": {"template": _POD, "selector": {"matchLabels": {"app": "web"}}}}, {"spec": {"template": _POD}}, "spec.selector"),
    Example((Parts,), {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}, {"spec": {"containers": [{}]}}, "spec.containers[0].name"),
    Example((Embedded,), {"spec": {"claim": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {}}}}, {"spec": {"claim": {"spec": {}}}}, "spec.claim.apiVersion"),
    Example((Status,), {}),
    Example((Scaled,), {}, {"spec": {"replicas": "many"}}, "spec.replicas"),
    Example((Cluster,), {}),
    Example((Rules,), {}),
    Example((Lists,), {"spec": {"names": ["a", "b"]}}, {"spec": {"names": ["a", "a"]}}, "spec.names[1]"),
    Example((Documented,), {}),
    Example((Versioned, OldVersioned), {}),
    Example((Protected,), {}, {"ships": -1}, "ships"),
    Example((Plain,), {"data": {"a": "b"}, "binaryData": {"a": "AA=="}}),
    *PRACTICAL,
]  # fmt: skip
