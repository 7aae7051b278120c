"""Conversion webhooks: batches, services, deletions of collections, and watches whose webhook fails."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from tests.server.caller import Caller

from listwatch.server import APIServer

Tree = dict[str, Any]
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
WIDGETS = "/apis/example.com/{}/namespaces/default/widgets"
V1, V2 = WIDGETS.format("v1"), WIDGETS.format("v2")


class Converter:
    """A webhook that adds the number of its calls to the spec of each object."""

    def __init__(self) -> None:
        self.url = ""
        self.sizes: list[int] = []
        self.fails = False
        self.before: Callable[[], Awaitable[object]] | None = None

    async def handle(self, request: web.Request) -> web.Response:
        review = json.loads(await request.read())["request"]
        self.sizes.append(len(review["objects"]))
        if self.before:
            await self.before()
        if self.fails:
            return web.Response(status=503, text="out of order")
        version = review["desiredAPIVersion"]
        objects = [{**each, "apiVersion": version, "converted": version} for each in review["objects"]]
        response = {"uid": review["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
        kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
        return web.json_response({**kind, "response": response})


@asynccontextmanager
async def running_converter() -> AsyncIterator[Converter]:
    converter = Converter()
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/convert", converter.handle)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    converter.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield converter
    finally:
        await runner.cleanup()


def definition() -> Tree:
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": ANYTHING}}
        for name in ("v1", "v2")
    ]
    client = {"service": {"namespace": "default", "name": "hooks", "path": "/convert"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions,
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client},
            },
        },
    }


def widget(name: str, **fields: Any) -> Tree:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, **fields}


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Caller, Converter]]:
    async with (
        running_converter() as converter,
        APIServer(webhook_services={"default/hooks": converter.url}) as server,
        Caller(server) as caller,
    ):
        made = await caller("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())
        assert made.status == 201
        yield caller, converter


async def test_long_lists_are_converted_in_batches_and_single_objects_alone():
    async with serving() as (caller, converter):
        for index in range(5):
            assert (await caller("POST", V1, widget(f"w{index}", text="x" * 100_000))).status == 201
        assert converter.sizes == []
        found = (await caller("GET", V2)).json
        assert [each["converted"] for each in found["items"]] == ["example.com/v2"] * 5
        assert converter.sizes == [2, 2, 1]
        assert [each["metadata"]["name"] for each in (await caller("GET", f"{V2}?limit=1")).json["items"]] == ["w0"]
        assert converter.sizes[3:] == [1]


async def test_a_collection_is_deleted_in_another_version():
    async with serving() as (caller, converter):
        for name, labels in (("a", {"x": "1"}), ("b", {}), ("c", {"x": "1"})):
            tree = widget(name)
            tree["metadata"]["labels"] = labels
            assert (await caller("POST", V1, tree)).status == 201
        deleted = (await caller("DELETE", f"{V2}?labelSelector=x=1")).json
        assert [each["converted"] for each in deleted["items"]] == ["example.com/v2"] * 2
        assert [each["metadata"]["name"] for each in (await caller("GET", V1)).json["items"]] == ["b"]
        converter.fails = True
        assert (await caller("DELETE", V2)).status == 500
        assert len((await caller("GET", V1)).json["items"]) == 1


async def test_a_watch_ends_with_an_error_if_its_webhook_fails():
    async with serving() as (caller, converter), caller.watch(path=V2) as events:
        assert (await caller("POST", V1, widget("a"))).status == 201
        assert (await events.next())["object"]["converted"] == "example.com/v2"
        converter.fails = True
        assert (await caller("POST", V1, widget("b"))).status == 201
        [error] = await events.rest()
        assert error["type"] == "ERROR"
        why = "conversion webhook for example.com/v1, Kind=Widget failed: the server is currently unable to"
        assert error["object"]["message"].startswith(why)
        assert (await caller("GET", f"{V2}?watch=1")).status == 500


@pytest.mark.parametrize("plural", ["widgets", "namespaces"])
async def test_objects_are_deleted_with_their_definition_or_namespace_without_the_webhook(plural: str):
    async with serving() as (caller, converter):
        await caller("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        path = V1.replace("default", "other")
        assert (await caller("POST", path, widget("a"))).status == 201
        converter.fails = True
        definition_path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
        owner = definition_path if plural == "widgets" else "/api/v1/namespaces/other"
        assert (await caller("DELETE", owner)).status == 200
        assert (await caller("GET", owner)).status == 404
        assert converter.sizes == []


async def test_a_quota_counts_an_object_once_that_is_converted_while_others_write():
    async with serving() as (caller, converter):
        core = "/api/v1/namespaces/default"
        hard = {"count/widgets.example.com": "1"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": hard}}
        assert (await caller("POST", f"{core}/resourcequotas", quota)).status == 201

        async def write() -> None:
            tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "other-"}}
            assert (await caller("POST", "/api/v1/namespaces/kube-system/configmaps", tree)).status == 201

        converter.before = write
        newer = {**widget("one"), "apiVersion": "example.com/v2"}
        assert (await caller("POST", V2, newer)).status == 201
        assert (await caller("POST", V1, widget("two"))).status == 403


async def test_a_watch_sends_the_selected_events_after_many_others():
    async with serving() as (caller, converter):
        start = (await caller("POST", V1, widget("first"))).json["metadata"]["resourceVersion"]
        for index in range(110):
            tree = widget(f"w{index}")
            tree["metadata"]["labels"] = {"x": str(index // 105)}
            assert (await caller("POST", V1, tree)).status == 201
        selected = f"resourceVersion={start}&labelSelector=x%3D1"
        async with asyncio.timeout(30), caller.watch(selected, path=V2) as events:
            assert await events.some(5) == [("ADDED", f"w{index}") for index in range(105, 110)]
        assert converter.sizes == [100, 10]
