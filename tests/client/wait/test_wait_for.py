"""Waiting for an object to be as wanted: what is true when, and what is asked of the server meanwhile."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.conditions import condition, deleted, jsonpath, parse_condition, ready
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import ForbiddenError, MalformedError, UsageError, WaitTimeoutError
from listwatch.models.core_v1 import Container, Pod, PodCondition, PodSpec, PodStatus
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer, CutStream, Expire, Fail, Fault
from listwatch.testing.clocks import InstantClock, VirtualClock

READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.fixture
def pods(client: ClientSet) -> ResourceClient[Pod]:
    return client.core_v1.pods("default")


def pod(name: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name), spec=PodSpec(containers=[Container(name="main", image="nginx")]))


async def set_status(pods: ResourceClient[Pod], name: str, **status: Any) -> None:
    await pods.patch(name, {"status": status}, type="merge", subresource="status")


async def started(server: APIServer, waiting: Coroutine[Any, Any, Any], *, watches: int = 1) -> asyncio.Task[Any]:
    """The task that waits, as soon as it watches."""
    task = asyncio.create_task(waiting)
    await server.wait_for_requests(watches, verb="watch")
    return task


# --- waiting ---------------------------------------------------------------------------------------------------------


async def test_what_is_true_already_is_not_waited_for(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    await set_status(pods, "web-0", **READY)
    server.requests.clear()
    found = await wait_for(pods, "web-0", ready)
    assert found is not None
    assert found.status.conditions[0].type == "Ready"
    assert [each.verb for each in server.requests] == ["list"]


async def test_a_change_is_seen_when_it_happens(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    waiting = await started(server, wait_for(pods, "web-0", "condition=Ready", timeout=60))
    await set_status(pods, "web-0", phase="Running")
    assert not waiting.done()
    await set_status(pods, "web-0", **READY)
    found = await waiting
    assert isinstance(found, Pod)
    assert len(server.requests.matching(verb="watch")) == 1


async def test_what_is_not_there_yet_may_come(server: APIServer, pods: ResourceClient[Pod]):
    waiting = await started(server, wait_for(pods, "web-0", lambda found: found is not None))
    await pods.create(pod("other"))
    await pods.create(pod("web-0"))
    assert (await waiting).name == "web-0"


async def test_a_deletion_can_be_waited_for(server: APIServer, pods: ResourceClient[Pod]):
    assert await wait_for(pods, "web-0", deleted) is None
    await pods.create(pod("web-0"))
    waiting = await started(server, wait_for(pods, "web-0", "deleted"))
    await pods.delete("web-0", grace_period_seconds=0)
    assert await waiting is None


async def test_it_is_waited_through_interruptions(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    server.faults.add(Fault(CutStream(after_events=1), verb="watch", times=3))
    waiting = asyncio.create_task(wait_for(pods, "web-0", ready, clock=InstantClock()))
    for number in range(4):
        await set_status(pods, "web-0", message=str(number))
    await set_status(pods, "web-0", **READY)
    assert (await waiting).status.conditions


async def test_what_the_server_forgot_is_listed_again(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    clock = InstantClock()
    waiting = await started(server, wait_for(pods, "web-0", ready, clock=clock))
    server.faults.add(Fault(Expire(), verb="watch", times=1))
    await server.wait_for_requests(2, verb="watch")
    await set_status(pods, "web-0", **READY)
    assert await waiting
    assert len(server.requests.matching(verb="list")) == 2
    assert 0.8 <= clock.slept[0] <= 1.6


async def test_waiting_ends_in_time_and_says_what_it_saw(server: APIServer, pods: ResourceClient[Pod]):
    clock = VirtualClock()
    await pods.create(pod("web-0"))
    waiting = await started(server, wait_for(pods, "web-0", ready, timeout=30, clock=clock))
    await clock.advance(30)
    with pytest.raises(
        WaitTimeoutError,
        match=r"timed out after 30 s waiting for 'web-0' of <.*pods.*> to be ready: its last state is <Pod",
    ) as caught:
        await waiting
    assert isinstance(caught.value.last, Pod)


async def test_waiting_for_what_never_comes_says_that_it_is_not_there(server: APIServer, pods: ResourceClient[Pod]):
    clock = VirtualClock()
    waiting = await started(server, wait_for(pods, "web-0", "condition=Ready", timeout=30, clock=clock))
    await clock.advance(30)
    with pytest.raises(WaitTimeoutError, match="to be condition Ready=True: it does not exist"):
        await waiting


async def test_what_may_not_be_listed_cannot_be_waited_for(server: APIServer, pods: ResourceClient[Pod]):
    server.faults.add(Fault(Fail(ForbiddenError("no")), verb="list"))
    with pytest.raises(ForbiddenError):
        await wait_for(pods, "web-0", ready, timeout=30)


async def test_cancelling_leaves_no_watch_behind(server: APIServer, client: ClientSet, pods: ResourceClient[Pod]):
    waiting = await started(server, wait_for(pods, "web-0", ready))
    waiting.cancel()
    await asyncio.wait({waiting})
    assert client.rest.statistics().open_watches == 0


# --- conditions ------------------------------------------------------------------------------------------------------


def thing(kind: str, api_version: str = "v1", *, generation: int = 1, **parts: Any) -> Unstructured:
    metadata = {"name": "a", "generation": generation}
    return Unstructured({"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts})


def with_condition(type_: str, status: str = "True") -> dict[str, Any]:
    return {"conditions": [{"type": "Other", "status": "True"}, {"type": type_, "status": status}]}


def replicas(wanted: int, **counts: int) -> dict[str, Any]:
    return {"spec": {"replicas": wanted}, "status": {"observedGeneration": 1, **counts}}


ALL = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}


@pytest.mark.parametrize(
    ("obj", "is_ready"),
    [
        (None, False),
        (thing("Pod", status=with_condition("Ready")), True),
        (thing("Pod", status=with_condition("Ready", "False")), False),
        (thing("Pod"), False),
        (thing("Node", status=with_condition("Ready", "Unknown")), False),
        (thing("Namespace", status={"phase": "Active"}), True),
        (thing("Namespace", status={"phase": "Terminating"}), False),
        (thing("PersistentVolumeClaim", status={"phase": "Pending"}), False),
        (thing("Service", spec={"type": "ClusterIP"}), True),
        (thing("Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {}}), False),
        (thing("Service", spec={"type": "LoadBalancer"}, status={"loadBalancer": {"ingress": [{"ip": "::1"}]}}), True),
        (thing("Deployment", "apps/v1", **replicas(2, **ALL)), True),
        (thing("Deployment", "apps/v1", **replicas(2, **ALL | {"replicas": 3})), False),  # an old one still runs
        (thing("Deployment", "apps/v1", **replicas(2, **ALL | {"availableReplicas": 1})), False),
        (thing("Deployment", "apps/v1", generation=2, **replicas(2, **ALL)), False),  # not seen by its controller yet
        (thing("Deployment", "apps/v1", **replicas(0)), True),
        (thing("Deployment", "apps/v1", spec={}, status={}), False),
        (thing("StatefulSet", "apps/v1", **replicas(2, replicas=2, readyReplicas=1)), False),
        (thing("ReplicaSet", "apps/v1", **replicas(2, readyReplicas=2)), True),
        (
            thing(
                "DaemonSet",
                "apps/v1",
                status={
                    "observedGeneration": 1,
                    "desiredNumberScheduled": 3,
                    "numberReady": 3,
                    "updatedNumberScheduled": 3,
                },
            ),
            True,
        ),
        (thing("DaemonSet", "apps/v1", status={"observedGeneration": 1, "desiredNumberScheduled": 3}), False),
        (thing("Job", "batch/v1", status=with_condition("Complete")), True),
        (thing("Job", "batch/v1", status=with_condition("Failed")), False),
        (thing("CustomResourceDefinition", "apiextensions.k8s.io/v1", status=with_condition("Established")), True),
        (thing("ConfigMap", data={}), True),
        (thing("Widget", "example.com/v1"), False),
        (thing("Widget", "example.com/v1", status=with_condition("Ready")), True),
        (thing("Widget", "example.com/v1", status=with_condition("Available")), True),
        (thing("Pod", "example.com/v1", status={"phase": "Ready"}), False),
    ],
    ids=str,
)
def test_each_kind_says_in_its_own_way_that_it_is_ready(obj: Unstructured | None, is_ready: bool):
    assert ready(obj) is is_ready


def test_what_is_on_its_way_out_is_not_ready():
    leaving = thing("Pod", status=with_condition("Ready"))
    leaving.metadata = ObjectMeta.from_dict({"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert not ready(leaving)
    assert not deleted(leaving)


def test_typed_objects_are_judged_as_well():
    running = Pod(status=PodStatus(phase="Running", conditions=[PodCondition(type="Ready", status="True")]))
    assert all(each(running) for each in (ready, condition("Ready"), jsonpath("{.status.phase}=Running")))


RUNNING = thing("Pod", status={"phase": "Running", "count": 3, "good": True, **with_condition("Ready", "False")})


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("ready", False),
        ("deleted", False),
        ("delete", False),
        ("condition=Ready", False),
        ("condition=Ready=False", True),
        ("condition=Missing=False", False),
        ("jsonpath={.status.phase}=Running", True),
        ("jsonpath={.status.phase}='Running'", True),
        ("jsonpath=.status.phase=Running", True),
        ("jsonpath={.status.phase}=Pending", False),
        ("jsonpath={.status.phase}", True),
        ("jsonpath={.status.nothing}", False),
        ("jsonpath={.status.phase}=", False),
        ("jsonpath={.status.count}=3", True),
        ("jsonpath={.status.good}=true", True),
        ('jsonpath={.status.conditions[?(@.type=="Ready")].status}=False', True),
        ('jsonpath=.status.conditions[?(@.type=="Ready")].status=False', True),
    ],
)
def test_a_condition_may_be_text(text: str, is_met: bool):
    assert parse_condition(text)(RUNNING) is is_met


@pytest.mark.parametrize("text", ["", "redy", "ready=yes", "condition", "condition=", "jsonpath="])
def test_a_text_that_is_no_condition_is_refused(text: str):
    with pytest.raises(UsageError, match=r"invalid condition .*: expected 'ready', 'deleted', 'condition=TYPE'"):
        parse_condition(text)


def test_a_path_that_cannot_be_read_is_refused():
    with pytest.raises(MalformedError, match="cannot read the JSONPath"):
        jsonpath("{.status phase}=Running")


@pytest.mark.parametrize("each", [condition("Ready"), jsonpath("{.status.phase}=Running"), ready])
def test_nothing_is_true_of_what_is_not_there(each: Any):
    assert not each(None)


def test_conditions_can_be_shown():
    each = [ready, deleted, condition("Ready", "False"), jsonpath("{.a}=1"), jsonpath("{.a}")]
    assert list(map(str, each)) == ["ready", "deleted", "condition Ready=False", "jsonpath {.a}=1", "jsonpath {.a}"]


async def test_what_is_no_condition_is_refused(pods: ResourceClient[Pod]):
    async def is_there(pod: Pod | None) -> bool:
        return pod is not None

    with pytest.raises(UsageError, match="is async, and its result would not be awaited: pass a plain function"):
        await wait_for(pods, "web", is_there)  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(
        UsageError, match="7 is not a condition: pass a function of an object, or a string such as 'ready'"
    ):
        await wait_for(pods, "web-0", 7)  # type: ignore[arg-type]  # it is what is tested
