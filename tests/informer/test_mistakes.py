"""What a program gets wrong about informers is said when it is done, by an error of ours that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from listwatch.client.client_set import ClientSet
from listwatch.errors import InformerStoppedError, ResourceVersionError, UsageError
from listwatch.informer.factory import SharedInformerFactory
from listwatch.informer.informer import Informer
from listwatch.informer.list_watch import ListWatch
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer


class Handler:
    def on_add(self, item: ConfigMap) -> None: ...


async def is_wanted(_: object) -> bool:
    return False


class Wanted:
    async def __call__(self, _: object) -> bool:
        return False


def a_source() -> ListWatch[Any]:
    async def watch() -> Any:
        return
        yield

    return ListWatch(list=lambda: [], watch=watch)


@pytest.fixture
def client() -> ClientSet:
    return ClientSet(APIServer().config) if False else ClientSet(_config())


def _config() -> Any:
    from listwatch.client.config import ClientConfig

    return ClientConfig(host="http://127.0.0.1:1")
