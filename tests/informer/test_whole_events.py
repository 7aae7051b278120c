"""Streams that end cleanly in the middle of an event, over real connections: a part of an event is never stored."""

import asyncio
import json
from typing import Any

import pytest

from listwatch import blocking
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.informer.reflector.reflector import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.clocks import InstantClock
from listwatch.testing.scripted_server import HANG, LAST_CHUNK, Reply, ScriptedServer, chunk, respond, stream_head

LISTED = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}'


def frame(version: int, kind: str = "MODIFIED", name: str = "web", **more: Any) -> bytes:
    head = {
        "name": name,
        "namespace": "a",
        "uid": "0b8f1f2e-6a6e-4a53-9c0f-0b8f1f2e6a6e",
        "resourceVersion": str(version),
        "labels": {"app": "x"},
    }
    metadata = head | {"managedFields": [{"manager": "m"}], "annotations": {"note": "x" * 1200}}
    spec = {"nodeName": f"n{version}", "containers": [{"name": "c", "resources": {"limits": {}}}], "volumes": [{}]}
    tree = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {"phase": "}}"}}
    return json.dumps({"type": kind, "object": tree, **more}, separators=(",", ":")).encode()


def cuts() -> list[int]:
    """All places where a part of the event ends like a whole one, and some others."""
    line = frame(12)
    return sorted({at + 2 for at in range(len(line)) if line.startswith(b"}}", at)} | set(range(1, len(line), 97)))[:-1]


def script() -> list[Reply]:
    first = [stream_head(), chunk(frame(11, "ADDED") + b"\n"), LAST_CHUNK]
    cut_ones = [[stream_head(), chunk(frame(12)[:cut]), LAST_CHUNK] for cut in cuts()]
    return [respond(body=LISTED), first, *cut_ones, [stream_head(), chunk(frame(12) + b"\n"), HANG]]


@pytest.mark.parametrize("form", ["typed", "dynamic", "metadata"])
async def test_an_event_that_is_cut_with_a_clean_end_is_received_again_after_a_resume(form: str) -> None:
    problems: list[Problem] = []
    async with ScriptedServer(*script()) as server, ClientSet(ClientConfig(host=server.url)) as client:
        sources: dict[str, tuple[Any, type[Object]]] = {
            "typed": (client.core_v1.pods(), Pod),
            "dynamic": (DynamicClient(client.rest).resource(Pod.resource), Unstructured),
            "metadata": (MetadataClient(client.rest).resource(Pod.resource), PartialObjectMetadata),
        }
        source, kind = sources[form]
        informer: Any = SharedIndexInformer(
            source, kind, streaming=False, on_problem=problems.append, clock=InstantClock()
        )
        async with informer:
            versions = []
            async for change in informer.changes():
                change.object.to_dict()  # every part of it can be decoded
                versions.append(change.object.resource_version)
                if versions[-1] == "12":
                    break
    assert versions == ["11", "12"]
    watched = [request.target for request in server.requests if "watch=" in request.target]
    assert all("resourceVersion=11" in target for target in watched[1:])
    assert sum("in the middle of an event" in str(each.error) for each in problems) == len(cuts())


async def test_a_blocking_watch_has_all_events_of_a_line_and_skips_what_cannot_be_decoded() -> None:
    odd = b'{"type":"MODIFIED","object":[]}\n'
    lines = frame(11, "ADDED") + frame(12) + b"\n" + odd + frame(13, more={}) + b"\n" + frame(14)
    replies = [[stream_head(), chunk(lines), LAST_CHUNK]] * 2

    def use(url: str) -> tuple[list[str], list[str]]:
        with blocking.ClientSet(ClientConfig(host=url)) as client:
            nodes = [event.object.spec.node_name or "" for event in client.core_v1.pods().watch()]
            with client.core_v1.pods().watch() as watch:
                return nodes, [event.type for batch in watch.batches() for event in batch]

    async with ScriptedServer(*replies) as server:
        nodes, types = await asyncio.to_thread(use, server.url)
    assert nodes == ["n11", "n12", "n13", "n14"]
    assert types == ["ADDED", "MODIFIED", "UNDECODABLE", "MODIFIED", "MODIFIED"]


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_informer_reports_and_counts_an_event_that_cannot_be_decoded_and_continues(streaming: bool) -> None:
    problems: list[Problem] = []
    odd = b'{"type":"MODIFIED","object":[]}\n'
    annotations = {"k8s.io/initial-events-end": "true"}
    bookmark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "11", "annotations": annotations}}
    initial = frame(11, "ADDED") + b"\n" + odd + json.dumps({"type": "BOOKMARK", "object": bookmark}).encode() + b"\n"
    events = odd + frame(12) + b"\n" + odd + frame(13, "ADDED", "other") + b"\n"
    replies: list[Reply] = [[stream_head(), chunk(initial + events), HANG]]
    if not streaming:
        replies = [respond(body=LISTED), [stream_head(), chunk(frame(11, "ADDED") + b"\n" + events), HANG]]
    async with ScriptedServer(*replies) as server, ClientSet(ClientConfig(host=server.url)) as client:
        informer = SharedIndexInformer(
            client.core_v1.pods(), Pod, streaming=streaming, on_problem=problems.append, clock=InstantClock()
        )
        async with informer:
            async for change in informer.changes():
                if change.object.name == "other":
                    break
            assert informer.indexer.keys() == ["a/web", "a/other"]
            assert informer.statistics().sources[0].skipped == (3 if streaming else 2)
    assert len(server.requests) == len(replies)
    assert "the object of the MODIFIED event cannot be decoded" in str(problems[0].error)
