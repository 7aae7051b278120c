"""The objects of the replay server resemble those of a real cluster and are the same in every run."""

import json
import random
import zlib

import pytest
from bench.replay.managed_fields import entry, fields_of
from bench.replay.pods import pods
from bench.replay.resources import RESOURCES


def size_of(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def test_pods_have_four_kilobytes_on_average_and_sixty_at_most():
    sizes = [size_of(each) for each in pods(2_000)]
    assert 4_000 < sum(sizes) / len(sizes) < 4_700
    assert min(sizes) < 3_000
    assert 30_000 < max(sizes) < 62_000


@pytest.mark.parametrize("resource", ["configmaps", "secrets", "widgets"])
def test_other_objects_have_half_a_kilobyte_to_sixty(resource):
    rng = random.Random(1)
    sizes = [size_of(RESOURCES[resource].make(index, rng)) for index in range(2_000)]
    assert 500 < min(sizes) < 1_100
    assert 45_000 < max(sizes) < 65_000


def test_random_pods_have_one_kilobyte_to_sixty_and_compress_badly():
    rng = random.Random(1)
    found = [json.dumps(RESOURCES["random-pods"].make(index, rng), separators=(",", ":")) for index in range(1_000)]
    assert 1_000 < min(map(len, found)) < 1_600
    assert 50_000 < max(map(len, found)) < 66_000
    assert 13_000 < sum(map(len, found)) / len(found) < 17_000
    assert len(zlib.compress("".join(found).encode())) > 0.55 * sum(map(len, found))


@pytest.mark.parametrize("resource", RESOURCES)
def test_objects_are_the_same_in_every_run_and_all_different(resource):
    first, again = ([RESOURCES[resource].make(index, rng) for index in range(50)] for rng in map(random.Random, (1, 1)))
    assert first == again
    assert len({json.dumps(each) for each in first}) == 50


def test_managed_fields_name_the_fields_that_each_manager_wrote():
    pod = next(each for each in pods(50) if each["status"]["phase"] == "Running")
    controller, kubelet = pod["metadata"]["managedFields"]
    (owner,), (container, *_) = pod["metadata"]["ownerReferences"], pod["spec"]["containers"]
    written = controller["fieldsV1"]
    assert f'k:{{"uid":"{owner["uid"]}"}}' in written["f:metadata"]["f:ownerReferences"]
    assert "f:image" in written["f:spec"]["f:containers"][f'k:{{"name":"{container["name"]}"}}']
    assert "f:nodeName" not in written["f:spec"]
    assert kubelet["subresource"] == "status"
    assert f'k:{{"ip":"{pod["status"]["podIP"]}"}}' in kubelet["fieldsV1"]["f:status"]["f:podIPs"]


def test_items_of_a_keyed_list_are_managed_one_by_one_and_other_lists_are_atomic():
    written = {"conditions": [{"type": "Ready", "status": "True"}], "hostIPs": [{"ip": "10.0.0.1"}]}
    condition = {".": {}, "f:status": {}, "f:type": {}}
    assert fields_of(written, "status") == {
        "f:conditions": {'k:{"type":"Ready"}': condition},
        "f:hostIPs": {},
    }


def test_an_optional_object_field_has_an_entry_for_itself():
    assert fields_of({"labels": {"app": "web"}}, "metadata") == {"f:labels": {".": {}, "f:app": {}}}


def test_an_entry_names_its_subresource_only_if_there_is_one():
    assert "subresource" not in entry("helm", {})
    assert entry("kubelet", {}, subresource="status")["subresource"] == "status"
