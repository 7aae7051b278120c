"""Lists: pages, selectors and resource versions."""

import asyncio
from collections.abc import Collection, Iterable

import pytest
from tests.contract.client.samples import config_map, pod
from tests.contract.target import Target

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import BadRequestError, ExpiredError, RequestTimeoutError
from listwatch.meta import is_newer
from listwatch.models.core_v1 import ConfigMap, Event, Pod
from listwatch.objects.object import Object

MINE = {"made-by": "the-test"}


@pytest.fixture
def config_maps(config_maps: ResourceClient[ConfigMap]) -> ResourceClient[ConfigMap]:
    """Only the objects of the test: some servers create one in every namespace."""
    return config_maps.selecting(label_selector=MINE)


async def create(config_maps: ResourceClient[ConfigMap], names: Iterable[str], **labels: str) -> None:
    for name in names:
        await config_maps.create(config_map(name, labels=MINE | labels))


def names(objects: Iterable[Object]) -> list[str]:
    return [each.name for each in objects]


# --- pages -----------------------------------------------------------------------------------------------------------


async def test_a_list_has_everything_in_order_and_a_version(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "bca")
    listed = await config_maps.list()
    assert names(listed) == ["a", "b", "c"]
    assert (listed.kind, listed.continue_token) == ("ConfigMapList", "")
    assert {each.kind for each in listed} == {"ConfigMap"}
    assert all(not is_newer(each.resource_version, listed.resource_version) for each in listed)


async def test_with_a_limit_a_list_is_a_page_with_a_continue_token(client: ClientSet, namespace: str):
    secrets = client.core_v1.secrets(namespace)
    for name in "abcde":
        await secrets.create({"metadata": {"name": name}})
    first = await secrets.list(limit=2)
    assert (names(first), first.remaining) == (["a", "b"], 3)
    second = await secrets.list(limit=2, continue_token=first.continue_token)
    assert (names(second), second.remaining) == (["c", "d"], 1)
    assert second.resource_version == first.resource_version
    last = await secrets.list(limit=2, continue_token=second.continue_token)
    assert (names(last), last.continue_token) == (["e"], "")


async def test_pages_are_yielded_in_order(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "abcde")
    assert [names(page) async for page in config_maps.pages(page_size=2)] == [["a", "b"], ["c", "d"], ["e"]]


async def test_the_pages_of_a_list_are_a_consistent_snapshot(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "abcd")
    first = await config_maps.list(limit=2)
    await config_maps.delete("c")
    await create(config_maps, "e")
    rest = await config_maps.list(limit=9, continue_token=first.continue_token)
    assert names(rest) == ["c", "d"]
    assert names(await config_maps.list()) == ["a", "b", "d", "e"]


async def test_an_expired_page_has_a_token_to_continue(client: ClientSet, namespace: str, target: Target):
    events = client.core_v1.events(namespace)
    for name in "abc":
        await create_event(events, namespace, name)
    first = await events.list(limit=1)
    await events.delete("b")
    await create_event(events, namespace, "d")
    target.forget_history()
    with pytest.raises(ExpiredError) as caught:
        await events.list(limit=1, continue_token=first.continue_token)
    assert names(await events.list(limit=9, continue_token=caught.value.continue_token)) == ["c", "d"]


async def create_event(events: ResourceClient[Event], namespace: str, name: str) -> None:
    about = {"kind": "Namespace", "namespace": namespace, "name": namespace}
    await events.create({"metadata": {"name": name}, "involvedObject": about})


async def test_an_invalid_token_is_rejected(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(BadRequestError, match="continue"):
        await config_maps.list(limit=1, continue_token="odd")


MANY = 5_000
PAGE = 500


async def test_five_thousand_objects_are_listed_consistently_during_writes(
    config_maps: ResourceClient[ConfigMap],
):
    """Every page is of the version of the first, whatever is created, changed and deleted between the pages."""
    expected = [f"c-{number:04}" for number in range(MANY)]
    await in_parallel(config_maps, expected)
    page = await config_maps.list(limit=PAGE)
    seen, versions = [*page], {page.resource_version}
    while page.continue_token:
        await write_meanwhile(config_maps, len(seen))
        page = await config_maps.list(limit=PAGE, continue_token=page.continue_token)
        seen += page
        versions.add(page.resource_version)
    assert names(seen) == expected
    assert not any(each.data for each in seen)
    assert len(versions) == 1

    writes = MANY // PAGE - 1
    now = [each async for page in config_maps.pages(page_size=PAGE) for each in page]
    assert names(now) == names(await config_maps.list())
    assert names(now)[-writes:] == [f"new-{number}" for number in range(1, writes + 1)]
    assert [each.name for each in now if each.data] == [f"c-{PAGE * number:04}" for number in range(1, writes + 1)]
    assert len(now) == MANY


async def write_meanwhile(config_maps: ResourceClient[ConfigMap], count: int) -> None:
    """Change the first object of the next page, delete one of the last page, and add one at the end."""
    number = count // PAGE
    await config_maps.patch(f"c-{count:04}", {"data": {"x": "1"}})
    await config_maps.delete(f"c-{MANY - number:04}")
    await config_maps.create(config_map(f"new-{number}", labels=MINE))


async def in_parallel(config_maps: ResourceClient[ConfigMap], wanted: list[str]) -> None:
    left = iter(wanted)
    await asyncio.gather(*(create(config_maps, left) for _ in range(16)))


# --- versions --------------------------------------------------------------------------------------------------------


async def test_a_list_may_be_of_any_version_or_of_exactly_one(config_maps: ResourceClient[ConfigMap]):
    await create(config_maps, "a")
    then = (await config_maps.list()).resource_version
    await create(config_maps, "b")
    exact = await config_maps.list(limit=9, resource_version=then, resource_version_match="Exact")
    assert (names(exact), exact.resource_version) == (["a"], then)
    newer = await config_maps.list(resource_version=then, resource_version_match="NotOlderThan", timeout_seconds=20)
    assert "a" in names(newer)
    assert names(await config_maps.list()) == ["a", "b"]


async def test_a_future_version_times_out(client: ClientSet, namespace: str):
    request = client.rest.get().namespace(namespace).resource("configmaps").max_retries(0)
    with pytest.raises(RequestTimeoutError, match="Too large resource version") as caught:
        await request.params({"resourceVersion": 10**12, "resourceVersionMatch": "NotOlderThan"}).do()
    assert caught.value.resource_version_too_large


# --- selectors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("tier=front", "a"),
        ("tier!=front", "bc"),
        ("tier in (front, back)", "ab"),
        ("tier", "ab"),
        ("!tier", "c"),
        ({"tier": "back"}, "b"),
        ({"tier": ["front", "back"]}, "ab"),
        ({"tier": "front", "made-by": "another"}, ""),
    ],
)
async def test_labels_select(config_maps: ResourceClient[ConfigMap], selector: str | dict[str, str], found: str):
    await create(config_maps, "a", tier="front")
    await create(config_maps, "b", tier="back")
    await create(config_maps, "c")
    assert names(await config_maps.list(label_selector=selector)) == [*found]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("spec.nodeName=n1", ["a"]),
        ("spec.nodeName!=n1", ["b"]),
        ({"spec.nodeName": "n1"}, ["a"]),
        ({"metadata.name": "b", "status.phase": "Pending"}, ["b"]),
    ],
)
async def test_fields_select(pods: ResourceClient[Pod], selector: str | dict[str, str], found: Collection[str]):
    await pods.create(pod("a", node="n1"))
    await pods.create(pod("b"))
    assert names(await pods.list(field_selector=selector)) == found


async def test_unsupported_field_selectors_are_rejected(pods: ResourceClient[Pod]):
    with pytest.raises(BadRequestError, match="field label not supported"):
        await pods.list(field_selector={"spec.hostname": "x"})


async def test_all_namespaces_are_listed_together(client: ClientSet, namespace: str):
    for place in (namespace, "default"):
        await client.core_v1.configmaps(place).create(config_map(f"of-{namespace}", labels={"of": namespace}))
    everywhere = client.core_v1.configmaps().selecting(label_selector={"of": namespace})
    assert {each.namespace for each in await everywhere.list()} == {namespace, "default"}
    await client.core_v1.configmaps("default").delete(f"of-{namespace}")
