"""The inspector page in a real browser: states, search, objects, and a server that is lost and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.controller.worlds import HastyClock, config_map, deployment, pod, turns_until, world
from tests.inspector.served import served

from listwatch.client.resources.client_set import ClientSet
from listwatch.controller import set_controller
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.factory.factory import SharedInformerFactory
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Pod, Secret
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from tools.chromium import Chromium, ChromiumPage, why_no_chromium

REASON = why_no_chromium()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)

PASSWORD = "correct-horse"
LIVE = "document.getElementById('connection').innerText == 'live'"


def row(text: str, *, within: str = "#informers") -> str:
    """An expression for the first row of a table with this text."""
    return f"[...document.querySelectorAll('{within} tr')].find((row) => row.innerText.includes('{text}'))"


@asynccontextmanager
async def page_of(url: str | None, **options: int | bool) -> AsyncIterator[ChromiumPage]:
    assert url is not None
    async with Chromium() as browser:
        page = await browser.open(url, **options)  # type: ignore[arg-type]  # sizes are ints, dark is a bool
        yield page


@asynccontextmanager
async def managed(**options: Any) -> AsyncIterator[tuple[APIServer, ClientSet, Manager]]:
    """A manager with one controller that fails for one key, and an owner with a pod."""
    async with world(**options) as (server, client):
        owner = await client.apps_v1.deployments("default").create(deployment("web"))
        child = pod("web-0")
        child.metadata.labels = {"app": "web"}
        set_controller(child, owner)
        child = await client.core_v1.pods("default").create(child)
        regarding = {"kind": "Pod", "namespace": "default", "name": "web-0", "uid": child.uid}
        event = {"metadata": {"name": "e"}, "involvedObject": regarding, "type": "Warning", "reason": "BackOff"}
        await client.core_v1.events("default").create({**event, "message": "restarting the container"})
        secret = Secret(metadata=ObjectMeta(name="keys", namespace="default"), string_data={"password": PASSWORD})
        await client.core_v1.secrets("default").create(secret)
        await client.core_v1.configmaps("default").create(config_map("broken"))

        async def reconcile(key: ObjectKey) -> float | None:
            if key.name == "broken":
                raise RuntimeError("the bucket <b>does not exist</b>")
            return 3600.0

        manager = Manager(client, inspect=True, clock=HastyClock())
        manager.add(Controller(reconcile, for_=ConfigMap, owns=[Secret]))
        manager.add(Controller(reconcile, for_=Deployment, owns=[Pod]))
        async with manager:
            await turns_until(lambda: manager.inspector_url)
            yield server, client, manager


async def test_states_controllers_search_and_objects_are_shown():
    async with managed() as (_, client, manager), page_of(manager.inspector_url) as page:
        await page.wait_for(LIVE)
        assert await page.evaluate("location.hash") == "", "the token must not stay in the address bar"
        for name in ("configmaps", "pods", "deployments.apps"):
            await page.wait_for(f"{row(name)}.innerText.includes('watching')")
        # 1. Reconciles: the error is text, not markup.
        await page.wait_for("document.getElementById('controllers').innerText.includes('<b>does not exist</b>')")
        assert await page.evaluate("document.querySelectorAll('#controllers b').length") == 0
        await page.wait_for(f"{row('default/broken', within='#controllers')}.innerText.includes('failed')")
        # 2. Handlers, after a click.
        await page.click(f"{row('pods')}.querySelector('button')")
        await page.wait_for("document.getElementById('informers').innerText.includes('controller Deployment')")
        # 3. Search, and the object with its owner and its events.
        await page.type("#search-name", "web")
        await page.type("#search-labels", "app=web")
        await page.wait_for("document.getElementById('count').innerText.startsWith('1 of ')")
        await page.click("document.querySelector('#results button')")
        await page.wait_for("document.getElementById('yaml').innerText.includes('image: web:1')")
        await page.wait_for("document.getElementById('panel').innerText.includes('restarting the container')")
        # 4. The object is updated while it is shown.
        await client.core_v1.pods("default").patch("web-0", {"metadata": {"labels": {"seen": "in-the-browser"}}})
        await page.wait_for("document.getElementById('yaml').innerText.includes('seen: in-the-browser')")
        # 5. To its owner.
        await page.click("document.querySelector('#panel .owners button')")
        await page.wait_for("document.getElementById('panel-title').innerText == 'Deployment default/web'")
        await page.wait_for("document.getElementById('panel').innerText.includes('web-0 · pods')")
        assert page.errors == []


async def test_the_reconciles_of_a_key_are_updated_while_they_are_shown():
    async with managed() as (_, _, manager), page_of(manager.inspector_url) as page:
        await page.wait_for("document.querySelector('#controllers button.link')")
        await page.click(f"{row('default/broken', within='#controllers')}.querySelector('button')")
        await page.wait_for("document.getElementById('panel-title').innerText == 'ConfigMap default/broken'")
        attempt = "Number(document.querySelector('#panel td[data-label=Attempt]').innerText)"
        await page.wait_for(f"{attempt} > 0")
        before = await page.evaluate(attempt)
        await page.wait_for(f"{attempt} > {before}")
        assert page.errors == []


async def test_no_value_of_a_secret_reaches_the_browser():
    async with managed() as (_, _, manager), page_of(manager.inspector_url) as page:
        await page.wait_for(LIVE)
        await page.type("#search-name", "keys")
        await page.wait_for("document.querySelector('#results button')")
        await page.click("document.querySelector('#results button')")
        await page.wait_for("document.getElementById('yaml').innerText.includes('password: <hidden>')")
        assert PASSWORD not in await page.evaluate("document.documentElement.outerHTML")
        assert await page.text("#panel .chip.warn") == "data is hidden"
        assert page.errors == []


async def test_an_informer_that_loses_its_server_and_recovers_is_followed_by_the_open_page(tmp_path: Path):
    async with managed(data_dir=tmp_path) as (server, client, manager), page_of(manager.inspector_url) as page:
        await page.wait_for(f"{row('pods')}.innerText.includes('watching')")
        await server.stop()
        await page.wait_for(f"{row('pods')}.innerText.includes('retrying')")
        await page.wait_for("document.querySelector('#informers .error').innerText.includes('connection refused')")
        assert await page.text("#connection") == "live", "the page is connected to the process, not to the server"
        await server.start()
        await page.wait_for(f"{row('pods')}.innerText.includes('watching')")
        # The store follows the server again.
        await client.core_v1.pods("default").create(pod("after-the-restart"))
        await page.type("#search-name", "after-the-restart")
        while await page.text("#results button") != "after-the-restart":
            await page.evaluate("search()")
        # The server was unreachable: requests without a response are counted.
        assert "no response" in await page.text("#clients")


async def test_a_page_without_its_process_says_so_and_connects_again():
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        factory.informer(Pod)
        async with Chromium() as browser:
            async with served(factory, interval=0.05) as first:
                page = await browser.open(first.url)
                await page.wait_for(LIVE)
                port = int(first.address.rstrip("/").rpartition(":")[2])
            await page.wait_for("document.getElementById('connection').innerText == 'disconnected'")
            assert (await page.text("#stale")).startswith("Disconnected")
            async with served(factory, port=port, interval=0.05):
                await page.wait_for(LIVE)
                assert await page.text("#stale") == ""


async def test_a_page_without_a_token_shows_a_field_for_it():
    async with served(interval=0.05) as inspector, page_of(inspector.address) as page:
        await page.wait_for("!document.getElementById('login').hidden")
        await page.type("#token", "wrong")
        await page.click("document.querySelector('#login button')")
        await page.wait_for("document.getElementById('login-error').innerText.includes('wrong')")
        await page.type("#token", inspector.token)
        await page.click("document.querySelector('#login button')")
        await page.wait_for(LIVE)
        assert await page.evaluate("document.getElementById('login').hidden")


@pytest.mark.parametrize("width", [360, 1280])
async def test_the_page_fits_into_the_window(width: int):
    async with managed() as (_, _, manager), page_of(manager.inspector_url, width=width, dark=True) as page:
        await page.wait_for(f"{row('pods')}.innerText.includes('watching')")
        await page.type("#search-name", "web")
        await page.wait_for("document.querySelector('#results button')")
        assert await page.evaluate("document.documentElement.scrollWidth") == width


async def test_the_page_stays_small_with_many_objects():
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        informer = factory.informer(ConfigMap).informer
        await factory.wait_for_sync()
        informer.indexer.replace([config_map(f"c{number}") for number in range(20_000)], "1")
        async with served(factory, interval=0.05) as inspector, page_of(inspector.url) as page:
            await page.wait_for(f"{row('configmaps')}.innerText.includes('20,000')")
            await page.type("#search-name", "c1")
            await page.wait_for("document.getElementById('count').innerText.startsWith('11,111 of 20,000')")
            assert await page.evaluate("document.querySelectorAll('*').length") < 1_500
