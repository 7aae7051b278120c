"""The state of a resource whose recording has several scopes, streams that overtake each other, and gaps."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.server.replay.script import STREAMED, Script, config_map

from listwatch.server import Storage
from listwatch.server.replay.playback import Playback
from listwatch.server.replay.timeline import NoEffects, Timeline


def played(script: Script, folder: Path) -> Storage:
    """Return the storage of config maps after all records."""
    script_file = script.save(folder)
    playback = Playback(script_file)
    [resource] = playback._load()
    timeline = Timeline({resource.resource.gvr: resource}, NoEffects())
    for entry in playback._entries():
        timeline.apply(entry)
    return resource.storage


def contents(storage: Storage) -> dict[str, str]:
    return {str(each.key): json.loads(each.value)["data"]["at"] for each in storage.scan("/configmaps")}


def test_an_object_exists_as_long_as_one_scope_contains_it(tmp_path: Path):
    script = Script()
    script.list(10, config_map("a", 4, app="web"), config_map("b", 5))
    script.list(10, config_map("a", 4, app="web"), query={"labelSelector": "app=web"})
    all_objects = script.watch({"resourceVersion": "10"})
    selected = script.watch({"resourceVersion": "10", "labelSelector": "app=web"})
    selected.send(("DELETED", config_map("a", 11, app="web")))  # its label has changed
    all_objects.send(("MODIFIED", config_map("a", 11)))
    assert contents(played(script, tmp_path)) == {"default/a": "11", "default/b": "5"}


def test_the_lists_of_several_namespaces_are_one_initial_state(tmp_path: Path):
    script = Script()
    script.list(10, config_map("a", 4, namespace="one"), namespace="one")
    script.list(12, config_map("a", 5, namespace="two"), namespace="two")
    storage = played(script, tmp_path)
    assert contents(storage) == {"one/a": "4", "two/a": "5"}
    assert (storage.revision, storage.compacted_revision) == (12, 12)


def test_an_event_that_arrives_after_a_newer_one_of_another_scope_gets_the_next_revision(tmp_path: Path):
    script = Script()
    script.list(10, namespace="one")
    script.list(10, namespace="two")
    one = script.watch({"resourceVersion": "10"}, namespace="one")
    two = script.watch({"resourceVersion": "10"}, namespace="two")
    one.send(("ADDED", config_map("a", 20, namespace="one")))
    two.send(("ADDED", config_map("b", 15, namespace="two")))
    one.send(("MODIFIED", config_map("a", 30, namespace="one")))
    storage = played(script, tmp_path)
    assert [(each.key.name, each.revision) for each in storage.events(after=10)] == [("a", 20), ("b", 21), ("a", 30)]
    assert contents(storage) == {"one/a": "30", "two/b": "15"}  # with the recorded versions


def test_a_second_watch_of_a_scope_repeats_nothing(tmp_path: Path):
    script = Script()
    script.list(10, config_map("a", 4))
    first, second = (script.watch({"resourceVersion": "10"}) for _ in range(2))
    first.send(("MODIFIED", config_map("a", 11)), ("DELETED", config_map("a", 12)))
    second.send(("MODIFIED", config_map("a", 11)))
    assert contents(played(script, tmp_path)) == {}


def test_a_list_that_is_older_than_the_watch_changes_nothing(tmp_path: Path):
    script = Script()
    script.list(10, config_map("a", 4))
    script.watch({"resourceVersion": "10"}).send(("DELETED", config_map("a", 12)))
    script.list(11, config_map("a", 4))
    assert contents(played(script, tmp_path)) == {}


def test_initial_events_count_when_they_are_complete(tmp_path: Path):
    script = Script()
    stream = script.watch(STREAMED)
    stream.send(("ADDED", config_map("a", 4)))
    stream.end("lost")
    stream = script.watch(STREAMED)
    stream.send(("ADDED", config_map("b", 5)))
    stream.bookmark(10, ends_initial_events=True)
    stream.send(("ADDED", config_map("c", 11)))
    assert contents(played(script, tmp_path)) == {"default/b": "5", "default/c": "11"}


def test_a_watch_without_a_version_starts_with_the_objects_that_it_sends(tmp_path: Path):
    script = Script()
    stream = script.watch({})
    stream.send(("ADDED", config_map("b", 8)), ("ADDED", config_map("a", 4)))
    stream.send(("ADDED", config_map("c", 6)))
    stream.send(("DELETED", config_map("a", 12)), ("MODIFIED", config_map("c", 13)))
    assert contents(played(script, tmp_path)) == {"default/b": "8", "default/c": "13"}


def test_pages_are_one_list_and_an_unfinished_list_is_none(tmp_path: Path):
    script = Script()
    script.list(10, config_map("a", 4), query={"limit": "1"}, more="next")
    script.list(10, config_map("b", 5), query={"limit": "1", "continue": "next"})
    script.list(20, config_map("a", 4), query={"limit": "1"}, more="next")
    assert contents(played(script, tmp_path)) == {"default/a": "4", "default/b": "5"}


def test_single_objects_are_the_state_if_nothing_else_was_recorded(tmp_path: Path):
    script = Script()
    script.get("a", config_map("a", 4))
    script.get("b", config_map("b", 5))
    script.get("a", None)
    assert contents(played(script, tmp_path)) == {"default/b": "5"}


def test_events_that_cannot_be_decoded_hide_no_others(tmp_path: Path):
    script = Script()
    script.list(10)
    stream = script.watch({"resourceVersion": "10"})
    stream.send_bytes(b'{"type":"ADDED","object":{"metadata":{}}}\nnonsense\n')
    stream.send(("ADDED", config_map("a", 11)))
    assert contents(played(script, tmp_path)) == {"default/a": "11"}


Step = tuple[str, str]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["change", "delete", "cut", "relist"]))))
def test_the_state_is_that_of_the_cluster_when_the_watch_resumes_or_lists_again(
    tmp_path_factory: Any, steps: list[Step]
):
    script, cluster, version = Script(), {}, 10
    script.list(version)
    stream = script.watch({"resourceVersion": str(version)})
    is_open, missed = True, []
    for name, step in steps:
        if step == "cut":
            stream.end("lost")
            is_open = False
        elif step == "relist":
            script.list(version, *cluster.values())
            stream, is_open, missed = script.watch({"resourceVersion": str(version)}), True, []
        else:
            version += 1
            type_ = "DELETED" if step == "delete" else "MODIFIED" if name in cluster else "ADDED"
            if step == "delete" and name not in cluster:
                continue
            event = type_, config_map(name, version)
            cluster = (
                {**cluster, name: event[1]} if step == "change" else {k: v for k, v in cluster.items() if k != name}
            )
            if is_open:
                stream.send(event)
            else:
                missed.append(event)
    if not is_open:
        script.watch({"resourceVersion": "10"}).send(*missed) if missed else None
    storage = played(script, tmp_path_factory.mktemp("recording"))
    assert contents(storage) == {f"default/{name}": each["data"]["at"] for name, each in cluster.items()}
    revisions = [each.revision for each in storage.events(after=storage.compacted_revision)]
    assert revisions == sorted(revisions)
