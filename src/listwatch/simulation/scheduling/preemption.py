"""Decides which pods of lower priority are preempted by a pod that fits nowhere: pure, as `node_choice.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from listwatch.models.core_v1 import PersistentVolume, Pod
from listwatch.simulation.scheduling.node_choice import NodeUsage, PlacedPod, PodConstraints

__all__ = ["Preemption", "choose_victims"]


@dataclass(frozen=True, slots=True)
class Preemption:
    """The node on which a pod fits as soon as the victims are gone."""

    node: str
    victims: tuple[PlacedPod, ...]


def choose_victims(pod: Pod, nodes: Sequence[NodeUsage], volumes: Iterable[PersistentVolume] = ()) -> Preemption | None:
    """The node where the least important pods have to go, as few as possible; None if that does not help anywhere."""
    if pod.spec.preemption_policy == "Never":
        return None
    given = [*volumes]
    found = [each for number in range(len(nodes)) if (each := _on_node(pod, nodes, number, given)) is not None]
    return min(found, key=_cost, default=None)


def _on_node(
    pod: Pod, nodes: Sequence[NodeUsage], number: int, volumes: Sequence[PersistentVolume]
) -> Preemption | None:
    usage = nodes[number].copy()
    priority = pod.spec.priority or 0
    lower = [each for each in usage.pods.values() if each.priority < priority]
    if not lower:
        return None
    changed = [*nodes[:number], usage, *nodes[number + 1 :]]
    for each in lower:
        usage.remove(each.uid)
    if PodConstraints(pod, changed, volumes).why_not(usage):
        return None
    victims = []
    for each in sorted(lower, key=lambda each: (-each.priority, each.created)):  # the most important ones stay
        usage.add(each)
        if PodConstraints(pod, changed, volumes).why_not(usage):
            usage.remove(each.uid)
            victims.append(each)
    return Preemption(usage.node.name, tuple(victims))


def _cost(each: Preemption) -> tuple[int, int, int]:
    priorities = [victim.priority for victim in each.victims]
    return max(priorities, default=0), sum(priority + 2**31 for priority in priorities), len(priorities)
