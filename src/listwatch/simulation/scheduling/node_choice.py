"""Decides which node a pod goes to: pure, over what is known of nodes and pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache

from listwatch.models.core_v1 import (
    Affinity,
    Node,
    NodeSelectorTerm,
    PersistentVolume,
    Pod,
    PodAffinityTerm,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from listwatch.quantity import parse_quantity
from listwatch.selectors import LabelSelector

__all__ = [
    "NodeUsage",
    "PlacedPod",
    "PodConstraints",
    "Verdict",
    "choose_node",
    "host_ports",
    "matches_node",
    "requests_of",
    "tolerates",
    "untolerated",
]

Amounts = Mapping[str, Decimal]
_HOSTNAME = "kubernetes.io/hostname"


@lru_cache(4096)
def _amount(text: str) -> Decimal:
    return parse_quantity(text)


def requests_of(pod: Pod) -> dict[str, Decimal]:
    """What a pod requests: the sum of its containers, or more if an init container needs more."""
    total: dict[str, Decimal] = {}
    for container in pod.spec.containers:
        for name, text in container.resources.requests.items():
            total[name] = total.get(name, Decimal(0)) + _amount(text)
    for container in pod.spec.init_containers:
        for name, text in container.resources.requests.items():
            total[name] = max(total.get(name, Decimal(0)), _amount(text))
    for name, text in pod.spec.overhead.items():
        total[name] = total.get(name, Decimal(0)) + _amount(text)
    return total


@dataclass(frozen=True, slots=True)
class PlacedPod:
    """What the scheduler remembers of a pod that has a node."""

    uid: str
    namespace: str
    labels: Mapping[str, str]
    requests: Amounts
    host_ports: frozenset[tuple[str, int]]
    anti_affinity: Sequence[PodAffinityTerm] = ()
    name: str = ""
    priority: int = 0
    created: str = ""

    @classmethod
    def of(cls, pod: Pod) -> PlacedPod:
        affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
        terms = affinity.required_during_scheduling_ignored_during_execution if affinity else ()
        return cls(
            pod.uid,
            pod.namespace,
            pod.labels,
            requests_of(pod),
            host_ports(pod),
            tuple(terms),
            pod.name,
            pod.spec.priority or 0,
            str(pod.metadata.creation_timestamp),
        )


def host_ports(pod: Pod) -> frozenset[tuple[str, int]]:
    """The ports of the node that a pod uses, with their protocols."""
    return frozenset(
        (port.protocol or "TCP", port.host_port)
        for container in pod.spec.containers
        for port in container.ports
        if port.host_port
    )


@dataclass(slots=True)
class NodeUsage:
    """A node and the pods that are on it."""

    node: Node
    pods: dict[str, PlacedPod] = field(default_factory=dict)
    repelling: dict[str, PlacedPod] = field(default_factory=dict)
    """Those with anti-affinity."""
    used: dict[str, Decimal] = field(default_factory=dict)

    def add(self, pod: PlacedPod) -> None:
        if pod.uid not in self.pods:
            self.pods[pod.uid] = pod
            if pod.anti_affinity:
                self.repelling[pod.uid] = pod
            for name, amount in pod.requests.items():
                self.used[name] = self.used.get(name, Decimal(0)) + amount

    def remove(self, uid: str) -> None:
        pod = self.pods.pop(uid, None)
        self.repelling.pop(uid, None)
        if pod is not None:
            for name, amount in pod.requests.items():
                self.used[name] -= amount

    def with_pod(self, pod: PlacedPod) -> NodeUsage:
        """A copy with one more pod."""
        copy = self.copy()
        copy.add(pod)
        return copy

    def copy(self) -> NodeUsage:
        return replace(self, pods=dict(self.pods), repelling=dict(self.repelling), used=dict(self.used))

    def free_share(self) -> float:
        """How free the node is, from 0 to 1: the least of cpu, memory and pods."""
        shares = [1 - len(self.pods) / max(1.0, float(_amount(self.node.status.allocatable.get("pods", "110"))))]
        for name in ("cpu", "memory"):
            allocatable = float(_amount(self.node.status.allocatable.get(name, "0")))
            if allocatable:
                shares.append(1 - float(self.used.get(name, Decimal(0))) / allocatable)
        return sum(shares) / len(shares)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The chosen node, or why there is none."""

    node: str = ""
    message: str = ""


class PodConstraints:
    """What a pod needs of a node, while these pods are on the nodes. `volumes` are those that it uses."""

    def __init__(self, pod: Pod, nodes: Sequence[NodeUsage], volumes: Iterable[PersistentVolume] = ()) -> None:
        self._pod = pod
        self._nodes = nodes
        self._placed = PlacedPod.of(pod)
        self._volumes = [
            each.spec.node_affinity.required
            for each in volumes
            if each.spec.node_affinity and each.spec.node_affinity.required
        ]
        self._repelling = [each for each in nodes if each.repelling]
        self.domains = _SpreadDomains(pod, nodes)

    def why_not(self, usage: NodeUsage) -> str:
        """Why the pod does not fit on a node; empty if it does."""
        if any(not _any_term_matches(each.node_selector_terms, usage.node) for each in self._volumes):
            return "node(s) didn't match PersistentVolume's node affinity"
        return (
            _why_not(self._pod, self._placed, usage)
            or self.domains.why_not(usage.node)
            or _affinity_conflict(self._pod, self._placed, usage, self._nodes, self._repelling)
        )


def choose_node(pod: Pod, nodes: Sequence[NodeUsage], volumes: Iterable[PersistentVolume] = ()) -> Verdict:
    """The least loaded of the nodes on which the pod fits."""
    reasons: Counter[str] = Counter()
    fitting: list[NodeUsage] = []
    constraints = PodConstraints(pod, nodes, volumes)
    for each in nodes:
        if reason := constraints.why_not(each):
            reasons[reason] += 1
        else:
            fitting.append(each)
    if not fitting:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        return Verdict(message=f"0/{len(nodes)} nodes are available: {listed or 'no nodes'}.")
    score = constraints.domains.score
    best = max(fitting, key=lambda each: (_preference(pod, each, nodes) + score(each.node), each.free_share()))
    return Verdict(node=best.node.name)


# --- filters ----------------------------------------------------------------------------------------------------------


def _why_not(pod: Pod, placed: PlacedPod, usage: NodeUsage) -> str:
    node, spec = usage.node, pod.spec
    if node.spec.unschedulable and not any(_tolerates_unschedulable(each) for each in spec.tolerations):
        return "node(s) were unschedulable"
    if taint := untolerated(spec.tolerations, node.spec.taints, ("NoSchedule", "NoExecute")):
        value = f": {taint.value}" if taint.value else ""
        return f"node(s) had untolerated taint(s) {{{taint.key}{value}}}"
    if not matches_node(pod, node):
        return "node(s) didn't match Pod's node affinity/selector"
    if placed.host_ports and any(placed.host_ports & other.host_ports for other in usage.pods.values()):
        return "node(s) didn't have free ports for the requested pod ports"
    return _lacking(placed, usage)


def _lacking(placed: PlacedPod, usage: NodeUsage) -> str:
    allocatable = usage.node.status.allocatable
    if len(usage.pods) >= _amount(allocatable.get("pods", "110")):
        return "Too many pods"
    for name, amount in placed.requests.items():
        if amount and amount > _amount(allocatable.get(name, "0")) - usage.used.get(name, Decimal(0)):
            return f"Insufficient {name}"
    return ""


def _tolerates_unschedulable(toleration: Toleration) -> bool:
    taint = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
    return tolerates(toleration, taint)


def untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint], effects: Sequence[str]) -> Taint | None:
    """The first taint with one of these effects that no toleration matches."""
    known = list(tolerations)
    for taint in taints:
        if taint.effect in effects and not any(tolerates(each, taint) for each in known):
            return taint
    return None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration matches a taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and (toleration.value or "") == (taint.value or "")


def matches_node(pod: Pod, node: Node) -> bool:
    """Whether the node selector and the required node affinity of a pod match a node."""
    if any(node.labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or _any_term_matches(required.node_selector_terms, node)


def _any_term_matches(terms: Iterable[NodeSelectorTerm], node: Node) -> bool:
    return any(_term_matches(term, node) for term in terms)


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    return all(
        _expression_matches(each.key, each.operator, each.values, node.labels) for each in term.match_expressions
    ) and all(
        _expression_matches(each.key, each.operator, each.values, {"metadata.name": node.name})
        for each in term.match_fields
    )


def _expression_matches(key: str, operator: str, values: Sequence[str], labels: Mapping[str, str]) -> bool:
    value = labels.get(key)
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            try:
                number, limit = int(value or ""), int(values[0])
            except (ValueError, IndexError):
                return False
            return number > limit if operator == "Gt" else number < limit
    return False


# --- affinity between pods --------------------------------------------------------------------------------------------


def _affinity_conflict(
    pod: Pod, placed: PlacedPod, usage: NodeUsage, nodes: Sequence[NodeUsage], repelling: Sequence[NodeUsage]
) -> str:
    affinity: Affinity | None = pod.spec.affinity
    wanted = affinity.pod_affinity if affinity else None
    for term in wanted.required_during_scheduling_ignored_during_execution if wanted else ():
        neighbours = [*_pods_in_domain(term, usage.node, nodes)]
        matching = any(_term_selects(term, each, pod.namespace) for each in neighbours)
        # The first pod of a group that wants to be together may go anywhere.
        is_first = _term_selects(term, placed, pod.namespace) and not any(
            _term_selects(term, each, pod.namespace) for other in nodes for each in other.pods.values()
        )
        if not matching and not is_first:
            return "node(s) didn't match pod affinity rules"
    for term in placed.anti_affinity:
        if any(_term_selects(term, each, pod.namespace) for each in _pods_in_domain(term, usage.node, nodes)):
            return "node(s) didn't match pod anti-affinity rules"
    for other in repelling:
        for each in other.repelling.values():
            for term in each.anti_affinity:
                if _same_domain(term, usage.node, other.node) and _term_selects(term, placed, each.namespace):
                    return "node(s) didn't satisfy existing pods anti-affinity rules"
    return ""


def _pods_in_domain(term: PodAffinityTerm, node: Node, nodes: Sequence[NodeUsage]) -> Iterable[PlacedPod]:
    for other in nodes:
        if _same_domain(term, node, other.node):
            yield from other.pods.values()


def _same_domain(term: PodAffinityTerm, one: Node, other: Node) -> bool:
    value = one.labels.get(term.topology_key)
    return value is not None and value == other.labels.get(term.topology_key)


def _term_selects(term: PodAffinityTerm, pod: PlacedPod, namespace: str) -> bool:
    namespaces = term.namespaces or [namespace]
    if pod.namespace not in namespaces and term.namespace_selector is None:
        return False
    return term.label_selector is not None and _selector(term.label_selector.to_dict()).matches(pod.labels)


def _selector(tree: dict[str, object]) -> LabelSelector:
    return LabelSelector.from_dict(tree)


class _SpreadDomains:
    """How the pods that the topology spread constraints of a pod select are spread now."""

    def __init__(self, pod: Pod, nodes: Sequence[NodeUsage]) -> None:
        self._constraints: list[tuple[TopologySpreadConstraint, Counter[str]]] = []
        for constraint in pod.spec.topology_spread_constraints:
            selector = _selector(constraint.label_selector.to_dict() if constraint.label_selector else {})
            counts: Counter[str] = Counter()
            for each in nodes:
                if (domain := each.node.labels.get(constraint.topology_key)) is None or not matches_node(
                    pod, each.node
                ):
                    continue
                counts[domain] += sum(
                    selector.matches(other.labels) for other in each.pods.values() if other.namespace == pod.namespace
                )
            self._constraints.append((constraint, counts))

    def why_not(self, node: Node) -> str:
        for constraint, counts in self._constraints:
            if constraint.when_unsatisfiable == "ScheduleAnyway":
                continue
            domain = node.labels.get(constraint.topology_key)
            if domain is None:
                return "node(s) didn't match pod topology spread constraints (missing required label)"
            if counts[domain] + 1 - min(counts.values(), default=0) > constraint.max_skew:
                return "node(s) didn't match pod topology spread constraints"
        return ""

    def score(self, node: Node) -> float:
        return -sum(
            float(counts[node.labels.get(constraint.topology_key, "")]) for constraint, counts in self._constraints
        )


# --- preferences ------------------------------------------------------------------------------------------------------


def _preference(pod: Pod, usage: NodeUsage, nodes: Sequence[NodeUsage]) -> float:
    affinity = pod.spec.affinity
    if affinity is None:
        return 0.0
    score = 0.0
    if affinity.node_affinity:
        for preferred in affinity.node_affinity.preferred_during_scheduling_ignored_during_execution:
            score += preferred.weight * _term_matches(preferred.preference, usage.node)
    for sign, group in ((1, affinity.pod_affinity), (-1, affinity.pod_anti_affinity)):
        for weighted in group.preferred_during_scheduling_ignored_during_execution if group else ():
            term = weighted.pod_affinity_term
            found = sum(_term_selects(term, each, pod.namespace) for each in _pods_in_domain(term, usage.node, nodes))
            score += sign * weighted.weight * found
    return score
