"""How keys and values of etcd become objects."""

import dataclasses

import msgspec
import pytest

from listwatch.cache import Keyed
from listwatch.errors import BadKeyError, DecodeError, EncodeError, UsageError
from listwatch.sources.etcd import KeyValue
from listwatch.sources.etcd.entries import EntryMapping
from listwatch.sources.etcd.messages import KeyValueMessage, compare, decode, prefix_end


@dataclasses.dataclass(frozen=True)
class Host(Keyed):
    address: str


@dataclasses.dataclass
class Plain:
    address: str


def mapping(kind=None, decode=None, key=None) -> EntryMapping:
    return EntryMapping("/services/", kind, decode, key)


def entry(value: bytes, lease: str = "0") -> KeyValueMessage:
    return KeyValueMessage(b"/services/web/1", value, "7", "3", lease)


@pytest.mark.parametrize(
    ("name", "key"),
    [("a", "a"), ("a/b", "a/b"), ("", None), ("a/", None), ("/a", None), ("a/b/c", None), ("a//b", None), ("ä", "ä")],
)
def test_names_and_namespaced_names_are_keys_and_nothing_else(name, key):
    assert mapping().cache_key(f"/services/{name}".encode()) == key


def test_a_function_maps_keys():
    by_function = mapping(key=lambda name: None if name.startswith("_") else name.replace("/", "."))
    assert by_function.cache_key(b"/services/a/b/c") == "a.b.c"
    assert by_function.cache_key(b"/services/_a") is None
    assert by_function.outside(b"/services/_a") is None, "it is skipped on purpose"


def test_a_class_with_a_key_is_delivered_itself():
    item = mapping(Host).object_of("web/1", entry(b'{"address":"x"}'), "9")
    assert item == Host("x")
    assert (item.cache_key, item.resource_version) == ("web/1", "9")


@pytest.mark.parametrize(
    ("kind", "decode", "value", "found"),
    [
        (None, None, b"\xff\0", b"\xff\0"),
        (dict, None, b'{"a":1}', {"a": 1}),
        (Plain, None, b'{"address":"x"}', Plain("x")),
        (int, lambda value: int(value.decode()), b"7", 7),
    ],
)
def test_every_other_value_is_delivered_with_its_key(kind, decode, value, found):
    item = mapping(kind, decode).object_of("web/1", entry(value, lease="5"), "9")
    assert item == KeyValue("web/1", found, "9", "3", "5")


@pytest.mark.parametrize(("kind", "value"), [(Host, b"{}"), (dict, b"[]"), (dict, b""), (dict, b"[" * 10_000)])
def test_a_value_of_another_form_is_a_decode_error_that_names_the_key(kind, value):
    with pytest.raises(DecodeError, match=f"etcd key /services/web/1: the value is not a {kind.__name__}"):
        mapping(kind).object_of("web/1", entry(value), "9")


def test_any_exception_of_a_decoder_is_a_decode_error():
    with pytest.raises(DecodeError, match="etcd key /services/web/1"):
        mapping(int, lambda value: 1 // 0).object_of("web/1", entry(b"7"), "9")


def test_values_are_encoded_as_they_are_decoded():
    assert mapping(Host).encoded(Host("x")) == b'{"address":"x"}'
    assert mapping().encoded(b"\xff") == b"\xff"
    assert mapping(dict).encoded(KeyValue("a", {"a": 1}, "1", "1")) == b'{"a":1}'
    with pytest.raises(EncodeError, match="object: cannot be encoded"):
        mapping().encoded(object())


@pytest.mark.parametrize("key", ["", "a/b/c", "/a", "a/"])
def test_an_invalid_key_cannot_be_written(key):
    with pytest.raises(BadKeyError, match="is not a valid key"):
        mapping().etcd_key(key)


@pytest.mark.parametrize(
    ("prefix", "message"),
    [("", "expected a prefix"), ("/services", r"end it with a slash: '/services/'")],
)
def test_a_prefix_that_selects_other_keys_is_rejected(prefix, message):
    with pytest.raises(UsageError, match=message):
        EntryMapping(prefix, None, None, None)


def test_a_class_that_cannot_be_decoded_needs_a_function():
    with pytest.raises(UsageError, match="pass decode="):
        mapping(type(lambda: None))


@pytest.mark.parametrize(
    ("prefix", "end"),
    [(b"/r/a/", b"/r/a0"), (b"a\xff", b"b"), (b"a\xff\xff", b"b"), (b"\xff", b"\0"), (b"", b"\0")],
)
def test_the_end_of_a_prefix_follows_all_its_keys(prefix, end):
    assert prefix_end(prefix) == end


def test_a_comparison_names_its_target():
    assert compare(b"a", "CREATE", 0) == {"key": "YQ==", "target": "CREATE", "result": "EQUAL", "create_revision": "0"}


def test_structs_of_messages_have_defaults_for_everything_that_the_gateway_leaves_out():
    from listwatch.sources.etcd import messages

    for kind in messages._decoders:
        assert decode(b"{}", kind) == msgspec.json.decode(b"{}", type=kind)


@pytest.mark.parametrize(
    ("size", "count", "limit"),
    [(10, 50, 200), (10, 200, 800), (10, 9000, 10_000), (10**6, 50, 4), (10**7, 50, 1)],
)
def test_pages_grow_up_to_a_size_in_bytes(size: int, count: int, limit: int):
    from listwatch.sources.etcd.list_watch import _next_limit

    assert _next_limit([KeyValueMessage(b"k", b"x" * size)] * count) == limit
