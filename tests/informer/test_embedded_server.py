"""Informers on the embedded server, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import InvalidError, UsageError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.stored_form import StoredForm, request_only_kept_fields
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer, Fail, Fault
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.scripted_server import HANG, ScriptedServer, respond, stream_head


@pytest.mark.parametrize("made_of", ["two requests", "a client's resource"])
async def test_a_server_without_streaming_is_listed_and_then_watched(made_of: str) -> None:
    async with APIServer() as server, ClientSet(server.config) as client, RESTClient(server.config) as rest:
        server.faults.add(Fault(Fail(InvalidError("sendInitialEvents is forbidden")), verb="watch", times=1))
        configmaps = client.core_v1.configmaps("default")
        await configmaps.create(ConfigMap(metadata=ObjectMeta(name="a")))
        source = ListWatch.from_client(rest, "configmaps", namespace="default") if "two" in made_of else configmaps
        informer = SharedIndexInformer(source, ConfigMap, on_problem=lambda _: None)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            written = await configmaps.create(ConfigMap(metadata=ObjectMeta(name="b")))
            await informer.wait_until(written.resource_version, timeout=30)
            assert sorted(informer.indexer.keys()) == ["default/a", "default/b"]
        assert len(server.requests.matching(verb="list", resource="configmaps")) == 1


async def test_stripped_managed_fields_are_not_requested() -> None:
    listed = respond(body=b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}')
    async with (
        ScriptedServer(listed, [stream_head(), HANG]) as server,
        ClientSet(ClientConfig(host=server.url)) as client,
    ):
        source = client.core_v1.configmaps("default")
        async with SharedIndexInformer(source, ConfigMap, streaming=False, transform=strip_managed_fields) as informer:
            await informer.wait_for_sync(timeout=30)
            await server.wait_requests(2)

    accepted = "application/json;drop=metadata.managedFields,application/json"
    assert [request.headers["accept"] for request in server.requests] == [accepted, accepted]


def test_a_source_that_cannot_omit_managed_fields_is_used_unchanged() -> None:
    source: ListWatch[ConfigMap] = ListWatch(list=list, watch=list)

    assert request_only_kept_fields(source, StoredForm(ConfigMap, strip_managed_fields)) is source


async def test_modify_options_changes_the_options_of_every_list_and_watch() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        configmaps = client.core_v1.configmaps("default")
        for name, tier in (("a", "front"), ("b", "back")):
            await configmaps.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"tier": tier})))
        source = ListWatch.from_client(
            client.rest,
            "configmaps",
            namespace="default",
            kind=ConfigMap,
            modify_options=lambda options: replace(options, label_selector="tier=front"),
        )
        async with SharedIndexInformer(source, ConfigMap, streaming=False) as informer:
            await informer.wait_for_sync(timeout=30)
            assert informer.indexer.keys() == ["default/a"]
            await configmaps.create(ConfigMap(metadata=ObjectMeta(name="c", labels={"tier": "back"})))
            written = await configmaps.create(ConfigMap(metadata=ObjectMeta(name="d", labels={"tier": "front"})))
            await informer.wait_until(written.resource_version, timeout=30)
            assert informer.indexer.keys() == ["default/a", "default/d"]


async def test_modify_options_must_return_options() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        forgetful: Any = lambda options: None  # noqa: E731  # one expression
        source = ListWatch.from_client(client.rest, "configmaps", modify_options=forgetful)
        with pytest.raises(UsageError, match=r"returned None, not ListOptions; return dataclasses\.replace"):
            await source.list()
        with pytest.raises(UsageError, match="modify_options is 3; pass a function of ListOptions"):
            ListWatch.from_client(client.rest, "configmaps", modify_options=3)  # type: ignore[call-overload]  # the mistake
