"""Objects of a kind whose parts are all read are decoded at once, and behave like others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

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
    assert vars(item).keys() >= {"metadata", "spec", "status"}


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
    for _ in range(2200):
        assert Probe.from_wire(RAW).spec.node_name == "n1"
    item = Probe.from_wire(RAW)

    _ = item.spec

    assert vars(item).keys() == {"spec", "_parts"}


@pytest.mark.usefixtures("is_read_whole")
def test_objects_are_decoded_at_once_as_long_as_all_parts_of_those_that_are_counted_are_read() -> None:
    whole = 0
    for _ in range(2200):
        item = Probe.from_wire(RAW)
        _ = item.metadata, item.spec, item.status
        whole += "_parts" not in vars(item)

    assert 2100 < whole < 2150  # one of 32 is counted


@pytest.mark.usefixtures("is_read_whole")
def test_a_part_that_is_absent_or_null_has_an_empty_value() -> None:
    raw = b'{"metadata":{"name":"a"},"status":null}'
    item = Probe.from_wire(raw)

    assert item.metadata.name == "a"
    assert (item.spec, item.status) == (PodSpec(), PodStatus())
    assert item.spec is item.spec
    assert b'"spec"' not in item.to_json()


@pytest.mark.usefixtures("is_read_whole")
def test_the_metadata_that_was_decoded_with_another_part_is_the_one_that_is_read_and_changed() -> None:
    item = Probe.from_wire(RAW)
    assert item.spec.node_name == "n1"

    item.metadata.labels["app"] = "api"

    assert item.labels == {"app": "api"}
    assert item.to_json() == RAW.replace(b'"web"', b'"api"')


@pytest.mark.usefixtures("is_read_whole")
def test_concurrent_first_accesses_return_the_same_values() -> None:
    for _ in range(20):
        item = Probe.from_wire(RAW)
        together = Barrier(4)

        def read(item: Probe = item, together: Barrier = together) -> tuple[object, ...]:
            together.wait()
            return item.status, item.spec, item.metadata

        with ThreadPoolExecutor(4) as threads:
            found = [each.result() for each in [threads.submit(read) for _ in range(4)]]

        assert len({tuple(map(id, each)) for each in found}) == 1


@pytest.mark.parametrize("accesses_before", [0, 1])
@pytest.mark.usefixtures("is_read_whole")
def test_objects_are_counted_although_other_accesses_alternate_with_them(accesses_before: int) -> None:
    for _ in range(accesses_before):
        assert Probe.from_wire(RAW).part("status") is not None

    for _ in range(64 * 33):
        item = Probe.from_wire(RAW)
        assert item.spec.node_name == "n1"
        assert item.part("status") is not None

    assert Probe._accesses.decode_all is None  # only one part of most objects is decoded
