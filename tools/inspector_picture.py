"""Takes pictures of the inspector page. `make pictures` makes that of the documentation, docs/images/inspector.png.

python -m tools.inspector_picture FOLDER     all variants: light, dark, narrow, with an object, and without a server
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import listwatch as lw
from listwatch.controller import set_controller
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec, Secret
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from tools.chromium import Chromium, ChromiumPage, why_no_chromium

LIVE = "document.getElementById('connection').innerText == 'live'"
IS_FILLED = "document.getElementById('informers').innerText.includes('KiB')"
HAS_EVENTS = "!document.getElementById('panel').innerText.includes('loading')"
APPS = {"checkout": 4, "payments": 3, "search": 6}


async def _fill(client: lw.ClientSet) -> None:
    for app, replicas in APPS.items():
        labels = {"app": app, "tier": "backend"}
        template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=_pod_spec(app))
        spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=template)
        deployment = Deployment(metadata=ObjectMeta(name=app, labels=labels), spec=spec)
        owner = await client.apps_v1.deployments("shop").create(deployment)
        for number in range(replicas):
            pod = Pod(metadata=ObjectMeta(name=f"{app}-{number}", namespace="shop", labels=labels), spec=_pod_spec(app))
            set_controller(pod, owner)
            created = await client.core_v1.pods("shop").create(pod)
            if number == 0:
                await _record_events(client, created)
        await client.core_v1.configmaps("shop").create(ConfigMap(metadata=ObjectMeta(name=app), data={"color": "blue"}))
        secret = Secret(metadata=ObjectMeta(name=f"{app}-keys"), string_data={"password": "not for the page"})
        await client.core_v1.secrets("shop").create(secret)


def _pod_spec(app: str) -> PodSpec:
    return PodSpec(containers=[Container(name=app, image=f"registry.example/{app}:1.4")])


async def _record_events(client: lw.ClientSet, pod: Pod) -> None:
    events = lw.EventRecorder(client.core_v1.events(), component="kubelet")
    async with events:
        events.event(pod, "Normal", "Pulled", f"Container image {pod.spec.containers[0].image} already present")
        events.event(pod, "Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")


async def _reconcile_deployment(key: lw.ObjectKey) -> float | None:
    await asyncio.sleep(0.004 * len(key.name))
    if key.name == "payments":
        raise RuntimeError("the database of shop/payments does not accept connections: connection refused")
    return 300.0 if key.name == "search" else None


async def _reconcile_config(key: lw.ObjectKey) -> None:
    await asyncio.sleep(0.002)


@asynccontextmanager
async def example() -> AsyncIterator[tuple[APIServer, str]]:
    """A manager with two controllers, one of which fails for a key; yields the server and the URL of the page."""
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await client.core_v1.namespaces().create({"metadata": {"name": "shop"}})
        await _fill(client)
        manager = lw.Manager(client, inspect=True, leader_election="shop-operator", lease_namespace="shop")
        manager.add(lw.Controller(_reconcile_deployment, for_=Deployment, owns=[Pod], name="rollout"))
        manager.add(lw.Controller(_reconcile_config, for_=ConfigMap, owns=[Secret], name="settings"))
        async with manager:
            while not manager.is_leading:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.05)
            assert manager.inspector_url
            yield server, manager.inspector_url


async def _open_object(page: ChromiumPage, name: str) -> None:
    await page.type("#search-name", name)
    await page.wait_for(f"document.querySelector('#results button')?.innerText == '{name}'")
    await page.click("document.querySelector('#results button')")
    await page.wait_for(f"document.getElementById('yaml') && {HAS_EVENTS}")


async def picture_of_the_inspector(folder: Path) -> None:
    """Write inspector.png."""
    logging.getLogger("listwatch").setLevel(logging.CRITICAL)  # the failures are part of the picture
    path = folder / "inspector.png"
    async with example() as (_, url), Chromium() as browser:
        page = await browser.open(url, width=1060, height=800)
        await page.wait_for(f"{LIVE} && {IS_FILLED}")
        await asyncio.sleep(3)  # some retries, so that there is something to see
        await page.save_screenshot(path)
    print(f"wrote {path}")


async def _take_all(folder: Path) -> None:
    async with example() as (server, url), Chromium() as browser:
        for name, width, dark in [("light", 1280, False), ("dark", 1280, True), ("narrow", 390, False)]:
            page = await browser.open(url, width=width, height=1000 if width > 500 else 844, dark=dark)
            await page.wait_for(f"{LIVE} && {IS_FILLED}")
            await asyncio.sleep(2)
            await page.click("document.querySelector('#informers button')")
            await page.save_screenshot(folder / f"{name}.png", whole_page=True)
            await _open_object(page, "payments-0")
            await page.save_screenshot(folder / f"{name}-object.png")
        await page.evaluate("closePanel()")
        await server.stop()
        await page.resize(1280, 900)
        await page.wait_for("document.getElementById('informers').innerText.includes('retrying')")
        await page.save_screenshot(folder / "lost-server.png", whole_page=True)
        await server.start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the pictures")
    folder = parser.parse_args().folder
    if reason := why_no_chromium():
        raise SystemExit(reason)
    logging.getLogger("listwatch").setLevel(logging.CRITICAL)  # the failures are part of the pictures
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_take_all(folder))


if __name__ == "__main__":
    main()
