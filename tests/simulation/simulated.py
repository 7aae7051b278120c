"""Runs a scenario on a server with a simulated cluster, in virtual time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import listwatch as lw
from listwatch.server import APIServer
from listwatch.simulation import SimulationOptions
from listwatch.testing import VirtualClock

R = TypeVar("R")

TIMEOUT = 60.0
"""Real seconds after which a test fails that waits for something."""


class Scene:
    """What a scenario uses."""

    def __init__(self, server: APIServer, client: lw.ClientSet, clock: VirtualClock) -> None:
        self.server = server
        self.client = client
        self.clock = clock

    async def wait(self, resource: Any, name: str, condition: Any) -> Any:
        return await lw.wait_for(resource, name, condition, timeout=TIMEOUT)

    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass, with all that happens in it."""
        await self.clock.sleep(seconds)


def simulate(scenario: Callable[[Scene], Awaitable[R]], **options: Any) -> R:
    clock = VirtualClock()

    async def main() -> R:
        given = SimulationOptions(**{"nodes": 2, "events": False, "seed": 1, **options})
        server = APIServer(simulate=given, clock=clock, seed=1, bootstrap=False)
        async with server, lw.ClientSet(server.config) as client:
            return await scenario(Scene(server, client, clock))

    return clock.run(main(), patience=0.003)


def pod(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": spec.pop("labels", {"app": name})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "web:1"}], **spec}}


def template(app: str, image: str = "web:1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": image}]
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers, **spec}}


def workload(app: str, *, image: str = "web:1", pod_spec: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    return {
        "metadata": {"name": app},
        "spec": {"selector": selector, "template": template(app, image, **(pod_spec or {})), **spec},
    }
