"""Persists a storage in a SQLite file.

The file has a row for each event that the storage keeps, and for each object a row with its state at the oldest
readable revision. It is read once, when it is opened; later reads come from memory.

A write is on disk (fsync) when it returns, or with `group_commit` when `sync` returns. It then survives the end of the
process and, if the disk honours fsync, a power loss. Other writes are persisted completely or not at all, and their
revisions are not reused.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from listwatch.errors import ConfigError
from listwatch.meta import ObjectKey
from listwatch.server.storage.storage import MAX_AGE, MAX_EVENTS, Storage
from listwatch.server.storage.values import Event, JournalError, Stored

_log = logging.getLogger("listwatch.server")

FILE_NAME = "storage.db"

# The maximum number of writes lost when the process dies, and so the number of revisions that a new process skips.
_MAX_UNSYNCED = 1000

# Errors of a write to a file that had no effect: no space on the disk, or a limit on the size of files.
_DISK_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE})

_MIN_SPACE = 4 << 20

_APPLICATION_ID = 0x6C777374  # "lwst", in the header of the file
_FORMAT = 1
_SCHEMA = f"""
    BEGIN;
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        time REAL NOT NULL,
        type TEXT NOT NULL,
        resource TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        value BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE TABLE state (revision INTEGER NOT NULL, compacted INTEGER NOT NULL);
    INSERT INTO state VALUES (1, 1);
    PRAGMA application_id = {_APPLICATION_ID};
    PRAGMA user_version = {_FORMAT};
    COMMIT;
"""
# The latest event may be a delete that was compacted away, hence all three.
_SKIP_LOST_REVISIONS = f"""
    UPDATE state
    SET revision = max(revision, compacted, (SELECT coalesce(max(revision), 0) FROM log)) + {_MAX_UNSYNCED}
"""


def open_storage(
    data_dir: str | os.PathLike[str],
    *,
    now: Callable[[], float] = lambda: 0.0,
    max_events: int = MAX_EVENTS,
    max_age: float = MAX_AGE,
    group_commit: bool = False,
) -> Storage:
    """Open the storage in a directory; creates both if they are missing. `now` must be wall-clock time."""
    file = Path(data_dir, FILE_NAME)
    with _as_config_errors(file):
        is_new = _create_if_missing(file)
        database = sqlite3.connect(file, timeout=0, isolation_level=None)
        try:
            _prepare(database, file, is_new=is_new)
            journal = SqliteJournal(database, file)
            storage = Storage(
                now=now, max_events=max_events, max_age=max_age, journal=journal, group_commit=group_commit
            )
            _load(database, storage)
        except BaseException:
            database.close()
            raise
    return storage


class SqliteJournal:
    """Writes events as rows.

    If a write fails because the disk is full, the events since the last sync are lost, and later ones can be written
    when there is space again. After any other failure all writes fail, because the state of the file is unknown.
    """

    def __init__(self, database: sqlite3.Connection, file: Path) -> None:
        self._database = database
        self._file = file
        self._unsynced: list[Event] = []
        self._superseded: list[tuple[int]] = []
        self._compacted = 0
        self._failure = self._reason = ""
        self._fails_permanently = False

    def append(self, event: Event) -> None:
        if len(self._unsynced) == _MAX_UNSYNCED:
            self.sync()
        try:
            self._begin()
            self._database.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _row(event))
        except sqlite3.Error as error:
            raise self._failed(error) from error
        self._unsynced.append(event)

    def forget(self, events: Sequence[Event], *, compacted: int) -> None:
        # Written with the next sync, and again if that fails.
        self._superseded += _superseded(events)
        self._compacted = compacted

    def sync(self) -> None:
        if not self._unsynced and not self._compacted:
            return
        try:
            self._begin()
            if self._compacted:
                self._database.executemany("DELETE FROM log WHERE revision = ?", self._superseded)
                self._database.execute("UPDATE state SET compacted = ?", (self._compacted,))
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            failure = self._failed(error)
            if failure.lost:
                raise failure from error
        else:
            self._unsynced, self._superseded, self._compacted = [], [], 0
            if self._failure:
                self.is_writable()

    def is_writable(self) -> bool:
        if not self._failure:
            return True
        if not self._fails_permanently and _has_space(self._file.parent):
            _log.warning("The storage can be written again", extra={"file": str(self._file)})
            self._failure = ""
        return not self._failure

    def close(self) -> None:
        try:
            if not self._fails_permanently:
                self.sync()
        finally:
            self._database.close()

    def _begin(self) -> None:
        if self._fails_permanently:
            raise JournalError(self._failure, reason=self._reason)
        if not self._database.in_transaction:
            self._database.execute("BEGIN")

    def _failed(self, error: sqlite3.Error) -> JournalError:
        """Discard the transaction, which SQLite may have done already; returns the error to raise."""
        lost, self._unsynced = self._unsynced, []
        with suppress(sqlite3.Error):
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
        self._fails_permanently = getattr(error, "sqlite_errorcode", 0) not in _DISK_FULL
        advice = "restart the server when the cause is fixed" if self._fails_permanently else "free space on its disk"
        if not self._failure:
            extra = {"file": str(self._file), "reason": str(error)}
            # In the message too: the command line logs no fields.
            _log.error("The storage %s cannot be written: %s; %s", self._file, error, advice, extra=extra)
        self._failure = f"{self._file}: cannot be written ({error}); {advice}"
        self._reason = f"{error}; {advice}"
        return JournalError(self._failure, lost=lost, reason=self._reason)


def _has_space(folder: Path) -> bool:
    """Whether a disk has space for more than one small write, so that the journal does not fail again at once."""
    probe = folder / f"probe.{secrets.token_hex(4)}"
    try:
        probe.write_bytes(bytes(_MIN_SPACE))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink()
    return True


def _row(event: Event) -> tuple[object, ...]:
    labels = (event.revision, float(event.time), event.type, event.resource, *event.key)
    return *labels, event.value, _checksum(labels, event.value)


def _checksum(labels: Sequence[object], value: bytes) -> int:
    return crc32(value, crc32(repr(tuple(labels)).encode()))


def _superseded(events: Sequence[Event]) -> Iterator[tuple[int]]:
    """Yield the rows that no readable revision needs once these events are dropped."""
    for event in events:
        if event.previous:
            yield (event.previous.revision,)
        if event.type == "DELETED":
            yield (event.revision,)


# --- Open -------------------------------------------------------------------------------------------------------------


def _create_if_missing(file: Path) -> bool:
    """Return whether the storage is new; raises ConfigError for a storage that has lost its contents."""
    file.parent.mkdir(parents=True, exist_ok=True)
    log = file.with_name(f"{file.name}-wal")
    if not file.exists():
        if log.exists():
            advice = f"restore both from a copy, or delete {log.name} to start with an empty storage"
            raise ConfigError(f"is missing, but there is a log of its latest writes; {advice}", file=str(file))
        _create(file)
        return True
    if not file.stat().st_size:
        advice = "restore it from a copy, or delete it to start with an empty storage"
        raise ConfigError(f"is an empty file, not a storage; {advice}", file=str(file))
    return False


def _create(file: Path) -> None:
    """Create an empty storage, completely or not at all."""
    new = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")
    new.touch(mode=0o600, exist_ok=False)  # it will contain Secrets; SQLite gives its other files the same mode
    try:
        database = sqlite3.connect(new, timeout=0, isolation_level=None)
        try:
            database.executescript(_SCHEMA)
        finally:
            database.close()
        with suppress(FileExistsError):  # another server was faster
            os.link(new, file)
    finally:
        new.unlink()


def _prepare(database: sqlite3.Connection, file: Path, *, is_new: bool) -> None:
    """Lock and check the file, and continue above every revision that was ever used."""
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    _check(database, file)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    if not is_new:
        database.execute(_SKIP_LOST_REVISIONS)


def _check(database: sqlite3.Connection, file: Path) -> None:
    if _number(database, "PRAGMA application_id") != _APPLICATION_ID:
        raise ConfigError("is a database of another program; choose another data directory", file=str(file))
    if _number(database, "PRAGMA user_version") != _FORMAT:
        raise ConfigError("was written by another version of listwatch, which is needed to read it", file=str(file))
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _load(database: sqlite3.Connection, storage: Storage) -> None:
    revision, compacted = database.execute("SELECT revision, compacted FROM state").fetchone() or (None, None)
    if not (isinstance(revision, int) and isinstance(compacted, int) and compacted <= revision):
        raise sqlite3.DatabaseError("its revisions are inconsistent")
    storage.restore(_events(database), revision=revision, compacted=compacted)


def _events(database: sqlite3.Connection) -> Iterator[Event]:
    # SQLite detects damage to its own structure, but not to the values in it.
    for *labels, value, checksum in database.execute("SELECT * FROM log ORDER BY revision"):
        if not isinstance(value, bytes) or _checksum(labels, value) != checksum:
            raise sqlite3.DatabaseError(f"the record of revision {labels[0]} does not match its checksum")
        revision, time, type_, resource, namespace, name = labels
        yield Event(type_, resource, Stored(ObjectKey(namespace, name), value, revision), None, time)


def _number(database: sqlite3.Connection, query: str) -> int:
    (value,) = database.execute(query).fetchone()
    return int(value)


@contextmanager
def _as_config_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ConfigError(_reason(error), file=str(file)) from error
    except FileExistsError as error:
        raise ConfigError("is not a directory; choose another data directory", file=str(error.filename)) from error
    except OSError as error:
        raise ConfigError(f"cannot be used for the storage: {error.strerror}", file=str(file)) from error


def _reason(error: sqlite3.Error | UnicodeDecodeError) -> str:
    # Errors without a code are raised by this module, or by sqlite3 for text in a damaged file.
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "is in use by another server; stop that one or choose another data directory"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            advice = "restore it from a copy or choose another data directory"
            return f"is damaged or not a storage of listwatch ({error}); {advice}"
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return f"cannot be used for the storage: {error}; free space on its disk or choose another data directory"
        case _:
            return f"cannot be used for the storage: {error}"
