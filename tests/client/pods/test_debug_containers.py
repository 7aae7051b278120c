"""Ephemeral containers, on the embedded server."""

import asyncio

import pytest
from tests.client.pods.local_kubelet import served_pods

from listwatch.client import add_debug_container
from listwatch.errors import NotFoundError, RequestError, WaitTimeoutError
from listwatch.server import AttachSession, FunctionKubelet


async def test_a_debug_container_is_added_and_attached_to():
    async def attach(session: AttachSession) -> int:
        await session.stdout.write(session.container)
        return 0

    async with served_pods(FunctionKubelet(attach=attach)) as pods:
        adding = asyncio.create_task(
            add_debug_container(pods, "web-0", "busybox", command=["sh"], target="main", env={"A": "b"})
        )
        async with pods.watch(field_selector="metadata.name=web-0") as events:
            async for event in events:
                if event.object.spec.ephemeral_containers:
                    break
        [added] = event.object.spec.ephemeral_containers
        state = {"name": added.name, "image": "busybox", "imageID": "", "ready": False, "restartCount": 0}
        status = {"ephemeralContainerStatuses": [{**state, "state": {"running": {}}}]}
        await pods.patch("web-0", {"status": status}, type="merge", subresource="status")
        name = await adding
        async with pods.attach("web-0", container=name) as process:
            result = await process.communicate()
    assert name == added.name
    assert name.startswith("debugger-")
    assert (added.image, added.command, added.target_container_name) == ("busybox", ["sh"], "main")
    assert [(each.name, each.value) for each in added.env] == [("A", "b")]
    assert result.text == name


async def test_a_debug_container_that_does_not_start_raises():
    async with served_pods(None) as pods:
        with pytest.raises(WaitTimeoutError):
            await add_debug_container(pods, "web-0", "busybox", timeout=0.05)
        assert await add_debug_container(pods, "web-0", "busybox", container="tools", wait=False) == "tools"


async def test_a_debug_container_needs_a_pod_and_an_image():
    async with served_pods(None) as pods:
        with pytest.raises(NotFoundError):
            await add_debug_container(pods, "no", "busybox")
        with pytest.raises(RequestError, match="needs an image"):
            await add_debug_container(pods, "web-0", "")
