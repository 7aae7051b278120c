"""A cache file that cannot be used costs one log line: the informer works without it."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.informer.persistence.restarts import fill, program

import listwatch as lw
from listwatch.cache.persistent import file_format
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer


def empty(file: Path) -> None:
    file.write_bytes(b"")


def foreign(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" + bytes(5000))


def cut_in_the_header(file: Path) -> None:
    os.truncate(file, 30)


def of_another_cache(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"default", b"another"))


def flipped_in_the_header(file: Path) -> None:
    flip(file, 40)


def replace_by_another(file: Path) -> None:
    other = file.with_suffix(".other")
    other.write_bytes(b"of another program")
    other.rename(file)


def cache_file(folder: Path) -> Path:
    [file] = folder.glob("*.cache")
    return file


def flip(file: Path, position: int) -> None:
    content = bytearray(file.read_bytes())
    content[position] ^= 0x10
    file.write_bytes(content)


@contextmanager
def format_number(number: int) -> Iterator[None]:
    current = file_format.FORMAT
    file_format.FORMAT = number
    try:
        yield
    finally:
        file_format.FORMAT = current


async def check(client: lw.ClientSet, folder: Path, *, restored: bool = False, lists: int = 1) -> None:
    """Run the program, which must have all objects, and then again with the file that it has written."""
    async with program(client, folder) as run:
        assert bool(run.informer.statistics().files[0].restored) == restored
        assert run.lists == lists
        assert run.data()["c-9"] == {"n": "9"}


@pytest.mark.parametrize("damage", [empty, foreign, cut_in_the_header, of_another_cache, flipped_in_the_header])
async def test_a_file_that_is_not_this_cache_is_discarded_with_one_line(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await check(client, tmp_path)
        file = cache_file(tmp_path)
        damage(file)

        await check(client, tmp_path)
        lines = [each.getMessage() for each in caplog.records if "cache file" in each.getMessage()]
        assert len(lines) == 1
        assert "is discarded" in lines[0]
        await check(client, tmp_path, restored=True, lists=0)


@pytest.mark.parametrize(("number", "age"), [(0, "an older"), (99, "a newer")])
async def test_a_file_of_another_format_is_discarded(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, number: int, age: str
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        with format_number(number):
            async with program(client, tmp_path):
                pass

        await check(client, tmp_path)
        assert f"it was written by {age} version of listwatch" in caplog.text


async def test_a_file_that_was_not_written_to_the_end_is_used_up_to_its_last_mark(
    api_server: APIServer, tmp_path: Path
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await check(client, tmp_path)
        async with program(client, tmp_path) as run:
            changed = await client.core_v1.configmaps("default").patch("c-9", {"data": {"m": "1"}})
            await run.informer.wait_until(changed.resource_version, timeout=20)
        file = cache_file(tmp_path)
        whole = file.read_bytes()
        for missing in (1, 30, 200):
            file.write_bytes(whole[:-missing])
            async with program(client, tmp_path) as again:
                assert again.informer.statistics().files[0].restored == len(again.data())
                assert again.lists == 0
                assert again.data()["c-9"] == {"n": "9", "m": "1"}


async def test_a_damaged_object_is_read_again_from_the_server(api_server: APIServer, tmp_path: Path) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await client.core_v1.configmaps("default").create({"metadata": {"name": "marked"}, "data": {"k": "FLIPPED"}})
        async with program(client, tmp_path):
            pass
        file = cache_file(tmp_path)
        flip(file, file.read_bytes().index(b"FLIPPED"))

        async with program(client, tmp_path) as run:
            found = run.informer.indexer.get("default/marked")
            assert found is not None
            with pytest.raises(lw.errors.DecodeError, match="bytes in the cache file are damaged"):
                _ = found.data
            async for change in run.informer.changes():
                if change.object.name == "marked" and change.object is not found:
                    assert change.object.data == {"k": "FLIPPED"}
                    break


@pytest.mark.parametrize("folder", ["/proc/listwatch", "file/below"])
async def test_without_a_writable_folder_the_informer_works(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, folder: str
) -> None:
    (tmp_path / "file").write_text("")
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await check(client, tmp_path / folder)

    assert caplog.text.count("the informer works without it") == 1


async def test_without_permission_to_write_the_file_the_informer_works(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await check(client, tmp_path)
        file = cache_file(tmp_path)
        file.unlink()
        file.mkdir()  # also for root, it cannot be opened for writing
        await check(client, tmp_path)

    assert caplog.text.count("the informer works without it") == 1


async def test_on_a_full_disk_the_informer_works_and_the_file_keeps_its_last_state(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        await check(client, tmp_path)
        file = cache_file(tmp_path)
        async with program(client, tmp_path) as run:
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 100, limits[1]))
            try:
                text = "x" * 2000
                changed = await client.core_v1.configmaps("default").patch("c-1", {"data": {"n": text}})
                await run.informer.wait_until(changed.resource_version, timeout=20)
                persister = run.informer._pipelines[0].persister
                assert persister is not None
                await persister.close()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert run.data()["c-1"] == {"n": text}
            assert not run.informer.statistics().files[0].is_used
        assert caplog.text.count("the informer works without it") == 1
        assert os.strerror(errno.EFBIG) in caplog.text

        async with program(client, tmp_path) as again:
            assert again.lists == 0
            assert again.data()["c-1"] == {"n": text}


async def test_a_second_informer_of_the_same_file_is_refused_and_works_without_it(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        async with program(client, tmp_path) as first, program(client, tmp_path) as second:
            assert first.informer.statistics().files[0].is_used
            assert not second.informer.statistics().files[0].is_used
            assert second.data() == first.data()

    assert caplog.text.count("it is in use by another informer or process") == 1


@pytest.fixture(params=[False, True], ids=["plain", "compact"])
def compact(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def read_all(informer: lw.SharedIndexInformer[ConfigMap]) -> dict[str, dict[str, str]]:
    """Read all objects; damaged ones are read when they have arrived from the server."""
    found: dict[str, dict[str, str]] = {}
    changes = informer.changes()
    for item in informer.indexer.list():
        with suppress(lw.errors.DecodeError):
            found[item.name] = dict(item.data)
    while len(found) < len(informer.indexer):
        change = await anext(changes)
        with suppress(lw.errors.DecodeError):
            found[change.object.name] = dict(change.object.data)
    await changes.aclose()
    return found


@pytest.mark.parametrize("size", [0, 1000])
async def test_a_file_that_another_program_truncates_does_not_end_the_process(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, compact: bool, size: int
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client, count=30)
        async with program(client, tmp_path, compact=compact):
            pass
        async with program(client, tmp_path, compact=compact) as run:
            first = run.informer.indexer.get("default/c-1")
            assert first is not None
            assert first.data == {"n": "1"}  # the file is mapped from here on
            del first
            assert cache_file(tmp_path).stat().st_size > 4096  # it loses a page
            os.truncate(cache_file(tmp_path), size)

            assert await read_all(run.informer) == {f"c-{each}": {"n": str(each)} for each in range(30)}
            changed = await client.core_v1.configmaps("default").patch("c-2", {"data": {"n": "new"}})
            await run.informer.wait_until(changed.resource_version, timeout=20)
        assert not run.informer.statistics().files[0].is_used
        assert caplog.text.count("the informer works without it") == 1

        async with program(client, tmp_path, compact=compact) as again:
            assert again.data()["c-2"] == {"n": "new"}


async def test_a_file_that_another_program_deletes_or_replaces_is_not_written_any_more(
    api_server: APIServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, compact: bool
) -> None:
    async with lw.ClientSet(api_server.config) as client:
        await fill(client)
        for harm, reason in (
            (Path.unlink, os.strerror(errno.ENOENT)),
            (replace_by_another, "another file has its name"),
        ):
            caplog.clear()
            async with program(client, tmp_path, compact=compact) as run:
                harm(cache_file(tmp_path))
                changed = await client.core_v1.configmaps("default").patch("c-1", {"data": {"n": reason}})
                await run.informer.wait_until(changed.resource_version, timeout=20)
                assert run.data()["c-1"] == {"n": reason}
            assert not run.informer.statistics().files[0].is_used
            assert caplog.text.count("the informer works without it") == 1
            assert reason in caplog.text
