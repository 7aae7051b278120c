"""The pages that a Pager requests, and the list that it returns."""

import asyncio
from typing import Any

import pytest
from tests.client.seeding import seed_config_maps

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.pager import Pager
from listwatch.errors import ExpiredError, ForbiddenError, ProtocolError, UsageError
from listwatch.objects.metadata import ListMeta, ObjectMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer, Expire, Fault


class Pages:
    """A list of `count` objects at version 7, which can fail at one request; it records the requests."""

    def __init__(self, count: int, *, failing_at: int | None = None, error: Exception | None = None) -> None:
        self.objects = [Unstructured(metadata=ObjectMeta(name=f"a-{number}")) for number in range(count)]
        self.failing_at = failing_at
        self.error = error or ExpiredError("too old")
        self.requests: list[dict[str, Any]] = []

    async def __call__(self, **options: Any) -> ObjectList[Unstructured]:
        self.requests.append(options)
        await asyncio.sleep(0)
        if len(self.requests) == self.failing_at:
            raise self.error
        start = int(options["continue_token"] or "0")
        stop = start + options["limit"] if options["limit"] else len(self.objects)
        more = str(stop) if stop < len(self.objects) else ""
        return ObjectList(self.objects[start:stop], metadata=ListMeta(resource_version="7", continue_=more))


def names(found: ObjectList[Unstructured]) -> list[str]:
    return [each.name for each in found]


async def test_a_short_list_is_one_page():
    pages = Pages(3)
    found = await Pager(pages, page_size=10).list(resource_version="5", resource_version_match="Exact")
    assert names(found) == ["a-0", "a-1", "a-2"]
    assert pages.requests == [
        {"limit": 10, "continue_token": "", "resource_version": "5", "resource_version_match": "Exact"}
    ]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (9, 1), (10, 1), (11, 2), (20, 2), (45, 5)])
async def test_a_long_list_is_read_to_its_end(count: int, requests: int):
    pages = Pages(count)
    found = await Pager(pages, page_size=10).list()
    assert names(found) == [f"a-{number}" for number in range(count)]
    assert (found.resource_version, found.continue_token, found.remaining) == ("7", "", None)
    assert len(pages.requests) == requests


async def test_only_the_first_page_is_requested_with_a_version():
    pages = Pages(25)
    await Pager(pages, page_size=10).list(resource_version="5", resource_version_match="Exact")
    assert [
        (each["continue_token"], each["resource_version"], each["resource_version_match"]) for each in pages.requests
    ] == [
        ("", "5", "Exact"),
        ("10", "", ""),
        ("20", "", ""),
    ]


async def test_a_list_that_expires_is_read_again_without_pages():
    pages = Pages(25, failing_at=2)
    found = await Pager(pages, page_size=10).list(resource_version="5", resource_version_match="Exact")
    assert len(found) == 25
    assert pages.requests[-1] == {
        "limit": 0,
        "continue_token": "",
        "resource_version": "5",
        "resource_version_match": "Exact",
    }


@pytest.mark.parametrize(
    ("pages", "full_list_if_expired"),
    [
        (Pages(25, failing_at=1), True),
        (Pages(25, failing_at=2), False),
        (Pages(25, failing_at=2, error=ForbiddenError("no")), True),
    ],
    ids=["on the first page", "without a full list", "with another error"],
)
async def test_other_errors_are_raised(pages: Pages, full_list_if_expired: bool):
    pages.requests.clear()
    with pytest.raises(type(pages.error)):
        await Pager(pages, page_size=10, full_list_if_expired=full_list_if_expired).list()


async def test_the_second_attempt_is_the_last():
    class Hopeless(Pages):
        async def __call__(self, **options: Any) -> ObjectList[Unstructured]:
            if options["continue_token"] or not options["limit"]:
                self.requests.append(options)
                raise ExpiredError("too old")
            return await super().__call__(**options)

    pages = Hopeless(25)
    with pytest.raises(ExpiredError):
        await Pager(pages, page_size=10).list()
    assert len(pages.requests) == 3


async def test_a_list_can_be_continued_from_a_token():
    found = await Pager(Pages(25), page_size=10).list(continue_token="20")
    assert names(found) == [f"a-{number}" for number in range(20, 25)]


async def test_a_continue_token_that_repeats_is_an_error():
    class Endless(Pages):
        async def __call__(self, **options: Any) -> ObjectList[Unstructured]:
            self.requests.append(options)
            return ObjectList(self.objects[:1], metadata=ListMeta(resource_version="7", continue_="more"))

    pages = Endless(25)
    with pytest.raises(ProtocolError, match="repeats a continue token"):
        await Pager(pages, page_size=10).list()
    assert len(pages.requests) == 2


@pytest.mark.parametrize("read_ahead", [0, 1, 10])
async def test_pages_are_yielded_in_order(read_ahead: int):
    pages = Pager(Pages(25), page_size=10, read_ahead=read_ahead).pages()
    assert [len(page) async for page in pages] == [10, 10, 5]


async def test_an_empty_page_does_not_end_the_list():
    class Sparse(Pages):
        async def __call__(self, **options: Any) -> ObjectList[Unstructured]:
            page = await super().__call__(**options)
            page.items = [each for each in page.items if options["continue_token"] != "10"]
            return page

    assert [len(page) async for page in Pager(Sparse(25), page_size=10).pages()] == [10, 0, 5]


@pytest.mark.parametrize(("read_ahead", "most"), [(0, 1), (1, 3), (2, 4)])
async def test_no_more_pages_are_read_ahead_than_configured(read_ahead: int, most: int):
    source = Pages(100)
    pages = Pager(source, page_size=10, read_ahead=read_ahead).pages()
    await anext(pages)
    for _ in range(50):
        await asyncio.sleep(0)
    assert (
        len(source.requests) == most
    )  # the yielded page, the queued ones, and the one waiting for a place in the queue
    await pages.aclose()


async def test_pages_read_ahead_are_yielded_before_an_error():
    pages = Pager(Pages(45, failing_at=3), page_size=10).pages()
    assert [len(await anext(pages)), len(await anext(pages))] == [10, 10]
    with pytest.raises(ExpiredError):
        await anext(pages)


async def test_leaving_the_iteration_early_stops_reading_ahead():
    pages = Pager(Pages(1000), page_size=10, read_ahead=3).pages()
    async for _ in pages:
        break
    await pages.aclose()
    assert [
        task for task in asyncio.all_tasks() if task is not asyncio.current_task() and "read ahead" in task.get_name()
    ] == []


@pytest.mark.parametrize("options", [{"page_size": 0}, {"read_ahead": -1}])
def test_invalid_page_sizes_are_rejected(options: dict[str, int]):
    with pytest.raises(UsageError, match="page_size must be 1 or more"):
        Pager(Pages(1), **options)


async def test_a_resource_is_listed_in_pages_of_500(server: APIServer, client: ClientSet):
    seed_config_maps(server, 1001)
    found = await client.core_v1.configmaps("default").list()
    assert [each.name for each in found] == [f"c-{number:05}" for number in range(1001)]
    assert [each.query.text("limit") for each in server.requests.matching(verb="list")] == ["500", "500", "500"]


async def test_a_resource_is_listed_although_its_version_is_compacted_meanwhile(server: APIServer, client: ClientSet):
    seed_config_maps(server, 600)
    server.faults.add(Fault(Expire(), verb="list", skip=1, times=1))
    assert len(await client.core_v1.configmaps("default").list()) == 600
    assert [each.query.text("limit") for each in server.requests.matching(verb="list")] == ["500", "500", ""]
