"""The file of a recording: appended, cut off, damaged, foreign, and written by a newer version."""

import gzip
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from listwatch.client import Recorder
from listwatch.errors import ConfigError, UsageError
from listwatch.recording.recording_file import RecordingWriter, read_entries, scan_recording
from listwatch.recording.records import Data, Start, Stop, encode_record

START = encode_record(Start(1, 1.0, "0.1.0"))
BODY = b'{"a": "line\\n"}\n' * 40


def write(file: Path, *members: bytes, max_size: int = 1 << 20) -> list[int]:
    """Append members; returns the size of the file after each."""
    writer = RecordingWriter(file)
    writer.open()
    sizes = []
    for member in members:
        writer.append(member, max_size=max_size)
        sizes.append(writer.size)
    writer.close()
    return sizes


def data(number: int) -> bytes:
    return encode_record(Data(float(number), number, len(BODY)), BODY)


def numbers(file: Path) -> list[int]:
    return [each.record.id for each in read_entries(file) if isinstance(each.record, Data)]


def test_records_are_read_as_they_were_written(tmp_path: Path):
    write(file := tmp_path / "a.lwrec", START + data(1), data(2) + data(3))
    assert numbers(file) == [1, 2, 3]
    assert {each.body for each in read_entries(file) if isinstance(each.record, Data)} == {BODY}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert gzip.decompress(file.read_bytes()) == START + data(1) + data(2) + data(3)


def test_a_recording_that_is_cut_anywhere_is_read_up_to_its_last_whole_member(tmp_path: Path):
    sizes = write(file := tmp_path / "a.lwrec", START, data(1), data(2))
    content = file.read_bytes()
    for size in range(sizes[0], sizes[2]):
        file.write_bytes(content[:size])
        scan = scan_recording(file)
        whole = [each for each in sizes if each <= size]
        assert (scan.end, bool(scan.problem)) == (whole[-1], size not in sizes)
        assert numbers(file) == [1][: len(whole) - 1]


def test_damage_anywhere_is_found_and_what_precedes_it_is_read(tmp_path: Path):
    sizes = write(file := tmp_path / "a.lwrec", START, data(1), data(2))
    content = file.read_bytes()
    for position in range(sizes[1] + 10, sizes[2]):  # after the header, whose time and system do not matter
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        file.write_bytes(damaged)
        assert scan_recording(file).end == sizes[1]
        assert numbers(file) == [1]


def test_a_recorder_appends_after_removing_an_incomplete_member(tmp_path: Path):
    write(file := tmp_path / "a.lwrec", START + data(1))
    file.write_bytes(file.read_bytes() + b"\x1f\x8b\x08\x00cut")
    write(file, START + data(2))
    assert numbers(file) == [1, 2]
    assert not scan_recording(file).problem


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"kind: Pod\n", "not a recording of listwatch"),
        (gzip.compress(b"hello"), "not a recording of listwatch"),
        (gzip.compress(data(1)), "not a recording of listwatch"),
        (gzip.compress(encode_record(Start(99, 1.0, "9.0.0"))), "format 99, written by listwatch 9.0.0.*newer version"),
        (gzip.compress(START)[:9], "incomplete"),
    ],
    ids=["text", "other gzip", "no start", "newer", "cut"],  # gzip has the time in its header
)
def test_other_files_are_rejected_and_not_overwritten(tmp_path: Path, content: bytes, message: str):
    (file := tmp_path / "a.lwrec").write_bytes(content)
    file.chmod(0o644)
    with pytest.raises(ConfigError, match=message):
        scan_recording(file)
    with pytest.raises(ConfigError, match=message):
        Recorder(file).open()
    assert file.read_bytes() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_pipe_or_device_is_no_file_for_a_recording(tmp_path: Path):
    os.mkfifo(file := tmp_path / "pipe", 0o644)
    with pytest.raises(ConfigError, match="not a regular file"):
        Recorder(file).open()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_record_with_a_negative_size_is_damage(tmp_path: Path):
    write(file := tmp_path / "a.lwrec", START + data(1), encode_record(Data(2.0, 2, -40)))
    assert numbers(file) == [1]
    assert "damaged" in scan_recording(file).problem


def test_a_file_that_cannot_be_written_is_an_error_at_the_start(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"missing.*cannot be written: No such file"):
        Recorder(tmp_path / "missing" / "a.lwrec").open()
    with pytest.raises(ConfigError, match="cannot be written"):
        Recorder(tmp_path).open()


def test_two_recorders_do_not_write_one_file(tmp_path: Path):
    with Recorder(tmp_path / "a.lwrec"), pytest.raises(ConfigError, match="another recorder"):
        Recorder(tmp_path / "a.lwrec").open()


def test_a_closed_recorder_is_not_opened_again(tmp_path: Path):
    with Recorder(tmp_path / "a.lwrec") as recorder:
        pass
    assert not recorder.is_recording
    with pytest.raises(UsageError, match="closed"):
        recorder.open()
    assert [type(each.record) for each in read_entries(tmp_path / "a.lwrec")] == [Start, Stop]


# The limit on the size of files has the effect of a full disk: a write that fails after a part of it.
FULL_DISK = """
import logging, resource, signal, sys
from listwatch.client import HTTPRequest, Recorder
from listwatch.recording.targets import target_of

logging.basicConfig(format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
recorder = Recorder(sys.argv[1])
for number in range(3):
    exchange = recorder._begin(target_of(HTTPRequest("GET", "/api/v1/pods")))
    if exchange:
        exchange.response(200, {})
        exchange.data(__import__("os").urandom(2000))
        exchange.end("complete")
    recorder.flush()
print(recorder.statistics().stopped, recorder.is_recording)
recorder.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_stops_the_recording_with_one_line_in_the_log(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "a.lwrec")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "the file cannot be written (File too large) False\n"
    [line] = done.stderr.splitlines()
    assert "stopped: the file cannot be written (File too large); clients continue without it" in line
    scan = scan_recording(tmp_path / "a.lwrec")
    assert not scan.problem
    assert 2000 < os.path.getsize(tmp_path / "a.lwrec") <= 3000
