"""Wrong uses of informers raise errors at once, which say what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import InformerStoppedError, ResourceVersionError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.informer import Informer
from listwatch.informer.reflector.reflector import Reflector
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.sources.list_watch import ListWatch

CONFIG = ClientConfig(host="http://127.0.0.1:1")
CLIENT: Any = ClientSet(CONFIG)
CONFIGMAPS: Any = CLIENT.core_v1.configmaps("default")


class Handler:
    def on_add(self, item: Object) -> None: ...


async def is_wanted(_: object) -> bool:
    return False


class Wanted:
    async def __call__(self, _: object) -> bool:
        return False


@pytest.mark.parametrize("source", [None, 5, CONFIG, CLIENT, CLIENT.core_v1.configmaps, [CONFIGMAPS]])
@pytest.mark.parametrize(
    "make",
    [
        lambda source: SharedIndexInformer(source, ConfigMap),
        lambda source: SharedIndexInformer({"default": source}, ConfigMap),
        lambda source: Informer(source, ConfigMap, Handler()),
        lambda source: Reflector(source, ConfigMap, None),  # type: ignore[arg-type]  # the source is checked first
    ],
)
def test_a_source_without_list_and_watch_is_rejected(make: Callable[[Any], object], source: Any):
    with pytest.raises(UsageError, match=r"is not a source: .* pass a resource client"):
        make(source)


def test_an_empty_mapping_of_sources_is_rejected():
    with pytest.raises(UsageError, match="pass at least one namespace"):
        SharedIndexInformer({}, ConfigMap)


@pytest.mark.parametrize("kind", [None, 5, dict, "ConfigMap"])
def test_a_kind_that_is_not_an_object_class_is_rejected(kind: Any):
    with pytest.raises(UsageError, match="is not a kind; pass a class"):
        SharedIndexInformer(CONFIGMAPS, kind)


def test_a_source_of_another_kind_is_rejected():
    with pytest.raises(UsageError, match="is a source of ConfigMap, not of Pod"):
        SharedIndexInformer(CONFIGMAPS, Pod)
    with pytest.raises(UsageError, match="is a source of Unstructured, not of Pod"):
        SharedIndexInformer(CLIENT.dynamic.resource("v1", "Pod"), Pod)
    SharedIndexInformer(CLIENT.dynamic.resource("v1", "Pod"), Unstructured)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "has no functions"),
        ({"on_add": 5}, "on_add is 5, which is not callable"),
        ({"handler": 5}, "int has no functions"),
        ({"handler": Handler(), "on_update": print}, "not both: on_update"),
        ({"on_add": print, "filter": 5}, "5 is not a filter"),
        ({"on_add": print, "filter": is_wanted}, "is async, and its result would not be awaited"),
        ({"on_add": print, "filter": Wanted()}, "is async, and its result would not be awaited"),
        ({"on_add": print, "overflow": "drop"}, "overflow='drop' is not supported; pass 'coalesce' or 'report'"),
        ({"on_add": print, "max_pending": "1000"}, "max_pending must be a number of changes, or None, not '1000'"),
        ({"on_add": print, "resync": "60"}, "resync must be a number of seconds, not '60'"),
    ],
)
def test_wrong_arguments_of_add_handler_are_rejected(options: dict[str, Any], why: str):
    with pytest.raises(UsageError, match=why):
        SharedIndexInformer(CONFIGMAPS, ConfigMap).add_handler(**options)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"resync": "60"}, "resync must be a number of seconds, not '60'"),
        ({"min_watch": "3"}, "min_watch must be a number of seconds, not '3'"),
        ({"internal_error_window": None}, "internal_error_window must be a number of seconds, not None"),
        ({"page_size": "500"}, "page_size must be a number of objects, or None, not '500'"),
    ],
)
def test_numeric_options_must_be_numbers(options: dict[str, Any], why: str):
    with pytest.raises(UsageError, match=why):
        SharedIndexInformer(CONFIGMAPS, ConfigMap, **options)
    handler: Any = Handler()
    with pytest.raises(UsageError, match=why):
        Informer(CONFIGMAPS, ConfigMap, handler, **options)


@pytest.mark.parametrize("client", [None, CONFIG, CLIENT.rest, CONFIGMAPS])
def test_a_factory_needs_a_client(client: Any):
    with pytest.raises(UsageError, match="SharedInformerFactory needs a ClientSet"):
        SharedInformerFactory(client)


def test_a_list_watch_needs_functions_or_a_rest_client():
    with pytest.raises(UsageError, match="needs two functions"):
        ListWatch(list=CONFIGMAPS, watch=CONFIGMAPS.watch)
    with pytest.raises(UsageError, match=r"is not a REST client; pass one, such as client\.rest"):
        ListWatch.from_client(CLIENT, "configmaps")


async def test_a_stopped_informer_cannot_be_started():
    informer = SharedIndexInformer(CONFIGMAPS, ConfigMap)
    async with informer:
        assert not informer.is_stopped
    with pytest.raises(InformerStoppedError, match="was already started"):
        informer.start()
    with pytest.raises(InformerStoppedError, match="was already started"):
        await informer.run()


async def test_an_informer_stopped_before_its_start_cannot_be_started():
    informer = SharedIndexInformer(CONFIGMAPS, ConfigMap)
    await informer.stop()
    with pytest.raises(InformerStoppedError, match="was already started"):
        informer.start()


async def test_a_stopped_factory_cannot_be_started():
    factory = SharedInformerFactory(CLIENT)
    factory.informer(ConfigMap)
    await factory.stop()
    with pytest.raises(InformerStoppedError, match="was already started"):
        factory.start()


@pytest.mark.parametrize("version", [None, 3, "", "abc"])
async def test_a_version_to_wait_for_must_be_a_string_of_digits(version: Any):
    informer = SharedIndexInformer(CONFIGMAPS, ConfigMap)
    with pytest.raises(ResourceVersionError, match="expected a string of digits"):
        await informer.wait_until(version, timeout=1)


async def test_a_timeout_must_be_a_number():
    with pytest.raises(UsageError, match="timeout must be a number of seconds"):
        await SharedIndexInformer(CONFIGMAPS, ConfigMap).wait_for_sync(timeout="30")  # type: ignore[arg-type]  # the mistake under test


def test_public_objects_have_a_repr_with_their_state():
    factory = SharedInformerFactory(CLIENT)
    handle = factory.informer(ConfigMap)
    registration = handle.informer.add_handler(on_add=print)
    assert repr(factory) == "<SharedInformerFactory of <ClientSet of http://127.0.0.1:1>, not running: 1 informer>"
    assert repr(handle) == "<InformerHandle, in use, on <SharedIndexInformer of configmaps, not synced: 0 @>>"
    assert repr(registration) == "<HandlerRegistration of print, not synced>"
