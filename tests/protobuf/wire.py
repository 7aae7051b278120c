"""Protobuf by hand: fields, and messages with fields that no schema has."""

from typing import Any

from listwatch.json_value import JSONObject
from listwatch.protobuf.envelope import envelope
from listwatch.protobuf.messages import message
from listwatch.protobuf.wire_format import varint

UNKNOWN = b"\xc2\x3e\x05stay!"
"""Field 1000 with a text."""


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def encoded(name: str, tree: JSONObject) -> bytes:
    codec: Any = message(name)
    result: bytes = codec.encode(tree)
    return result


METADATA: JSONObject = {
    "name": "web-0",
    "namespace": "default",
    "uid": "612e7696-a6ce-4c1b-b8e5-10617311d8a3",
    "resourceVersion": "1000",
    "creationTimestamp": "2026-01-02T03:04:05Z",
    "labels": {"app": "web", "tier": "front"},
}


def pod_with_unknown_fields() -> bytes:
    """A pod with unknown fields in the pod itself, its metadata, its spec, a container, and an inlined struct."""
    mount = encoded("core_v1.VolumeMount", {"name": "tmp", "mountPath": "/tmp"})
    container = encoded("core_v1.Container", {"name": "main", "image": "a:1"}) + field(9, mount + UNKNOWN) + UNKNOWN
    source = encoded("core_v1.VolumeSource", {"emptyDir": {}}) + UNKNOWN
    volume = field(1, b"tmp") + field(2, source) + UNKNOWN
    spec = encoded("core_v1.PodSpec", {"nodeName": "n1", "containers": []}) + field(1, volume) + field(2, container)
    metadata = encoded("meta_v1.ObjectMeta", METADATA)
    content = field(1, metadata + UNKNOWN) + field(2, spec + UNKNOWN) + field(3, b"") + UNKNOWN
    return envelope("v1", "Pod", content)
