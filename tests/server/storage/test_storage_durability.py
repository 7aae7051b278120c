"""What a storage in a file survives, and its errors for files that it cannot use.

Run as a program, this is the process that gets killed: it writes to a directory, and prints the writes that are
durable.
"""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from listwatch.errors import ConfigError
from listwatch.meta import ObjectKey
from listwatch.server.storage.sqlite_journal import FILE_NAME, open_storage
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, JournalError, RevisionCompactedError

PODS = "core/pods"


def key(name: str | int) -> ObjectKey:
    return ObjectKey("default", str(name))


def numbered(revision: int) -> bytes:
    return b"at %d" % revision


def line_of(event: Event) -> str:
    return f"{event.revision} {event.type} {event.key} {event.value.decode()}"


def objects(storage: Storage) -> list[tuple[ObjectKey, bytes, int]]:
    return [(stored.key, stored.value, stored.revision) for stored in storage.scan(PODS)]


def replay(events: Iterable[Event]) -> list[tuple[ObjectKey, bytes, int]]:
    left = {}
    for event in events:
        left[event.key] = (event.key, event.value, event.revision)
        if event.type == "DELETED":
            del left[event.key]
    return sorted(left.values())


# --- The process that gets killed


def write_and_tell(data_dir: str, group: int) -> None:
    """Write until killed, and print each write when it is durable."""
    storage = open_storage(data_dir, group_commit=group > 1)
    storage.subscribe(lambda event: print(line_of(event), flush=True))
    for number in range(10_000):
        write_one(storage, key(number % 7))
        if number % group == 0:
            storage.sync()


def write_one(storage: Storage, at: ObjectKey) -> None:
    if storage.get(PODS, at) is None:
        storage.create(PODS, at, numbered)
    elif storage.revision % 3:
        storage.update(PODS, at, numbered)
    else:
        storage.delete(PODS, at, numbered)


def fill_the_disk(data_dir: str) -> None:
    """Write until files may not grow any more, and print the durable writes and the results of later ones."""
    import resource

    storage = open_storage(data_dir)
    storage.create(PODS, key("first"), numbered)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    safe = 1
    try:
        while storage.create(PODS, key(safe), lambda _: bytes(5_000)):
            safe += 1
    except JournalError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    storage.create(PODS, key("later"), numbered)
    print(safe, storage.count(PODS))


def start_on_a_full_disk(data_dir: str) -> None:
    """Open a storage where files may not grow, and print the error."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
    try:
        open_storage(data_dir)
    except ConfigError as error:
        print(error)


def run_here(task: str, data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, __file__, task, str(data_dir)], stdout=subprocess.PIPE, text=True)


def killed_after(lines: int, task: str, data_dir: Path) -> Iterator[str]:
    """The lines that a process printed before it was killed, after this number of lines."""
    with run_here(task, data_dir) as process:
        yield from islice(process.stdout, lines)
        process.kill()
        yield from (line for line in process.stdout if line.endswith("\n"))


@pytest.mark.parametrize("group", [1, 5], ids=["each write by itself", "in groups"])
def test_acknowledged_writes_survive_a_kill(tmp_path, group):
    acknowledged: list[str] = []
    for lines in (1, 50, 200):
        said = [line.strip() for line in killed_after(lines, f"write by {group}", tmp_path)]
        assert len(said) >= lines
        acknowledged += said
        with open_storage(tmp_path) as storage:
            events = storage.events(PODS, after=1)
            assert not set(acknowledged) - {*map(line_of, events)}
            assert objects(storage) == replay(events)
            assert storage.revision > events[-1].revision
    revisions = [int(line.split()[0]) for line in acknowledged]
    assert revisions == sorted(set(revisions))


def test_writes_fail_while_the_disk_is_full_and_succeed_when_it_has_space_again(tmp_path):
    with run_here("fill", tmp_path) as process:
        error, counts = process.stdout.read().splitlines()
    safe, readable = map(int, counts.split())
    assert error.startswith(f"{tmp_path / FILE_NAME}: cannot be written")
    assert readable == safe + 1
    with open_storage(tmp_path) as storage:
        assert storage.count(PODS) == safe + 1
        assert storage.get(PODS, key("later"))


def test_a_start_on_a_full_disk_says_what_to_do(tmp_path):
    with run_here("start full", tmp_path) as process:
        error = process.stdout.read()
    assert error.startswith(f"{tmp_path / FILE_NAME}: cannot be used for the storage: ")
    assert error.endswith("; free space on its disk or choose another data directory\n")


# --- Restarts


def test_an_object_whose_creation_was_dropped_is_listed_after_a_restart(tmp_path: Path):
    with open_storage(tmp_path) as storage:
        storage.create(PODS, key("a"), numbered)
        changed = storage.update(PODS, key("a"), numbered)
        storage.compact(storage.revision)
    with open_storage(tmp_path) as storage:
        assert objects(storage) == [(changed.key, changed.value, changed.revision)]
        assert storage.count(PODS) == 1


def test_a_watch_resumes_after_a_restart(tmp_path):
    with open_storage(tmp_path) as storage:
        seen = storage.create(PODS, key("a"), numbered).revision
        storage.update(PODS, key("a"), numbered)
        storage.delete(PODS, key("a"), numbered)
        missed = [*map(line_of, storage.events(PODS, after=seen))]
    with open_storage(tmp_path) as storage:
        again = storage.events(PODS, after=seen)
        assert [*map(line_of, again)] == missed
        assert [event.previous.value for event in again] == [b"at 2", b"at 3"]


def test_revisions_of_lost_writes_are_not_reused(tmp_path):
    left, found = tmp_path / "left", tmp_path / "found"
    with open_storage(left, group_commit=True) as storage:
        issued = [storage.create(PODS, key(number), numbered).revision for number in range(2500)]
        shutil.copytree(left, found)
    with open_storage(found) as storage:
        assert storage.count(PODS) < 2500
        assert storage.create(PODS, key("new"), numbered).revision > issued[-1]


def test_the_revision_of_a_compacted_delete_is_not_reused(tmp_path):
    with open_storage(tmp_path, group_commit=True) as storage:
        storage.create(PODS, key("a"), numbered)
        for _ in range(2000):
            storage.update(PODS, key("a"), numbered)
        deleted = storage.delete(PODS, key("a"), numbered).revision
        storage.compact(deleted)
    with open_storage(tmp_path) as storage:
        assert (storage.compacted_revision, objects(storage)) == (deleted, [])
        assert storage.create(PODS, key("a"), numbered).revision > deleted


def test_the_file_has_only_rows_that_can_be_read(tmp_path):
    with open_storage(tmp_path, max_events=10) as storage:
        for number in range(100):
            write_one(storage, key(number % 7))
        kept = storage.count(PODS, revision=storage.compacted_revision) + len(
            storage.events(after=storage.compacted_revision)
        )
    assert rows(tmp_path) == kept
    with open_storage(tmp_path) as storage:
        storage.compact(storage.revision)
        kept = storage.count(PODS)
    assert rows(tmp_path) == kept


def rows(data_dir: Path) -> int:
    database = sqlite3.connect(data_dir / FILE_NAME)
    try:
        return database.execute("SELECT count(*) FROM log").fetchone()[0]
    finally:
        database.close()


def test_a_storage_opened_with_a_smaller_window_drops_events_at_once(tmp_path):
    with open_storage(tmp_path) as storage:
        latest = [storage.create(PODS, key(number), numbered).revision for number in range(5)]
    with open_storage(tmp_path, max_events=2) as storage:
        assert storage.compacted_revision == latest[2]
        assert storage.count(PODS) == 5


def test_events_expire_while_no_process_runs(tmp_path):
    with open_storage(tmp_path, now=lambda: 1000.0, max_age=60.0) as storage:
        first = storage.create(PODS, key("a"), numbered).revision
    with open_storage(tmp_path, now=lambda: 1060.0, max_age=60.0) as storage:
        assert len(storage.events(after=first - 1)) == 1
    with open_storage(tmp_path, now=lambda: 1060.5, max_age=60.0) as storage:
        with pytest.raises(RevisionCompactedError):
            storage.events(after=first - 1)
        assert len(objects(storage)) == 1


def test_any_names_and_bytes_are_read_back_unchanged(tmp_path):
    names = ["é", "system:node:a", "'); DROP TABLE log; --", "a\0b"]
    with open_storage(tmp_path) as storage:
        for name in names:
            storage.create(PODS, ObjectKey("", name), lambda _: bytes(range(256)))
        before = objects(storage)
    with open_storage(tmp_path) as storage:
        assert objects(storage) == before


# --- Files that cannot be used


@pytest.fixture
def kept(tmp_path) -> Path:
    """A directory with a storage of twenty objects in it."""
    data_dir = tmp_path / "data"
    with open_storage(data_dir) as storage:
        for number in range(20):
            storage.create(PODS, key(number), lambda revision: b"value " * 20 + numbered(revision))
    return data_dir


def refusal(data_dir: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        open_storage(data_dir)
    assert str(caught.value).startswith(f"{data_dir / FILE_NAME}: ")
    return caught.value.message


def test_a_directory_can_be_opened_by_one_storage_at_a_time(kept):
    with open_storage(kept):
        assert "in use by another server" in refusal(kept)
        other = subprocess.run([sys.executable, __file__, "write by 1", kept], capture_output=True, text=True)
        assert f"{kept / FILE_NAME}: is in use by another server" in other.stderr
        assert (other.returncode, other.stdout) == (1, "")
    open_storage(kept).close()


def test_other_users_cannot_read_the_file(kept):
    assert (kept / FILE_NAME).stat().st_mode & 0o777 == 0o600
    with open_storage(kept):
        assert {file.stat().st_mode & 0o077 for file in kept.iterdir()} == {0}


def test_a_file_that_is_not_a_database_is_rejected_and_unchanged(tmp_path):
    foreign = b"my notes, not a database\n" * 100
    (tmp_path / FILE_NAME).write_bytes(foreign)
    assert "not a storage of listwatch" in refusal(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == foreign


def test_a_database_of_another_program_is_rejected_and_unchanged(tmp_path):
    execute(tmp_path, "CREATE TABLE songs (title TEXT)")
    foreign = (tmp_path / FILE_NAME).read_bytes()
    assert "another program" in refusal(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == foreign


def test_a_file_of_another_format_is_rejected(kept):
    execute(kept, "PRAGMA user_version = 2")
    assert "another version of listwatch" in refusal(kept)


def execute(data_dir: Path, statement: str) -> None:
    database = sqlite3.connect(data_dir / FILE_NAME)
    database.execute(statement)
    database.close()


def test_a_directory_that_cannot_be_created_is_rejected(tmp_path):
    (tmp_path / "file").touch()
    assert "Not a directory" in refusal(tmp_path / "file" / "data")


def test_an_empty_file_is_rejected_and_unchanged(kept):
    (kept / FILE_NAME).write_bytes(b"")
    assert "is an empty file, not a storage; restore it from a copy, or delete it" in refusal(kept)
    assert (kept / FILE_NAME).read_bytes() == b""


def test_a_log_without_its_file_is_rejected(tmp_path):
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"log")
    assert "is missing, but there is a log of its latest writes" in refusal(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [f"{FILE_NAME}-wal"]


def test_a_truncated_file_is_rejected(kept):
    whole = (kept / FILE_NAME).read_bytes()
    (kept / FILE_NAME).write_bytes(whole[: len(whole) // 2])
    assert "damaged" in refusal(kept)


def test_a_damaged_byte_never_changes_what_is_read(kept, tmp_path):
    with open_storage(kept) as storage:
        expected = objects(storage)
    sound = (kept / FILE_NAME).read_bytes()
    found = {}
    for at in range(0, len(sound), 151):
        damaged = tmp_path / f"damaged at {at}"
        damaged.mkdir()
        (damaged / FILE_NAME).write_bytes(sound[:at] + bytes([sound[at] ^ 0x24]) + sound[at + 1 :])
        found[at] = objects_or_refusal(damaged)
    assert [at for at, read in found.items() if read not in (expected, "refused")] == []
    assert "refused" in found.values()


def objects_or_refusal(data_dir: Path) -> object:
    try:
        with open_storage(data_dir) as storage:
            return objects(storage)
    except ConfigError:
        return "refused"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", data_dir]:
            fill_the_disk(data_dir)
        case ["start full", data_dir]:
            start_on_a_full_disk(data_dir)
        case [task, data_dir]:
            write_and_tell(data_dir, int(task.removeprefix("write by ")))
