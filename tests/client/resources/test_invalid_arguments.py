"""Invalid arguments raise an error of listwatch before anything is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.kubeconfig import load_config, load_kube_config
from listwatch.client.manifests import apply_files
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.wait.retry_on_conflict import retry_on_conflict
from listwatch.client.wait.until import until
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import ListWatchError, UsageError

CLIENT: Any = ClientSet(ClientConfig(host="http://127.0.0.1:1"))
SETTINGS: Any = CLIENT.core_v1.configmaps("default")
PODS: Any = CLIENT.core_v1.pods("default")


def unchecked(argument: object) -> Any:
    """Hide an invalid argument from type checkers."""
    return argument


async def is_the_one(_: object) -> bool:
    return False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SETTINGS.patch("a", None), "a patch must be a mapping or a list of operations, not None"),
        (lambda: SETTINGS.patch("a", 5), "a patch must be a mapping or a list of operations, not 5"),
        (lambda: anext(SETTINGS.pages(page_size="5")), "page_size must be 1 or more, is '5'"),
        (
            lambda: PODS.logs("a", since_seconds="yesterday"),
            "since_seconds must be a number of seconds, not 'yesterday'",
        ),
        (
            lambda: PODS.logs("a", since_time="yesterday"),
            "since_time must be a datetime, not 'yesterday'",
        ),
        (lambda: wait_for(CLIENT, "a", "ready"), "is not a ResourceClient: pass one"),
        (lambda: wait_for(SETTINGS, "a", "ready", timeout=unchecked("5")), "timeout must be a number of seconds"),
        (lambda: until(SETTINGS, "7", unchecked(is_the_one)), "is async, and its result would not be awaited"),
        (lambda: retry_on_conflict(unchecked(5)), "5 cannot be retried: pass an async function"),
        (lambda: apply_files(unchecked(5), field_manager="me"), "must be a ClientSet or a DynamicClient, not a int"),
        (lambda: apply_files(CLIENT, unchecked(5), field_manager="me"), "a path must be a str or a Path, not 5"),
        (lambda: CLIENT.rest.get().abs_path(5).do(), "path segments must be strings, not 5"),
    ],
)
async def test_invalid_arguments_are_rejected(call: Callable[[], Awaitable[object]], message: str):
    with pytest.raises(ListWatchError, match=message):
        await call()
    assert CLIENT.rest.statistics().requests == 0


def test_timeout_seconds_must_be_a_number():
    with pytest.raises(UsageError, match="timeout_seconds must be a number of seconds, not '5'"):
        SETTINGS.watch(timeout_seconds="5")


@pytest.mark.parametrize("load", [load_config, load_kube_config])
@pytest.mark.parametrize("path", [5, b"/tmp/config", {"clusters": []}])
def test_a_kubeconfig_must_be_a_path(load: Callable[[Any], ClientConfig], path: object):
    with pytest.raises(UsageError, match=f"as a str or a Path, not a {type(path).__name__}"):
        load(path)


def test_a_kubeconfig_may_be_a_path_object(tmp_path: Path):
    with pytest.raises(ListWatchError, match="the file does not exist"):
        load_kube_config(tmp_path / "nowhere")
