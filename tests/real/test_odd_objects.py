"""An object that cannot be decoded as a whole hides no other object from an informer."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.real.odd_objects import OddObjects, controller_revisions, custom_objects

from listwatch import blocking
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.errors import DecodeError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.apps_v1 import ControllerRevision
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

TIMEOUT = 60.0

# The clients by name: how they decode objects.
ASYNC_CLIENTS = {"typed": ClientSet, "dynamic": DynamicClient, "metadata": MetadataClient}
BLOCKING_CLIENTS = {
    "typed": blocking.ClientSet,
    "dynamic": blocking.DynamicClient,
    "metadata": blocking.MetadataClient,
}
KINDS = {"typed": ControllerRevision, "dynamic": Unstructured, "metadata": PartialObjectMetadata}

all_forms = pytest.mark.parametrize(
    ("resource", "form"),
    [
        ("ControllerRevision", "typed"),
        ("ControllerRevision", "dynamic"),
        ("ControllerRevision", "metadata"),
        ("custom", "dynamic"),
        ("custom", "metadata"),
    ],
)
stream_and_list = pytest.mark.parametrize("streaming", [True, False], ids=["stream", "list"])


@pytest.fixture
def config(real_api_server: RealAPIServerThread) -> ClientConfig:
    return real_api_server.config


@pytest.fixture
def objects(real_api_server: RealAPIServerThread, config: ClientConfig, resource: str) -> Iterator[OddObjects]:
    namespace = f"odd-{secrets.token_hex(4)}"
    with blocking.ClientSet(config) as client:
        client.core_v1.namespaces().create({"metadata": {"name": namespace}})
    make = controller_revisions if resource == "ControllerRevision" else custom_objects
    with make(real_api_server, namespace) as found:
        found.create("a")
        found.create("odd", odd=True)
        yield replace(found, version=found.create("z"))


def source_of(client: Any, objects: OddObjects, form: str) -> Any:
    if form == "typed":
        return client.apps_v1.controllerrevisions(objects.namespace)
    return client.resource(objects.api_version, objects.kind).namespace(objects.namespace)


def check_contents(informer: Any, objects: OddObjects, form: str, *names: str) -> None:
    stored = {each.name: each for each in informer.indexer.list()}
    assert sorted(stored) == sorted(names)
    assert all(each.namespace == objects.namespace and each.uid for each in stored.values())
    if form == "metadata":
        return
    for name, item in stored.items():
        if name.startswith("odd"):
            with pytest.raises(DecodeError, match=name):
                read(item, objects.damaged)
        else:
            assert read(item, objects.damaged) is not None


def read(item: Any, part: str) -> Any:
    return item[part] if isinstance(item, Unstructured) else getattr(item, part)


@all_forms
@stream_and_list
async def test_an_odd_object_is_in_the_store_and_hides_no_other(
    config: ClientConfig, objects: OddObjects, form: str, streaming: bool
):
    async with ASYNC_CLIENTS[form](config) as client:
        source, seen = source_of(client, objects, form), set()
        async with SharedIndexInformer(source, KINDS[form], streaming=streaming) as informer:
            informer.add_handler(on_add=lambda item: seen.add(item.name))
            await informer.wait_for_sync(timeout=TIMEOUT)
            await informer.wait_until(objects.version, timeout=TIMEOUT)  # the server lists from a cache
            check_contents(informer, objects, form, "a", "odd", "z")
            objects.create("odd-2", odd=True)
            objects.create("b")
            objects.label("odd")
            await informer.wait_until(objects.label("a"), timeout=TIMEOUT)
            check_contents(informer, objects, form, "a", "b", "odd", "odd-2", "z")
            labels = {each.name: dict(each.labels) for each in informer.indexer.list()}
            assert (labels["a"], labels["odd"], labels["b"]) == ({"changed": "yes"}, {"changed": "yes"}, {})
            objects.delete("odd")
            await informer.wait_until(objects.label("b"), timeout=TIMEOUT)
            check_contents(informer, objects, form, "a", "b", "odd-2", "z")
            assert seen >= {"a", "odd", "z", "odd-2"}


@all_forms
@stream_and_list
def test_the_same_holds_for_blocking_informers(config: ClientConfig, objects: OddObjects, form: str, streaming: bool):
    with BLOCKING_CLIENTS[form](config) as client:
        source = source_of(client, objects, form)
        with blocking.SharedIndexInformer(source, KINDS[form], streaming=streaming) as informer:
            informer.wait_for_sync(timeout=TIMEOUT)
            informer.wait_until(objects.version, timeout=TIMEOUT)
            check_contents(informer, objects, form, "a", "odd", "z")
            objects.create("odd-2", odd=True)
            objects.create("b")
            informer.wait_until(objects.label("odd"), timeout=TIMEOUT)
            check_contents(informer, objects, form, "a", "b", "odd", "odd-2", "z")
