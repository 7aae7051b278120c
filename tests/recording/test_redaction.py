"""Redaction of Secrets: nothing but metadata and the names of keys is recorded, whatever a stream contains."""

import gzip
import json
from pathlib import Path

from listwatch.client import Recorder
from listwatch.recording.redaction import SecretRedactor
from listwatch.recording.targets import Target

SECRET = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"key": "aHVudGVyMg=="}}
REDACTED = {**SECRET, "data": {"key": "UkVEQUNURUQ="}}


def test_unknown_fields_of_lists_and_events_are_left_out():
    events = SecretRedactor(is_stream=True)
    line = json.dumps({"type": "ADDED", "object": SECRET, "token": "hunter2"}).encode() + b"\n"
    assert json.loads(events.feed(line)) == {"type": "ADDED", "object": REDACTED}
    whole = SecretRedactor(is_stream=False)
    whole.feed(json.dumps({"kind": "SecretList", "items": [SECRET], "token": "hunter2"}).encode())
    assert json.loads(whole.finish()) == {"kind": "SecretList", "items": [REDACTED]}


def test_a_stream_with_an_event_that_is_too_large_is_left_out_from_there():
    redactor = SecretRedactor(is_stream=True)
    for _ in range(17):
        assert redactor.feed(b"x" * 2**20) == b""
    assert redactor.feed(b"\n") == b""
    assert redactor.feed(json.dumps({"type": "ADDED", "object": SECRET}).encode() + b"\n") == b""


def test_a_line_of_json_in_the_value_of_a_secret_in_protobuf_is_not_recorded(tmp_path: Path):
    with Recorder(file := tmp_path / "a.lwrec") as recorder:
        exchange = recorder._begin(Target("watch", "", "v1", "secrets", "", "", {}, metadata_only=False))
        assert exchange is not None
        exchange.response(200, {"Content-Type": "application/vnd.kubernetes.protobuf;stream=watch"})
        exchange.data(b'\x0a\x20k8s\x00\n{"kind": "Status", "token": "hunter2"}\n')
        exchange.end("complete")
    assert b"hunter2" not in gzip.decompress(file.read_bytes())
