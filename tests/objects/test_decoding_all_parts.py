"""Objects of a kind whose parts are all read are decoded at once, and behave like others."""

from __future__ import annotations

import pytest

from listwatch.errors import DecodeError
from listwatch.models.core_v1 import PodSpec, PodStatus
from listwatch.objects.fields import Accesses
from listwatch.objects.object import Object, lazy

RAW = (
    b'{"kind":"Probe","apiVersion":"v1","metadata":{"name":"a","labels":{"app":"web"}},'
    b'"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","unknown":1}]},"status":{"phase":"Running"}}'
)


class Probe(Object):
    """A kind of its own, because a kind remembers how its objects are read."""

    spec: PodSpec = lazy(PodSpec)
    status: PodStatus = lazy(PodStatus)


@pytest.fixture
def is_read_whole() -> None:
    Probe._accesses = Accesses()
    for _ in range(70):
        item = Probe.from_wire(RAW)
        _ = item.metadata, item.spec, item.status
    item = Probe.from_wire(RAW)
    _ = item.metadata
    assert item._parts.are_values


@pytest.mark.usefixtures("is_read_whole")
def test_all_parts_have_their_values_and_are_sent_as_they_were_received() -> None:
    item = Probe.from_wire(RAW)

    assert (item.spec.node_name, item.status.phase, item.metadata.labels) == ("n1", "Running", {"app": "web"})
    assert item.spec is item.spec
    assert item.to_json() == RAW
    item.spec.node_name = "n2"
    assert item.to_json() == RAW.replace(b'"n1"', b'"n2"')


@pytest.mark.usefixtures("is_read_whole")
def test_a_copy_does_not_share_parts_that_were_decoded_and_not_read() -> None:
    item = Probe.from_wire(RAW)
    assert item.metadata.name == "a"

    duplicate = item.copy()
    duplicate.spec.node_name = "n2"

    assert item.spec.node_name == "n1"
    assert duplicate.status.phase == "Running"


@pytest.mark.usefixtures("is_read_whole")
def test_a_damaged_part_does_not_hide_the_others() -> None:
    item = Probe.from_wire(RAW.replace(b'{"phase":"Running"}', b'{"phase":7}'))

    assert item.spec.node_name == "n1"
    with pytest.raises(DecodeError, match="phase"):
        _ = item.status
    assert Probe.from_wire(RAW).status.phase == "Running"


@pytest.mark.usefixtures("is_read_whole")
def test_objects_of_which_one_part_is_read_are_decoded_in_parts_again() -> None:
    for _ in range(140):
        assert Probe.from_wire(RAW).spec.node_name == "n1"
    item = Probe.from_wire(RAW)

    _ = item.spec

    assert not item._parts.are_values
