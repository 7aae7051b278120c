"""Waiting for the state of an object."""

import asyncio
from typing import Any

import pytest
from tests.contract.client.samples import HOLD, RELEASE, config_map, deployment, pod

from listwatch.api.watch_events import DeletedEvent, ModifiedEvent
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.conditions import condition, created, deleted, jsonpath, ready
from listwatch.client.wait.until import until
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import WaitTimeoutError
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Pod

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    "wanted",
    [
        ready,
        "ready",
        "condition=Ready",
        condition("Ready"),
        "jsonpath={.status.phase}=Running",
        jsonpath("{.status.phase}=Running"),
        lambda pod: pod is not None and pod.status.phase == "Running",
    ],
)
async def test_a_pod_is_waited_for(pods: ResourceClient[Pod], wanted: Any):
    waiting = asyncio.create_task(wait_for(pods, "web", wanted, timeout=60))
    await pods.create(pod("web"))
    await pods.patch("web", {"status": READY}, type="merge", subresource="status")
    found = await waiting
    assert found is not None
    assert (found.name, found.status.phase) == ("web", "Running")


async def test_a_deployment_is_ready_when_it_is_rolled_out(deployments: ResourceClient[Deployment]):
    await deployments.create(deployment("web", replicas=2))
    counts = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    waiting = asyncio.create_task(wait_for(deployments, "web", ready, timeout=60))
    for status in ({**counts, "availableReplicas": 1}, {**counts, "observedGeneration": 1}):
        await deployments.patch("web", {"status": status}, type="merge", subresource="status")
    found = await waiting
    assert found is not None
    assert (found.status.available_replicas, found.status.observed_generation) == (2, 1)


@pytest.mark.parametrize("wanted", [created, "created", "create"])
async def test_a_creation_can_be_waited_for(config_maps: ResourceClient[ConfigMap], wanted: Any):
    waiting = asyncio.create_task(wait_for(config_maps, "a", wanted, timeout=60))
    await config_maps.create(config_map("b"))
    made = await config_maps.create(config_map("a"))
    found = await waiting
    assert found is not None
    assert found.uid == made.uid


@pytest.mark.parametrize("wanted", [deleted, "deleted"])
async def test_a_deletion_can_be_waited_for(config_maps: ResourceClient[ConfigMap], wanted: Any):
    await config_maps.create(config_map("a", finalizers=[HOLD]))
    await config_maps.delete("a")
    waiting = asyncio.create_task(wait_for(config_maps, "a", wanted, timeout=60))
    await config_maps.patch("a", RELEASE)
    assert await waiting is None


async def test_a_condition_that_is_met_returns_at_once(config_maps: ResourceClient[ConfigMap]):
    assert await wait_for(config_maps, "a", deleted, timeout=60) is None


async def test_a_timeout_reports_the_last_state(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    with pytest.raises(WaitTimeoutError, match="'a'") as caught:
        await wait_for(config_maps, "a", deleted, timeout=0.5)
    assert isinstance(caught.value.last, ConfigMap)
    assert caught.value.last.uid == made.uid


async def test_conditions_are_met_one_after_the_other_by_events(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    await config_maps.patch("a", {"data": {"x": "1"}})
    await config_maps.delete("a")
    event = await until(
        config_maps.selecting(field_selector={"metadata.name": "a"}),
        made.resource_version,
        lambda event: isinstance(event, ModifiedEvent),
        lambda event: isinstance(event, DeletedEvent),
        timeout=60,
    )
    assert event.object.data == {"x": "1"}
