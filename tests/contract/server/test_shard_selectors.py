"""`shardSelector` of lists and watches; real servers need the feature gate ShardedListAndWatch."""

import pytest
from tests.contract.server.api import API

from listwatch.api.shard_selector import fnv1a64

HALF = "0x8000000000000000"
LOWER = f"shardRange(object.metadata.uid, '0x0000000000000000', '{HALF}')"
UPPER = f"shardRange(object.metadata.uid, '{HALF}', '0x10000000000000000')"


@pytest.fixture
def uids(api: API) -> dict[str, str]:
    """The uids of some ConfigMaps by name; some of both halves."""
    created: dict[str, str] = {}
    while len({fnv1a64(uid) >> 63 for uid in created.values()}) < 2 or len(created) < 6:
        name = f"map-{len(created)}"
        created[name] = api.create("configmaps", name)["metadata"]["uid"]
    return created


def selected(uids: dict[str, str], half: int) -> set[str]:
    return {name for name, uid in uids.items() if fnv1a64(uid) >> 63 == half}


def test_a_list_has_the_selected_objects_and_confirms_the_selector(api: API, uids: dict[str, str]):
    path = api.path("configmaps")
    for half, selector in enumerate((LOWER, UPPER)):
        listed = api.get(path, shardSelector=selector).ok()
        assert {item["metadata"]["name"] for item in listed["items"]} == selected(uids, half)
        assert listed["metadata"]["shardInfo"] == {"selector": selector}


def test_the_confirmed_selector_is_canonical(api: API, uids: dict[str, str]):
    loose = f"shardRange( object.metadata.uid,'0x0000000000000000',\"{HALF}\")||{UPPER}"
    listed = api.get(api.path("configmaps"), shardSelector=loose).ok()
    assert listed["metadata"]["shardInfo"] == {"selector": f"{LOWER} || {UPPER}"}
    assert {item["metadata"]["name"] for item in listed["items"]} == set(uids)


def test_an_empty_selector_selects_everything(api: API, uids: dict[str, str]):
    listed = api.get(api.path("configmaps"), shardSelector="").ok()
    assert {item["metadata"]["name"] for item in listed["items"]} == set(uids)
    assert "shardInfo" not in listed["metadata"]


def test_namespaces_are_selected_by_their_own_hash(api: API, uids: dict[str, str]):
    half = fnv1a64(api.namespace) >> 63
    for number, selector in enumerate((LOWER, UPPER)):
        listed = api.get(api.path("configmaps"), shardSelector=selector.replace("uid", "namespace")).ok()
        assert {item["metadata"]["name"] for item in listed["items"]} == (set(uids) if number == half else set())


def test_pages_count_the_objects_of_all_shards(api: API, uids: dict[str, str]):
    both = f"{LOWER} || {UPPER}"
    page = api.get(api.path("configmaps"), shardSelector=both, limit=1).ok()
    assert page["metadata"]["remainingItemCount"] == len(uids) - 1
    assert page["metadata"]["shardInfo"]
    rest = api.get(
        api.path("configmaps"),
        shardSelector=f"{LOWER} || {UPPER}",
        limit=100,
        **{"continue": page["metadata"]["continue"]},
    ).ok()
    assert len(page["items"]) + len(rest["items"]) == len(uids)


def test_a_list_of_metadata_is_filtered_without_confirmation(api: API, uids: dict[str, str]):
    accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    listed = api.get(api.path("configmaps"), shardSelector=LOWER, headers=accept).ok()
    assert {item["metadata"]["name"] for item in listed["items"] or []} == selected(uids, 0)
    assert "shardInfo" not in listed["metadata"]


def test_a_watch_has_the_events_of_the_selected_objects(api: API, uids: dict[str, str]):
    version = api.get(api.path("configmaps")).ok()["metadata"]["resourceVersion"]
    chosen = sorted(selected(uids, 1))
    with api.watch(api.path("configmaps"), shardSelector=UPPER, resourceVersion=version) as watch:
        for name in uids:
            api.patch(api.path("configmaps", name), {"data": {"a": "b"}}).ok()
        assert sorted(watch.take(len(chosen))) == [("MODIFIED", name) for name in chosen]


def test_a_collection_is_deleted_by_shards(api: API, uids: dict[str, str]):
    api.delete(api.path("configmaps"), shardSelector=LOWER).ok()
    assert set(api.names(api.path("configmaps"))) == selected(uids, 1)


@pytest.mark.parametrize(
    "selector",
    [
        "nonsense",
        " ",
        "shardRange(object.metadata.uid, '0x0', '0x8')",
        LOWER.replace("uid", "name"),
        f"{LOWER} && {UPPER}",
        f"{LOWER} || {UPPER.replace('uid', 'namespace')}",
        LOWER.replace(HALF, "0x0000000000000000"),
        LOWER.replace("0x8", "0xA"),
    ],
)
@pytest.mark.parametrize("watch", [{}, {"watch": "true", "timeoutSeconds": 1}], ids=["list", "watch"])
def test_a_malformed_selector_is_an_internal_error(api: API, selector: str, watch: dict[str, object]):
    status = api.get(api.path("configmaps"), shardSelector=selector, **watch).failed(500, "")
    assert status["message"].startswith("invalid shard selector: ")
