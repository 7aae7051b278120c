"""Finds the pod that a command names, directly or by its workload, and the container in it."""

from __future__ import annotations

import sys

from listwatch.cli.cluster.session import Session
from listwatch.client.pods.pod_facts import containers_of, default_container
from listwatch.errors import NotFoundError, UsageError
from listwatch.models.core_v1 import Pod
from listwatch.objects.unstructured import Unstructured

__all__ = ["choose_container", "find_owner", "find_pod", "selected_labels"]


async def find_pod(session: Session, text: str, *, purpose: str) -> Pod:
    """Return the pod `NAME`, or the first one of the workload `TYPE/NAME`, by name."""
    pods = session.client.core_v1.pods(session.namespace)
    owner = await find_owner(session, text)
    if owner is None:
        return await pods.get(text.rpartition("/")[2])
    found = sorted(await pods.list(label_selector=selected_labels(owner, text)), key=lambda each: each.name)
    if not found:
        raise NotFoundError(f"{text} has no pods now")
    if len(found) > 1:
        print(f"{text} has {len(found)} pods; {purpose} {found[0].name}", file=sys.stderr)
    return found[0]


async def find_owner(session: Session, text: str) -> Unstructured | None:
    """Return the workload or Service `TYPE/NAME`; None if the text names a pod."""
    kind, slash, name = text.rpartition("/")
    resource = await session.mapper.resource_for(kind) if slash else None
    if resource is None or resource.kind == "Pod":
        return None
    return await session.resource_client(resource).get(name)


def selected_labels(owner: Unstructured, text: str) -> dict[str, str]:
    """Return the labels of the pods that a workload or a Service selects."""
    selector = (owner.get("spec") or {}).get("selector") or {}
    labels = selector.get("matchLabels", selector)
    found = {name: value for name, value in labels.items() if isinstance(value, str)}
    if not found:
        raise UsageError(f"{text} selects no pods: it has no spec.selector; name a pod, as in pod/web-0")
    return found


def choose_container(pod: Pod, requested: str, *, quiet: bool = False) -> str:
    """Return the requested container, or the default one, which is reported if there are several."""
    names = containers_of(pod)
    if requested:
        if requested not in names:
            raise UsageError(f"pod {pod.name} has no container {requested}; it has {', '.join(names)}")
        return requested
    chosen, ordinary = default_container(pod), [each.name for each in pod.spec.containers]
    annotated = "kubectl.kubernetes.io/default-container" in pod.metadata.annotations
    if len(ordinary) > 1 and not annotated and not quiet:
        print(f"container {chosen} of {', '.join(ordinary)}; select one with -c", file=sys.stderr)
    return chosen
