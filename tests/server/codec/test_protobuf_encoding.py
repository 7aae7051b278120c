"""Stored objects as protobuf: each state is encoded once."""

import msgspec

from listwatch.meta import ObjectKey
from listwatch.protobuf import decode_object, decode_watch_event, encode_message, encode_object
from listwatch.server.codec.protobuf_encoding import protobuf_event, protobuf_list, protobuf_object
from listwatch.server.storage.values import Stored

METADATA = {"resourceVersion": "9"}


def state(number: int) -> Stored:
    tree = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"a-{number}"}, "data": {"n": str(number)}}
    return Stored(ObjectKey("default", f"a-{number}"), msgspec.json.encode(tree), number)


def encoded(stored: Stored) -> bytes:
    """The encoding that the state has; fails if it has none."""

    def fail(_value: bytes) -> bytes:
        raise AssertionError("it is not encoded yet")

    return stored.encoded(fail)


def listed(states: list[Stored]) -> tuple[bytes, int]:
    """The list, and the number of its steps."""
    work = protobuf_list("v1", "ConfigMapList", "ConfigMap", METADATA, [each.value for each in states], states)
    steps = 0
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value, steps
        steps += 1


def test_a_list_encodes_each_state_once():
    states = [state(number) for number in range(3)]
    first, _ = listed(states)
    assert [encoded(each) for each in states] == [
        encode_message(msgspec.json.decode(each.value), "v1", "ConfigMap") for each in states
    ]
    assert listed(states)[0] == first
    assert [item["data"]["n"] for item in decode_object(first)["items"]] == ["0", "1", "2"]


def test_a_response_and_an_event_use_the_encoding_of_a_list():
    stored = state(1)
    listed([stored])
    whole = encode_object(msgspec.json.decode(stored.value))
    # Another message in its place shows that nothing is encoded again.
    marked = Stored(stored.key, stored.value, 1)
    marked.encoded(lambda _value: b"\x1a\x04\x0a\x00\x12\x00")
    assert protobuf_object(stored.value, stored) == whole != protobuf_object(marked.value, marked)
    event = protobuf_event("ADDED", marked.value, marked)
    assert decode_watch_event(event[4:]) == ("ADDED", protobuf_object(marked.value, marked))


def test_other_bytes_than_those_of_the_state_are_encoded():
    stored, other = state(1), state(2)
    listed([stored])
    assert decode_object(protobuf_object(other.value, stored))["data"] == {"n": "2"}
    _, found = decode_watch_event(protobuf_event("ADDED", other.value, stored)[4:])
    assert decode_object(found)["data"] == {"n": "2"}


def test_a_long_list_is_encoded_in_steps():
    assert listed([state(number) for number in range(100)])[1] > 3
