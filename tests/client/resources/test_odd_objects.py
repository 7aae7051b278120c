"""Lists with objects that cannot be decoded, as each client and informer reads them."""

from typing import Any

import pytest
from tests.client.scripted import scripted

from listwatch import blocking
from listwatch.client.config.client_config import ClientConfig
from listwatch.errors import DecodeError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.sources.list_watch import ListWatch
from listwatch.testing.scripted_server import HANG, ScriptedServer, respond
from listwatch.testing.server_thread import ServerThread

DEPTH = 50_000  # deeper than any version of Python decodes
ODD_DATA = {
    "deep": b'{"a":' * DEPTH + b"1" + b"}" * DEPTH,
    "surrogate": b'{"a":"\\ud800"}',
    "not-utf8": b'{"a":"\xff"}',
    "number": b'{"a":01}',
}
NAMES = ["first", *ODD_DATA, "last"]


def item(name: str, data: bytes) -> bytes:
    return b'{"metadata":{"name":"%b","namespace":"n","resourceVersion":"5"},"data":%b}' % (name.encode(), data)


def page(more: str = "") -> bytes:
    items = [item("first", b"{}"), *(item(name, data) for name, data in ODD_DATA.items()), item("last", b"{}")]
    unreadable = item("x", b"{}").replace(b'"x"', b'"\xff"')
    head = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"%b"},"items":[%b]}'
    return respond(body=head % (more.encode(), b",".join([*items[:3], unreadable, *items[3:]])))


def check(listed: ObjectList[Any], times: int = 1) -> None:
    assert [each.name for each in listed] == NAMES * times
    assert [error.field for error in listed.broken] == ["items[3]"] * times
    for each in listed:
        if each.name in ODD_DATA and not isinstance(each, PartialObjectMetadata):
            with pytest.raises(DecodeError, match=f"ConfigMap n/{each.name}: "):
                each.to_dict()
        else:
            assert each.to_dict()["metadata"]["name"] == each.name


async def test_a_typed_client_lists_all_others():
    async with scripted(page()) as (_, client):
        check(await client.core_v1.configmaps("n").list())


async def test_a_dynamic_client_lists_all_others():
    async with scripted(page()) as (_, client):
        listed = await client.rest.get().resource("configmaps").do()
        check(listed.into_list(Unstructured))


async def test_metadata_of_all_others_is_listed():
    async with scripted(page()) as (_, client):
        listed = await client.rest.get().resource("configmaps").do()
        check(listed.into_list(PartialObjectMetadata))


async def test_all_pages_have_the_others():
    async with scripted(page("more"), page()) as (_, client):
        pages = [each async for each in client.core_v1.configmaps("n").pages()]
    assert len(pages) == 2
    for each in pages:
        check(each)


def test_a_blocking_client_lists_all_others():
    with (
        ServerThread(ScriptedServer(page())) as server,
        blocking.ClientSet(ClientConfig(host=server.call(lambda each: each.url))) as client,
    ):
        check(client.core_v1.configmaps("n").list())


@pytest.mark.parametrize("name", ODD_DATA)
async def test_one_odd_object_can_be_read(name: str):
    body = item(name, ODD_DATA[name]).replace(b"{", b'{"kind":"ConfigMap","apiVersion":"v1",', 1)
    async with scripted(respond(body=body)) as (_, client):
        found = await client.core_v1.configmaps("n").get(name)
    assert found.name == name
    with pytest.raises(DecodeError, match=f"ConfigMap n/{name}: data"):
        _ = found.data


@pytest.mark.parametrize("kind", [ConfigMap, Unstructured, PartialObjectMetadata])
async def test_an_informer_syncs_with_all_others(kind: type[Any]):
    problems: list[Any] = []
    async with scripted(page(), otherwise=HANG) as (_, client):
        source = ListWatch.from_client(client.rest, "configmaps", kind=kind)
        async with SharedIndexInformer(source, kind, streaming=False, on_problem=problems.append) as informer:
            await informer.wait_for_sync(timeout=30)
            assert sorted(informer.indexer.keys()) == sorted(f"n/{name}" for name in NAMES)
            assert any("items[3]" in str(problem.error) for problem in problems)
