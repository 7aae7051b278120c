"""What a program gets wrong in a call is said by an error of ours, before anything is sent."""

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


def unchecked(mistake: object) -> Any:
    """Type checkers would find these mistakes, too."""
    return mistake


async def is_the_one(_: object) -> bool:
    return False


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: SETTINGS.patch("a", None), "a patch is a mapping, or a list of operations, not None"),
        (lambda: SETTINGS.patch("a", 5), "a patch is a mapping, or a list of operations, not 5"),
        (lambda: anext(SETTINGS.pages(page_size="5")), "pages of 1 or more, not '5'"),
        (
            lambda: PODS.logs("a", since="yesterday"),
            "a log begins at a time, or so many seconds ago, not at 'yesterday'",
        ),
        (lambda: wait_for(CLIENT, "a", "ready"), "cannot be waited in: give a client's resource"),
        (lambda: wait_for(SETTINGS, "a", "ready", timeout=unchecked("5")), "timeout must be a number of seconds"),
        (lambda: until(SETTINGS, "7", unchecked(is_the_one)), "is async, and its answer is not waited for"),
        (lambda: retry_on_conflict(unchecked(5)), "5 cannot be tried again: give an async function"),
        (lambda: apply_files(unchecked(5), field_manager="me"), "with a ClientSet or a DynamicClient, not with a int"),
        (lambda: apply_files(CLIENT, unchecked(5), field_manager="me"), "is a path, as text or a Path, not 5"),
        (lambda: CLIENT.rest.get().abs_path(5).do(), "a path is text, not 5"),
    ],
)
async def test_a_call_that_cannot_be_meant_is_refused(call: Callable[[], Awaitable[object]], why: str):
    with pytest.raises(ListWatchError, match=why):
        await call()
    assert CLIENT.rest.statistics().requests == 0


def test_a_watch_lasts_for_a_number_of_seconds():
    with pytest.raises(UsageError, match="timeout_seconds must be a number of seconds, not '5'"):
        SETTINGS.watch(timeout_seconds="5")


@pytest.mark.parametrize("load", [load_config, load_kube_config])
@pytest.mark.parametrize("path", [5, b"/tmp/config", {"clusters": []}])
def test_a_kubeconfig_is_a_path(load: Callable[[Any], ClientConfig], path: object):
    with pytest.raises(UsageError, match=f"as text or a Path, not a {type(path).__name__}"):
        load(path)


def test_a_path_may_be_a_path(tmp_path: Path):
    with pytest.raises(ListWatchError, match="there is no such file"):
        load_kube_config(tmp_path / "nowhere")
