import copy
import dataclasses
import pickle

import msgspec
import pytest

from listwatch.keyed import Keyed, describe, namespace_in, set_key


class Service(Keyed, msgspec.Struct):
    address: str
    region: str = "eu"


class FrozenService(Keyed, msgspec.Struct, frozen=True, gc=False):
    address: str
    region: str = "eu"


@dataclasses.dataclass
class Host(Keyed):
    address: str
    region: str = "eu"


@dataclasses.dataclass(frozen=True)
class FrozenHost(Keyed):
    address: str
    region: str = "eu"


@dataclasses.dataclass(frozen=True, slots=True)
class SlottedHost(Keyed):
    address: str
    region: str = "eu"


KINDS = [Service, FrozenService, Host, FrozenHost, SlottedHost]


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_has_no_key_until_a_source_sets_it(kind):
    item = kind("10.0.0.1")
    assert (item.cache_key, item.resource_version) == ("", "")
    set_key(item, "web/1", "7")
    assert (item.cache_key, item.resource_version) == ("web/1", "7")


@pytest.mark.parametrize("kind", KINDS)
def test_key_and_version_are_neither_encoded_nor_compared(kind):
    item = msgspec.json.decode(b'{"address":"10.0.0.1"}', type=kind)
    set_key(item, "web/1", "7")
    assert item == kind("10.0.0.1")
    assert msgspec.json.decode(msgspec.json.encode(item)) == {"address": "10.0.0.1", "region": "eu"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_can_be_copied_and_pickled(kind):
    item = kind("10.0.0.1")
    set_key(item, "web/1", "7")
    assert copy.deepcopy(item) == copy.copy(item) == pickle.loads(pickle.dumps(item)) == item


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_attribute_is_an_error(kind):
    with pytest.raises(AttributeError, match="no attribute 'addres'"):
        _ = kind("10.0.0.1").addres


def test_a_description_names_the_class_and_the_key():
    item = Service("10.0.0.1")
    assert describe(item) == "Service without a key"
    set_key(item, "web/1", "7")
    assert describe(item) == "Service web/1"


@pytest.mark.parametrize(("key", "namespace"), [("a", ""), ("a/b", "a"), ("a/b/c", "a/b")])
def test_the_namespace_is_what_precedes_the_last_slash(key, namespace):
    assert namespace_in(key) == namespace
