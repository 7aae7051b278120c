"""Adds an ephemeral container to a running pod, to look into it with tools that its image does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import choices
from typing import TypeVar

from listwatch.api.patches import STRATEGIC_MERGE_PATCH
from listwatch.client.containers.container_states import state_of
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import RequestError
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object

__all__ = ["add_debug_container"]

T = TypeVar("T", bound=Object)

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


async def add_debug_container(
    pods: ResourceClient[T],
    name: str,
    image: str,
    *,
    container: str = "",
    command: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    target: str = "",
    stdin: bool = True,
    tty: bool = False,
    wait: bool = True,
    timeout: float | None = 120.0,
) -> str:
    """Add an ephemeral container to a pod, wait until it runs, and return its name, for `attach` and `exec`.

    `target` is the container whose processes it sees. An ephemeral container cannot be removed or restarted.
    WaitTimeoutError if it does not run within `timeout` seconds.
    """
    if not image:
        raise RequestError(f"the debug container of pod {name} needs an image")
    chosen = container or f"debugger-{''.join(choices(_LETTERS, k=5))}"
    body: JSONObject = {"name": chosen, "image": image, "stdin": stdin, "tty": tty}
    if command:
        body["command"] = [*command]
    if env:
        body["env"] = [{"name": each, "value": value} for each, value in env.items()]
    if target:
        body["targetContainerName"] = target
    patch: JSONObject = {"spec": {"ephemeralContainers": [body]}}
    await pods.subresource("ephemeralcontainers").patch(name, patch, type=STRATEGIC_MERGE_PATCH)
    if wait:

        def has_started(pod: T | None) -> bool:
            return pod is not None and state_of(pod, chosen).has_started

        await wait_for(pods, name, has_started, timeout=timeout, clock=pods._rest._clock)
    return chosen
