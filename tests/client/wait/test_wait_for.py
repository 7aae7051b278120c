"""wait_for and its conditions."""

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


async def test_a_condition_that_is_met_returns_at_once(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    await set_status(pods, "web-0", **READY)
    server.requests.clear()
    found = await wait_for(pods, "web-0", ready)
    assert found is not None
    assert found.status.conditions[0].type == "Ready"
    assert [each.verb for each in server.requests] == ["list"]


async def test_a_change_is_seen_by_watching(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    waiting = await started(server, wait_for(pods, "web-0", "condition=Ready", timeout=60))
    await set_status(pods, "web-0", phase="Running")
    assert not waiting.done()
    await set_status(pods, "web-0", **READY)
    found = await waiting
    assert isinstance(found, Pod)
    assert len(server.requests.matching(verb="watch")) == 1


async def test_a_missing_object_may_be_created_later(server: APIServer, pods: ResourceClient[Pod]):
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


async def test_the_wait_survives_interruptions(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    server.faults.add(Fault(CutStream(after_events=1), verb="watch", times=3))
    waiting = asyncio.create_task(wait_for(pods, "web-0", ready, clock=InstantClock()))
    for number in range(4):
        await set_status(pods, "web-0", message=str(number))
    await set_status(pods, "web-0", **READY)
    assert (await waiting).status.conditions


async def test_an_expired_watch_is_relisted(server: APIServer, pods: ResourceClient[Pod]):
    await pods.create(pod("web-0"))
    clock = InstantClock()
    waiting = await started(server, wait_for(pods, "web-0", ready, clock=clock))
    server.faults.add(Fault(Expire(), verb="watch", times=1))
    await server.wait_for_requests(2, verb="watch")
    await set_status(pods, "web-0", **READY)
    assert await waiting
    assert len(server.requests.matching(verb="list")) == 2
    assert 0.8 <= clock.slept[0] <= 1.6


async def test_a_timeout_reports_the_last_state(server: APIServer, pods: ResourceClient[Pod]):
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


async def test_a_timeout_reports_the_phase_and_the_conditions(server: APIServer, pods: ResourceClient[Pod]):
    clock = VirtualClock()
    await pods.create(pod("web-0"))
    unready = {"type": "Ready", "status": "False", "reason": "Unready", "message": "no container runs"}
    await set_status(pods, "web-0", phase="Pending", conditions=[{"type": "PodScheduled", "status": "True"}, unready])
    waiting = await started(server, wait_for(pods, "web-0", ready, timeout=30, clock=clock))
    await clock.advance(30)
    with pytest.raises(WaitTimeoutError) as caught:
        await waiting
    assert str(caught.value).endswith(
        " with phase Pending, PodScheduled=True, Ready=False (Unready: no container runs)"
    )


async def test_a_timeout_reports_that_the_object_does_not_exist(server: APIServer, pods: ResourceClient[Pod]):
    clock = VirtualClock()
    waiting = await started(server, wait_for(pods, "web-0", "condition=Ready", timeout=30, clock=clock))
    await clock.advance(30)
    with pytest.raises(WaitTimeoutError, match="to be condition Ready=True: it does not exist"):
        await waiting


async def test_an_error_of_the_first_list_is_raised(server: APIServer, pods: ResourceClient[Pod]):
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
def test_readiness_depends_on_the_kind(obj: Unstructured | None, is_ready: bool):
    assert ready(obj) is is_ready


def test_an_object_with_a_deletion_timestamp_is_not_ready():
    leaving = thing("Pod", status=with_condition("Ready"))
    leaving.metadata = ObjectMeta.from_dict({"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert not ready(leaving)
    assert not deleted(leaving)


def test_typed_objects_can_be_ready():
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
def test_a_condition_may_be_a_string(text: str, is_met: bool):
    assert parse_condition(text)(RUNNING) is is_met


@pytest.mark.parametrize("text", ["", "redy", "ready=yes", "condition", "condition=", "jsonpath="])
def test_an_invalid_condition_string_is_rejected(text: str):
    with pytest.raises(UsageError, match=r"invalid condition .*: expected 'ready', 'created', 'deleted'"):
        parse_condition(text)


def test_an_invalid_path_is_rejected():
    with pytest.raises(MalformedError, match="cannot read the JSONPath"):
        jsonpath("{.status phase}=Running")


@pytest.mark.parametrize("each", [condition("Ready"), jsonpath("{.status.phase}=Running"), ready])
def test_no_condition_but_deleted_is_met_by_a_missing_object(each: Any):
    assert not each(None)


def test_conditions_have_a_string_form():
    each = [ready, deleted, condition("Ready", "False"), jsonpath("{.a}=1"), jsonpath("{.a}")]
    assert list(map(str, each)) == ["ready", "deleted", "condition Ready=False", "jsonpath {.a}=1", "jsonpath {.a}"]


async def test_an_invalid_condition_is_rejected(pods: ResourceClient[Pod]):
    async def is_there(pod: Pod | None) -> bool:
        return pod is not None

    with pytest.raises(UsageError, match="is async, and its result would not be awaited: pass a plain function"):
        await wait_for(pods, "web", is_there)  # type: ignore[arg-type]  # the error under test
    with pytest.raises(
        UsageError, match="7 is not a condition: pass a function of an object, or a string such as 'ready'"
    ):
        await wait_for(pods, "web-0", 7)  # type: ignore[arg-type]  # it is what is tested
