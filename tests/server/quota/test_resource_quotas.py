"""ResourceQuotas of the embedded server: usage that shrinks, restarts, requests at the same time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.server.caller import Caller

from listwatch.errors import UsageError
from listwatch.server.api_server import APIServer

CORE = "/api/v1/namespaces/default"
QUOTAS, PODS, CONFIG_MAPS = (f"{CORE}/{name}" for name in ("resourcequotas", "pods", "configmaps"))


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return named(name, spec={"containers": [{"name": "a", "image": "a"}], **spec})


def with_resources(**containers: list[dict[str, Any]]) -> dict[str, Any]:
    """A pod with containers that have these resources."""
    spec = {
        kind: [{"name": f"{kind.lower()}-{index}", "image": "a", **each} for index, each in enumerate(found)]
        for kind, found in containers.items()
    }
    return named("web", spec=spec)


async def create_quota(call: Caller, **hard: str) -> None:
    assert (await call("POST", QUOTAS, named("limits", spec={"hard": hard}))).status == 201


async def used(call: Caller) -> dict[str, str]:
    found: dict[str, str] = (await call("GET", f"{QUOTAS}/limits")).json["status"]["used"]
    return found


async def test_a_deleted_object_uses_nothing():
    async with APIServer() as server, Caller(server) as call:
        await create_quota(call, pods="1", configmaps="5")
        await call("POST", PODS, pod("one"))
        assert await used(call) == {"pods": "1", "configmaps": "0"}
        assert (await call("POST", PODS, pod("two"))).status == 403
        await call("DELETE", f"{PODS}/one?gracePeriodSeconds=0")
        assert (await call("POST", PODS, pod("two"))).status == 201


async def test_a_pod_that_has_ended_uses_nothing():
    async with APIServer() as server, Caller(server) as call:
        await create_quota(call, **{"pods": "1", "count/pods": "2"})
        await call("POST", PODS, pod("one"))
        done = await call("GET", f"{PODS}/one")
        await call("PUT", f"{PODS}/one/status", {**done.json, "status": {"phase": "Succeeded"}})
        assert await used(call) == {"pods": "0", "count/pods": "1"}


async def test_objects_that_were_there_before_the_quota_are_counted():
    async with APIServer(bootstrap=False) as server, Caller(server) as call:
        await call("POST", CONFIG_MAPS, named("one"))
        await create_quota(call, configmaps="1")
        assert await used(call) == {"configmaps": "1"}
        assert (await call("POST", CONFIG_MAPS, named("two"))).status == 403


async def test_a_changed_and_a_deleted_quota_take_effect():
    async with APIServer(bootstrap=False) as server, Caller(server) as call:
        await create_quota(call, configmaps="0")
        assert (await call("POST", CONFIG_MAPS, named("one"))).status == 403
        changed = (await call("GET", f"{QUOTAS}/limits")).json
        changed["spec"]["hard"] = {"configmaps": "1", "secrets": "3"}
        await call("PUT", f"{QUOTAS}/limits", changed)
        assert (await call("POST", CONFIG_MAPS, named("one"))).status == 201
        assert await used(call) == {"configmaps": "1", "secrets": "0"}
        await call("DELETE", f"{QUOTAS}/limits")
        assert (await call("POST", CONFIG_MAPS, named("two"))).status == 201


async def test_an_overwritten_status_is_written_again():
    async with APIServer(bootstrap=False) as server, Caller(server) as call:
        await create_quota(call, configmaps="1")
        found = (await call("GET", f"{QUOTAS}/limits")).json
        found["status"]["used"] = {"configmaps": "7"}
        await call("PUT", f"{QUOTAS}/limits/status", found)
        assert await used(call) == {"configmaps": "0"}


async def test_a_rejected_request_uses_nothing():
    async with APIServer(bootstrap=False) as server, Caller(server) as call:
        await create_quota(call, configmaps="2")
        await call("POST", CONFIG_MAPS, named("one"))
        assert (await call("POST", CONFIG_MAPS, named("one"))).status == 409
        assert (await call("POST", CONFIG_MAPS, named("two"))).status == 201
        assert await used(call) == {"configmaps": "2"}


@pytest.mark.parametrize("is_kept", [False, True])
async def test_requests_at_the_same_time_do_not_exceed_a_quota(tmp_path: Path, is_kept: bool):
    data_dir = tmp_path if is_kept else None
    async with APIServer(bootstrap=False, data_dir=data_dir) as server, Caller(server) as call:
        await create_quota(call, configmaps="3")
        replies = await asyncio.gather(*(call("POST", CONFIG_MAPS, named(f"c{number}")) for number in range(20)))
        assert sorted(reply.status for reply in replies) == [201] * 3 + [403] * 17
        assert await used(call) == {"configmaps": "3"}


async def test_a_restarted_server_knows_what_is_used(tmp_path: Path):
    async with APIServer(bootstrap=False, data_dir=tmp_path) as server, Caller(server) as call:
        await create_quota(call, configmaps="1")
        await call("POST", CONFIG_MAPS, named("one"))
    async with APIServer(bootstrap=False, data_dir=tmp_path) as server, Caller(server) as call:
        assert (await call("POST", CONFIG_MAPS, named("two"))).status == 403


REQUESTS = [
    ({"containers": [{}, {}]}, {"cpu": "0", "memory": "0"}),
    ({"containers": [{"limits": {"cpu": "1"}}]}, {"cpu": "1", "memory": "0"}),
    (
        {"containers": [{"requests": {"cpu": "1"}}, {"requests": {"cpu": "500m", "memory": "1Gi"}}]},
        {"cpu": "1500m", "memory": "1Gi"},
    ),
    # The most demanding step of the initialization, with the sidecars that run already.
    (
        {
            "containers": [{"requests": {"cpu": "1"}}],
            "initContainers": [{"always": True, "requests": {"cpu": "1"}}, {"requests": {"cpu": "3"}}],
        },
        {"cpu": "4", "memory": "0"},
    ),
]


@pytest.mark.parametrize(("containers", "expected"), REQUESTS)
async def test_the_requests_of_a_pod_are_those_of_its_largest_step(
    containers: dict[str, list[dict[str, Any]]], expected: dict[str, str]
):
    made = {
        kind: [
            {
                **({"restartPolicy": "Always"} if each.get("always") else {}),
                "resources": {name: value for name, value in each.items() if name != "always"},
            }
            for each in found
        ]
        for kind, found in containers.items()
    }
    async with APIServer(bootstrap=False) as server, Caller(server) as call:
        assert (await call("POST", PODS, with_resources(**made))).status == 201
        await create_quota(call, cpu="9", memory="9Gi")
        assert await used(call) == expected


async def test_the_plugin_can_be_disabled():
    options: Any = {"disable_admission_plugins": ["ResourceQuota"], "bootstrap": False}
    async with APIServer(**options) as server, Caller(server) as call:
        await create_quota(call, configmaps="0")
        assert (await call("POST", CONFIG_MAPS, named("one"))).status == 201


def test_an_unknown_plugin_is_an_error():
    with pytest.raises(
        UsageError,
        match="'Quota' is not an admission plugin of the server, which has Default",
    ):
        APIServer(disable_admission_plugins=["Quota"])
