"""The logs of many pods, on the embedded server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.client.pods.local_kubelet import pod_tree, served_pods

from listwatch.client import PodLogs, ResourceClient
from listwatch.errors import ForbiddenError, UsageError
from listwatch.models.core_v1 import Pod
from listwatch.server import ContainerLog, FunctionKubelet, LogRequest


class Logs:
    """The logs of all containers; a stream can be cut after some bytes."""

    def __init__(self) -> None:
        self.logs: dict[str, ContainerLog] = {}
        self.requests: list[LogRequest] = []
        self.cuts: list[int] = []

    def of(self, name: str) -> ContainerLog:
        return self.logs.setdefault(name, ContainerLog())

    async def read(self, request: LogRequest) -> AsyncIterator[bytes]:
        self.requests.append(request)
        left = self.cuts.pop(0) if self.cuts else None
        async for piece in self.of(f"{request.pod.name}/{request.container}").read(request):
            if left is None:
                yield piece
                continue
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    @property
    def kubelet(self) -> FunctionKubelet:
        return FunctionKubelet(logs=self.read)


def running(name: str, *containers: str, **labels: str) -> dict[str, Any]:
    tree = pod_tree(name, *containers, **labels)
    tree["status"]["containerStatuses"] = [
        {"name": each, "image": "x", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
        for each in containers or ("main",)
    ]
    return tree


async def take(logs: PodLogs[Pod], count: int) -> list[str]:
    lines = [await anext(logs) for _ in range(count)]
    return [f"{line.pod}/{line.container} {line.text}" for line in lines]


async def end(pods: ResourceClient[Pod], name: str) -> None:
    await pods.patch(name, {"status": {"phase": "Succeeded"}}, type="merge", subresource="status")


async def test_the_logs_of_the_selected_pods_are_read_to_their_ends():
    logs = Logs()
    for name in ("a", "b", "c"):
        logs.of(f"{name}/main").write(f"one of {name}\ntwo of {name}\n")
    trees = [pod_tree("a", app="web"), pod_tree("b", app="web"), pod_tree("c", app="other")]
    async with served_pods(logs.kubelet, *trees) as pods, PodLogs(pods, label_selector="app=web") as lines:
        found = [(line.pod, line.text) async for line in lines]
    assert sorted(found) == [("a", "one of a"), ("a", "two of a"), ("b", "one of b"), ("b", "two of b")]


async def test_containers_are_chosen():
    logs = Logs()
    for name in ("x", "y"):
        logs.of(f"a/{name}").write(f"{name}\n")
    async with served_pods(logs.kubelet, pod_tree("a", "x", "y")) as pods:
        for options, expected in (({}, ["x"]), ({"container": "y"}, ["y"]), ({"all_containers": True}, ["x", "y"])):
            async with PodLogs(pods, **options) as lines:  # type: ignore[arg-type]  # wrong on purpose, or options by name
                assert sorted([line.text async for line in lines]) == expected
        async with PodLogs(pods, container="z") as lines:
            assert [line async for line in lines] == []
    with pytest.raises(UsageError, match="either container or all_containers"):
        PodLogs(pods, container="y", all_containers=True)


async def test_new_lines_and_new_pods_are_followed():
    logs = Logs()
    logs.of("a/main").write("old\n")
    async with (
        served_pods(logs.kubelet, running("a", app="web")) as pods,
        PodLogs(pods, label_selector="app=web", follow=True) as lines,
    ):
        assert await take(lines, 1) == ["a/main old"]
        logs.of("a/main").write("new\n")
        assert await take(lines, 1) == ["a/main new"]
        logs.of("b/main").write("of b\n")
        await pods.create(running("b", app="web"))
        assert await take(lines, 1) == ["b/main of b"]
    assert pods._rest.statistics().open_streams == 0


async def test_a_cut_stream_is_resumed_without_loss_or_repetition():
    logs = Logs()
    text = "".join(f"line {number}\n" for number in range(40))
    logs.of("a/main").write(text)
    logs.cuts = [50, 700, 333, 1]
    async with served_pods(logs.kubelet, running("a")) as pods, PodLogs(pods, follow=True) as lines:
        assert await take(lines, 40) == [f"a/main line {number}" for number in range(40)]
        logs.of("a/main").write("last\n")
        assert await take(lines, 1) == ["a/main last"]
    assert len(logs.requests) == 5
    assert all(each.since_time is not None for each in logs.requests[2:])


async def test_a_container_that_has_ended_is_not_read_again():
    logs = Logs()
    logs.of("a/main").write("first\nlast without newline")
    logs.of("a/main").close()
    async with served_pods(logs.kubelet, running("a")) as pods:
        await end(pods, "a")
        async with PodLogs(pods, follow=True) as lines:
            assert await take(lines, 2) == ["a/main first", "a/main last without newline"]
            logs.of("b/main").write("of b\n")
            await pods.create(running("b"))
            assert await take(lines, 1) == ["b/main of b"]
    assert [each.pod.name for each in logs.requests] == ["a", "b"]


async def test_tail_applies_to_pods_that_exist_at_the_start():
    logs = Logs()
    for name in ("a", "b"):
        logs.of(f"{name}/main").write("one\ntwo\n")
    async with served_pods(logs.kubelet, running("a")) as pods, PodLogs(pods, follow=True, tail_lines=1) as lines:
        assert await take(lines, 1) == ["a/main two"]
        await pods.create(running("b"))
        assert await take(lines, 2) == ["b/main one", "b/main two"]


async def test_the_rest_of_a_previous_run_is_read_after_a_restart():
    log, requests = ContainerLog(), []
    before, restarted = asyncio.Event(), asyncio.Event()

    async def read(request: LogRequest) -> AsyncIterator[bytes]:
        requests.append(request)
        if len(requests) == 1:
            yield b"2026-01-01T00:00:00.1Z one\n"
            before.set()
            await restarted.wait()
        elif request.previous:
            yield b"2026-01-01T00:00:00.1Z one\n2026-01-01T00:00:00.2Z two\n"
        else:
            yield b"2026-01-01T00:00:05.0Z three\n"
            async for piece in log.read(request):
                yield piece

    async with served_pods(FunctionKubelet(logs=read), running("a")) as pods, PodLogs(pods, follow=True) as lines:
        assert await take(lines, 1) == ["a/main one"]
        await before.wait()
        status = running("a")["status"]
        status["containerStatuses"][0]["restartCount"] = 1
        changed = await pods.patch("a", {"status": status}, type="merge", subresource="status")
        assert changed.status.container_statuses[0].restart_count == 1
        restarted.set()
        assert await take(lines, 2) == ["a/main two", "a/main three"]
    assert [each.previous for each in requests] == [False, True, False]


async def test_an_error_of_the_server_ends_the_iteration():
    async def read(request: LogRequest) -> AsyncIterator[bytes]:
        raise ForbiddenError("logs are not for you")
        yield b""

    async with served_pods(FunctionKubelet(logs=read), running("a")) as pods, PodLogs(pods, follow=True) as lines:
        with pytest.raises(ForbiddenError, match="logs are not for you"):
            await anext(lines)
        with pytest.raises(StopAsyncIteration):
            await anext(lines)


async def test_closing_ends_a_pending_iteration():
    async with served_pods(Logs().kubelet, running("a")) as pods:
        lines = PodLogs(pods, follow=True)
        waiting = asyncio.create_task(anext(lines))
        await asyncio.sleep(0)
        await lines.aclose()
        with pytest.raises(StopAsyncIteration):
            await waiting
