"""Writes recordings by hand: requests, responses and their ends, at given times."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from listwatch.recording.recording_file import RecordingWriter
from listwatch.recording.records import FORMAT, Data, End, Ending, Record, Request, Response, Start, encode_record

STREAMED = {"sendInitialEvents": "true", "allowWatchBookmarks": "true", "resourceVersionMatch": "NotOlderThan"}


def config_map(name: str, version: int, *, namespace: str = "default", **labels: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": str(version)}
    if labels:
        metadata["labels"] = labels
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"at": str(version)}}


class Script:
    """A recording of config maps, unless a request names another resource."""

    def __init__(self) -> None:
        self.now = 0.0
        self._last = 0
        self._records: list[bytes] = [encode_record(Start(FORMAT, 1_700_000_000.0, "test"))]

    def save(self, folder: Path) -> Path:
        writer = RecordingWriter(folder / "incident.lwrec")
        writer.open()
        writer.append(b"".join(self._records), max_size=1 << 30)
        writer.close()
        return writer.file

    def put(self, record: Record, body: bytes = b"") -> None:
        self._records.append(encode_record(record, body))

    def request(self, verb: Any, query: dict[str, str], **place: Any) -> int:
        self._last += 1
        where = {"version": "v1", "resource": "configmaps", **place}
        self.put(Request(self.now, self._last, verb, query=query, **where))
        return self._last

    def list(
        self,
        revision: int,
        *objects: dict[str, Any],
        query: dict[str, str] | None = None,
        more: str = "",
        kind: str = "ConfigMapList",
        api_version: str = "v1",
        **place: Any,
    ) -> None:
        number = self.request("list", query or {}, **place)
        metadata = {"resourceVersion": str(revision), "continue": more}
        items = objects if "resource" in place else [_without_kind(each) for each in objects]
        self._respond(number, {"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": items})

    def get(self, name: str, found: dict[str, Any] | None, **place: Any) -> None:
        number = self.request("get", {}, namespace="default", name=name, **place)
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
        self._respond(number, found or status, status=200 if found else 404)

    def fail(self, verb: Any, status: int, reason: str, *, retry_after: int = 0, **place: Any) -> None:
        number = self.request(verb, {}, **place)
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status}
        self._respond(number, body, status=status, retry_after=retry_after)

    def fail_to_connect(self, verb: Any, how: Ending = "refused") -> None:
        self.put(End(self.now, self.request(verb, {}), how))

    def watch(self, query: dict[str, str], **place: Any) -> "ScriptedStream":
        number = self.request("watch", query, **place)
        self.put(Response(self.now, number, 200))
        return ScriptedStream(self, number)

    def _respond(self, number: int, body: dict[str, Any], *, status: int = 200, retry_after: int = 0) -> None:
        raw = json.dumps(body).encode()
        self.put(Response(self.now, number, status, retry_after=retry_after))
        self.put(Data(self.now, number, len(raw)), raw)
        self.put(End(self.now, number, "complete"))


class ScriptedStream:
    """A recorded watch."""

    def __init__(self, script: Script, number: int) -> None:
        self._script = script
        self._number = number

    def send(self, *events: tuple[str, dict[str, Any]]) -> None:
        self.send_bytes(_lines(events))

    def send_bytes(self, raw: bytes) -> None:
        self._script.put(Data(self._script.now, self._number, len(raw)), raw)

    def bookmark(self, version: int, *, ends_initial_events: bool = False) -> None:
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if ends_initial_events:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        self.send(("BOOKMARK", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}))

    def error(self, code: int, reason: str) -> None:
        self.send(
            ("ERROR", {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code})
        )

    def end(self, how: Ending) -> None:
        self._script.put(End(self._script.now, self._number, how))


def _lines(events: Iterable[tuple[str, dict[str, Any]]]) -> bytes:
    return b"".join(json.dumps({"type": type_, "object": tree}).encode() + b"\n" for type_, tree in events)


def _without_kind(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tree.items() if name not in ("kind", "apiVersion")}
