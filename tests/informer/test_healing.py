"""Objects that arrive damaged: they are reported when they are accessed, and read again."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from listwatch import blocking
from listwatch.cache.indexer import Indexer
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.clock import SystemClock
from listwatch.errors import DecodeError
from listwatch.informer.handlers import HandlerFunctions
from listwatch.informer.informer import Informer
from listwatch.informer.reflector.reflector import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.clocks import InstantClock

DAMAGED = b"\x01"  # not valid in a string


def pod(name: str, version: int, node: str = "n1", namespace: str = "a") -> bytes:
    """A pod as servers write it, so large that only its head is decoded on arrival."""
    head = {
        "name": name,
        "namespace": namespace,
        "uid": "0b8f1f2e-6a6e-4a53-9c0f-0b8f1f2e6a6e",
        "resourceVersion": str(version),
        "labels": {"app": "x"},
    }
    metadata = head | {"managedFields": [{"manager": "m"}], "annotations": {"note": "x" * 1500}}
    tree = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": node, "containers": []}}
    return json.dumps(tree, separators=(",", ":")).encode()


def damage(raw: bytes, text: bytes = b'"n1"') -> bytes:
    at = raw.index(text) + 1
    return raw[:at] + DAMAGED + raw[at + 1 :]


def event(kind: str, raw: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), raw)


class Pods:
    """A raw HTTP server of pods: what it lists, what its watches send, and what it returns for each pod."""

    def __init__(self) -> None:
        self.listed: list[bytes] = []
        self.version = 10
        self.stored: dict[str, bytes | int] = {}
        """Bodies of GET by name; a number is a status code."""
        self.requests: list[str] = []
        self.was_read = asyncio.Event()
        """Set when a single pod is requested."""
        self._watches: set[asyncio.StreamWriter] = set()
        self._watching = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def reads(self) -> list[str]:
        """The paths of the GETs of single pods."""
        return [path for path in self.requests if "/pods/" in path]

    @property
    def lists(self) -> int:
        return sum("/pods/" not in path and "watch=" not in path for path in self.requests)

    async def send(self, data: bytes) -> None:
        """Send events to all watches; waits for one."""
        await self._watching.wait()
        for watch in self._watches:
            watch.write(b"%x\r\n%s\r\n" % (len(data), data))
            await watch.drain()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                path = line.split()[1].decode()
                self.requests.append(path)
                if "/pods/" in path:
                    self.was_read.set()
                if "watch=" in path:
                    writer.write(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    )
                    self._watches.add(writer)
                    self._watching.set()
                    await reader.read()
                    return
                found = (
                    self.stored.get(path.split("?")[0].rpartition("/")[2], 404) if "/pods/" in path else self._list()
                )
                status, body = (200, found) if isinstance(found, bytes) else (found, _status(found))
                writer.write(
                    b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                    % (status, len(body), body)
                )
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._watches.discard(writer)
            if not self._watches:
                self._watching.clear()
            writer.close()
            self._tasks.discard(task)

    def _list(self) -> bytes:
        head = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[' % self.version
        return head + b",".join(self.listed) + b"]}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[ClientConfig]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield ClientConfig(host=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        finally:
            server.close()
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await server.wait_closed()


def _status(code: int) -> bytes:
    reason = {403: "Forbidden", 404: "NotFound"}.get(code, "InternalError")
    return json.dumps(
        {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason}
    ).encode()


class Seen:
    """The notifications of a handler, and the problems of an informer."""

    def __init__(self) -> None:
        self.changes: list[tuple[Any, ...]] = []
        self.problems: list[Problem] = []
        self._changed = asyncio.Event()

    def on_add(self, item: Object) -> None:
        self._record("added", item.resource_version)

    def on_update(self, old: Object, new: Object) -> None:
        self._record("updated", old.resource_version, new.resource_version)

    def on_delete(self, item: Object) -> None:
        self._record("deleted", item.resource_version)

    def on_problem(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._changed.set()

    def _record(self, *what: str) -> None:
        self.changes.append(what)
        self._changed.set()

    async def wait(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()
            self._changed.clear()


def touch(item: Object) -> Any:
    """Access the part of a pod that is damaged."""
    if isinstance(item, Unstructured):
        return item["spec"]["nodeName"]
    if isinstance(item, PartialObjectMetadata):
        return item.metadata.annotations
    assert isinstance(item, Pod)
    return item.spec.node_name


@asynccontextmanager
async def informing(
    pods: Pods, seen: Seen, *, form: str = "typed", plain: bool = False, **options: Any
) -> AsyncIterator[Indexer[Any]]:
    async with (
        pods.serving() as config,
        ClientSet(config) as client,
        DynamicClient(config) as dynamic,
        MetadataClient(config) as metadata,
    ):
        sources: dict[str, tuple[Any, type[Object]]] = {
            "typed": (client.core_v1.pods(), Pod),
            "namespaces": ({each: client.core_v1.pods(each) for each in ("a", "b")}, Pod),
            "list watch": (ListWatch.from_client(client.rest, "pods"), Pod),
            "dynamic": (dynamic.resource(Pod.resource), Unstructured),
            "metadata": (metadata.resource(Pod.resource), PartialObjectMetadata),
        }
        source, kind = sources[form]
        settings: dict[str, Any] = {
            "streaming": False,
            "on_problem": seen.on_problem,
            "clock": InstantClock(),
            **options,
        }
        handler = {"on_add": seen.on_add, "on_update": seen.on_update, "on_delete": seen.on_delete}
        informer: Any
        if plain:
            informer = Informer(source, kind, HandlerFunctions.of(None, **handler), **settings)
        else:
            informer = SharedIndexInformer(source, kind, **settings)
            informer.add_handler(**handler)
        async with informer:
            await informer.wait_for_sync()
            yield informer.indexer


def stored(indexer: Indexer[Any], key: str = "a/web") -> Any:
    return indexer.get(key)


# --- healing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plain", [False, True], ids=["shared", "plain"])
@pytest.mark.parametrize("form", ["typed", "namespaces", "list watch", "dynamic", "metadata"])
async def test_an_object_with_a_damaged_part_is_reported_read_again_and_delivered(form: str, plain: bool) -> None:
    if plain and form == "namespaces":
        return  # a plain informer has one source
    pods, seen = Pods(), Seen()
    text = b'"xxx' if form == "metadata" else b'"n1"'
    pods.stored["web"] = pod("web", 11)
    async with informing(pods, seen, form=form, plain=plain) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11), text)))
        await seen.wait(lambda: seen.changes == [("added", "11")])
        await pods.send(event("ADDED", pod("other", 15)))
        await seen.wait(lambda: len(seen.changes) == 2)
        damaged = stored(indexer)
        with pytest.raises(DecodeError):
            touch(damaged)
        await seen.wait(lambda: len(seen.changes) == 3)
        assert seen.changes[-1] == ("updated", "11", "11")
        assert touch(stored(indexer)) in ("n1", {"note": "x" * 1500})
        assert stored(indexer) is not damaged
        assert indexer.resource_version == "15"
        [problem] = seen.problems
        assert "a/web" in str(problem.error)
        assert "read again" in str(problem.error)
        with pytest.raises(DecodeError):
            touch(damaged)  # an old object that a program kept
        await asyncio.sleep(0)
        assert len(pods.reads) == 1
    assert len(seen.problems) == 1


async def test_the_access_of_a_copy_and_of_another_thread_count() -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 11)
    async with informing(pods, seen) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: seen.changes == [("added", "11")])
        with pytest.raises(DecodeError):
            await asyncio.to_thread(touch, stored(indexer).copy())
        await seen.wait(lambda: len(seen.changes) == 2)
        assert touch(stored(indexer)) == "n1"


async def test_an_index_function_that_finds_the_damage_has_the_healed_object_in_its_index() -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 11)
    async with informing(pods, seen, indexers={"node": lambda item: [item.spec.node_name]}) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: len(seen.changes) == 2)
        assert indexer.index_keys("node", "n1") == ["a/web"]


async def test_a_transform_is_applied_to_the_healed_object() -> None:
    def transform(item: Pod) -> Pod:
        kept = item.copy()
        kept.metadata.annotations = {"transformed": "yes"}
        return kept

    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 11)
    async with informing(pods, seen, transform=transform) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: len(seen.changes) == 1)
        with pytest.raises(DecodeError):
            touch(stored(indexer))
        await seen.wait(lambda: len(seen.changes) == 2)
        assert touch(stored(indexer)) == "n1"
        assert stored(indexer).metadata.annotations == {"transformed": "yes"}


# --- what is not healed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["typed", "dynamic"])
async def test_an_object_that_is_as_odd_on_the_server_is_reported_and_read_once(form: str) -> None:
    pods, seen = Pods(), Seen()
    odd = pod("web", 11).replace(b'"nodeName":"n1"', b'"nodeName":%s1%s' % (b"[" * 100_000, b"]" * 100_000))
    pods.stored["web"] = odd
    async with informing(pods, seen, form=form) as indexer:
        await pods.send(event("ADDED", odd))
        await seen.wait(lambda: len(seen.changes) == 1)
        for _ in range(50):
            with pytest.raises(DecodeError):
                touch(stored(indexer))
            await asyncio.sleep(0)
        await seen.wait(lambda: len(seen.problems) == 1)
        pods.stored["web"] = odd.replace(b'"11"', b'"12"')
        await pods.send(event("MODIFIED", odd.replace(b'"11"', b'"12"')))
        await seen.wait(lambda: len(seen.changes) == 2)
        for _ in range(50):
            with pytest.raises(DecodeError):
                touch(stored(indexer))
            await asyncio.sleep(0)
        await seen.wait(lambda: len(seen.problems) == 2)
        await pods.send(event("ADDED", pod("other", 13)))
        await seen.wait(lambda: len(seen.changes) == 3)
        assert len(pods.reads) == 2
    assert seen.changes == [("added", "11"), ("updated", "11", "12"), ("added", "13")]
    assert len(seen.problems) == 2


async def test_a_change_that_arrives_during_the_read_is_not_overwritten() -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 11)
    async with informing(pods, seen) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: len(seen.changes) == 1)
        with pytest.raises(DecodeError):
            touch(stored(indexer))
        await pods.send(event("MODIFIED", pod("web", 12, "n2")) + event("ADDED", pod("other", 13)))
        await seen.wait(lambda: ("added", "13") in seen.changes)
        assert touch(stored(indexer)) == "n2"
    assert seen.changes[-2:] == [("updated", "11", "12"), ("added", "13")]


async def test_an_object_of_another_version_is_left_to_the_watch() -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 12, "n2")
    async with informing(pods, seen, clock=SystemClock()) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: len(seen.changes) == 1)
        with pytest.raises(DecodeError):
            touch(stored(indexer))
        await pods.was_read.wait()
        await pods.send(event("MODIFIED", pod("web", 12, "n2")))
        await seen.wait(lambda: len(seen.changes) == 2)
    assert seen.changes == [("added", "11"), ("updated", "11", "12")]


async def test_objects_from_elsewhere_are_not_read_again() -> None:
    pods, seen = Pods(), Seen()
    async with informing(pods, seen):
        with pytest.raises(DecodeError):
            touch(Pod.from_wire(damage(pod("web", 11))))
        await pods.send(event("ADDED", pod("web", 11)))
        await seen.wait(lambda: len(seen.changes) == 1)
    assert pods.reads == []
    assert seen.problems == []


# --- relists ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [403, 404, 500])
async def test_what_cannot_be_read_again_is_listed_again(code: int) -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = code
    async with informing(pods, seen) as indexer:
        await pods.send(event("ADDED", damage(pod("web", 11))))
        await seen.wait(lambda: len(seen.changes) == 1)
        pods.listed, pods.version = [pod("web", 11)], 12
        with pytest.raises(DecodeError):
            touch(stored(indexer))
        await seen.wait(lambda: len(seen.changes) == 2)
        assert touch(stored(indexer)) == "n1"
    assert seen.changes[-1] == ("updated", "11", "11")
    assert pods.lists == 2


async def test_a_source_without_single_reads_is_listed_again() -> None:
    pods, seen = Pods(), Seen()
    async with pods.serving() as config, ClientSet(config) as client:
        resource = client.core_v1.pods()
        source: ListWatch[Pod] = ListWatch(list=resource.list, watch=resource.watch)
        informer = SharedIndexInformer(source, Pod, streaming=False, on_problem=seen.on_problem, clock=InstantClock())
        informer.add_handler(on_add=seen.on_add, on_update=seen.on_update)
        async with informer:
            await informer.wait_for_sync()
            await pods.send(event("ADDED", damage(pod("web", 11))))
            await seen.wait(lambda: len(seen.changes) == 1)
            pods.listed, pods.version = [pod("web", 11)], 12
            with pytest.raises(DecodeError):
                touch(stored(informer.indexer))
            await seen.wait(lambda: len(seen.changes) == 2)
            assert touch(stored(informer.indexer)) == "n1"
    assert pods.reads == []


async def test_many_damaged_objects_take_one_list() -> None:
    pods, seen = Pods(), Seen()
    names = [f"web-{number}" for number in range(100)]
    async with informing(pods, seen) as indexer:
        await pods.send(b"".join(event("ADDED", damage(pod(name, 11 + at))) for at, name in enumerate(names)))
        await seen.wait(lambda: len(seen.changes) == 100)
        pods.listed, pods.version = [pod(name, 11 + at) for at, name in enumerate(names)], 200
        for item in indexer:
            with pytest.raises(DecodeError):
                touch(item)
        await seen.wait(lambda: len(seen.changes) == 200)
        assert {touch(item) for item in indexer} == {"n1"}
    assert (pods.lists, pods.reads) == (2, [])


# --- the blocking API ------------------------------------------------------------------------------------------------


async def test_a_blocking_informer_heals_its_store() -> None:
    pods, seen = Pods(), Seen()
    pods.stored["web"] = pod("web", 11)

    def use(config: ClientConfig) -> list[str]:
        found = []
        with (
            blocking.ClientSet(config) as client,
            blocking.SharedIndexInformer(
                client.core_v1.pods(), Pod, streaming=False, on_problem=seen.problems.append
            ) as informer,
        ):
            for change in informer.changes():
                try:
                    found.append(f"{change.type} {touch(change.object)}")
                    break
                except DecodeError:
                    found.append(f"{change.type} damaged")
            assert touch(informer.indexer.get("a/web")) == "n1"
        return found

    async with pods.serving() as config, asyncio.TaskGroup() as group:
        using = group.create_task(asyncio.to_thread(use, config))
        await pods.send(event("ADDED", damage(pod("web", 11))))
        assert await using == ["ADDED damaged", "MODIFIED n1"]
    assert len(seen.problems) == 1


# --- on the embedded server ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["typed", "dynamic", "metadata"])
async def test_a_damaged_object_of_the_embedded_server_is_healed(form: str) -> None:
    seen = Seen()
    async with APIServer() as server, ClientSet(server.config) as client:
        await client.core_v1.pods("default").create(
            {"metadata": {"name": "web"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}}
        )
        sources: dict[str, tuple[Any, type[Object]]] = {
            "typed": (client.core_v1.pods("default"), Pod),
            "dynamic": (DynamicClient(client.rest).resource(Pod.resource).namespace("default"), Unstructured),
            "metadata": (MetadataClient(client.rest).resource(Pod.resource), PartialObjectMetadata),
        }
        source, kind = sources[form]
        informer: Any = SharedIndexInformer(source, kind, on_problem=seen.on_problem, clock=InstantClock())
        async with informer:
            await informer.wait_for_sync()
            informer.add_handler(on_update=seen.on_update)
            intact = stored(informer.indexer, "default/web")
            # A damaged copy takes its place, as if it had arrived damaged.
            informer.indexer.add(kind.from_wire(intact.to_json().replace(b'"manager":"', b'"manager":"\x01', 1)))
            with pytest.raises(DecodeError):
                read_all(stored(informer.indexer, "default/web"))
            await seen.wait(lambda: len(seen.changes) == 1)
            assert read_all(stored(informer.indexer, "default/web")) == intact.to_dict()
    assert len(seen.problems) == 1


def read_all(item: Object) -> dict[str, Any]:
    return item.to_dict()
