import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.cache.pods import added, deleted, lost, names, pod, updated

from listwatch.cache.deltas import AddedDelta, DeletedDelta, ReplacedDelta, SyncDelta, UpdatedDelta
from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE, key_of, namespace_of
from listwatch.errors import BadKeyError, IndexConflictError, IndexFunctionError, IndexNotFoundError, UsageError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Node, Pod


def by_users(item):
    """Return the users of a pod from its label `users`, such as `ernie_bert`."""
    return item.labels["users"].split("_") if "users" in item.labels else []


def used_by(name, users, version=1):
    return pod(name, version, labels={"users": users})


def found_by(indexer, name):
    """Return the keys of an index by value."""
    return {value: indexer.index_keys(name, value) for value in sorted(indexer.index_values(name))}


# --- The store --------------------------------------------------------------------------------------------------------


def test_an_object_is_found_under_its_key_until_it_is_deleted():
    indexer = Indexer()
    first, second = pod("web-0", 1), pod("web-0", 2)

    indexer.add(first)
    assert indexer.get("default/web-0") is first
    indexer.update(second)
    assert indexer.get("default/web-0") is second
    indexer.delete(pod("web-0", 3))

    assert indexer.get("default/web-0") is None
    assert (len(indexer), indexer.list(), indexer.keys()) == (0, [], [])


def test_a_key_can_be_given_as_text_or_as_its_two_parts():
    indexer = Indexer()
    indexer.add(pod("web-0"))

    assert indexer.get(ObjectKey("default", "web-0")) is indexer.get("default/web-0") is not None
    assert ObjectKey("default", "web-0") in indexer
    assert "default/web-1" not in indexer


def test_a_cluster_scoped_object_is_found_under_its_name():
    indexer = Indexer()
    indexer.add(Node.from_dict({"metadata": {"name": "n1"}}))

    assert indexer.keys() == ["n1"]


def test_an_update_of_an_unknown_object_adds_it_and_a_delete_does_nothing():
    indexer = Indexer()
    indexer.delete(pod("web-0"))
    indexer.discard("default/web-0")
    indexer.update(pod("web-1"))

    assert indexer.keys() == ["default/web-1"]


def test_a_list_is_a_copy_that_later_changes_do_not_reach():
    indexer = Indexer()
    indexer.add(pod("web-0"))
    before, walk = indexer.list(), iter(indexer)
    indexer.add(pod("web-1"))

    assert names(before) == names(walk) == ["web-0"]
    assert names(indexer) == ["web-0", "web-1"]


def test_an_object_without_a_name_is_rejected():
    indexer = Indexer()

    with pytest.raises(BadKeyError, match=r"<Pod without a name @1> has no metadata\.name"):
        indexer.add(pod(""))
    assert indexer.list() == []


def test_the_repr_of_an_indexer_shows_size_version_and_indexes():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    indexer.add(pod("web-0", 7))

    assert repr(indexer) == "<Indexer of 1 @7, indexes ['namespace']>"


# --- Indexes ----------------------------------------------------------------------------------------------------------


def test_an_index_of_many_values_stays_exact_through_every_change():
    indexer = Indexer(indexers={"user": by_users})

    def after(change, item):
        change(item)
        return {
            value: [key.removeprefix("default/") for key in keys] for value, keys in found_by(indexer, "user").items()
        }

    add, update, delete = indexer.add, indexer.update, indexer.delete
    assert after(add, used_by("1", "foo")) == {"foo": ["1"]}
    assert after(add, used_by("2", "bar")) == {"bar": ["2"], "foo": ["1"]}
    assert after(update, used_by("2", "foo_bar")) == {"bar": ["2"], "foo": ["1", "2"]}
    assert after(update, used_by("1", "foo_bar")) == {"bar": ["1", "2"], "foo": ["1", "2"]}
    assert after(add, used_by("3", "foo_bar_baz")) == {"bar": ["1", "2", "3"], "baz": ["3"], "foo": ["1", "2", "3"]}
    assert after(update, used_by("1", "foo")) == {"bar": ["2", "3"], "baz": ["3"], "foo": ["1", "2", "3"]}
    assert after(update, used_by("2", "bar")) == {"bar": ["2", "3"], "baz": ["3"], "foo": ["1", "3"]}
    assert after(delete, used_by("1", "foo")) == {"bar": ["2", "3"], "baz": ["3"], "foo": ["3"]}
    assert after(delete, used_by("3", "foo")) == {"bar": ["2"]}


def test_a_value_without_objects_is_removed():
    indexer = Indexer(indexers={"user": by_users})
    indexer.add(used_by("retain", "bert"))
    for number in range(100):
        indexer.add(used_by("short-lived", f"user{number}"))
    assert sorted(indexer.index_values("user")) == ["bert", "user99"]
    indexer.delete(used_by("short-lived", ""))

    assert found_by(indexer, "user") == {"bert": ["default/retain"]}


def test_a_value_stays_while_another_object_has_it():
    indexer = Indexer(indexers={"user": by_users})
    indexer.add(used_by("retain", "bert"))
    indexer.add(used_by("delete", "bert"))
    indexer.discard("default/delete")

    assert found_by(indexer, "user") == {"bert": ["default/retain"]}


def test_objects_are_found_under_each_of_their_values():
    indexer = Indexer(indexers={"user": by_users})
    for item in (used_by("one", "ernie_bert"), used_by("two", "bert_oscar"), used_by("tre", "ernie_elmo"), pod("none")):
        indexer.add(item)

    assert names(indexer.by_index("user", "ernie")) == ["one", "tre"]
    assert names(indexer.by_index("user", "bert")) == ["one", "two"]
    assert names(indexer.by_index("user", "elmo")) == ["tre"]
    assert names(indexer.by_index("user", "elmo1")) == indexer.index_keys("user", "elmo1") == []
    assert sorted(indexer.index_values("user")) == ["bert", "elmo", "ernie", "oscar"]


def test_an_index_returns_the_current_state():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    indexer.add(pod("web-0", 1))
    newer = pod("web-0", 2)
    indexer.update(newer)

    assert indexer.by_index(NAMESPACE, "default") == [newer]
    assert indexer.by_index(NAMESPACE, "default")[0] is newer


def test_keys_of_an_index_are_sorted():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    for name in ("c", "a", "b"):
        indexer.add(pod(name))

    assert indexer.index_keys(NAMESPACE, "default") == ["default/a", "default/b", "default/c"]


def test_an_object_is_found_once_under_a_value_that_it_has_twice():
    indexer = Indexer(indexers={"user": by_users})
    indexer.add(used_by("one", "bert_bert"))
    assert names(indexer.by_index("user", "bert")) == ["one"]
    indexer.update(used_by("one", "ernie"))

    assert found_by(indexer, "user") == {"ernie": ["default/one"]}


def test_several_indexes_return_the_objects_under_all_values():
    indexer = Indexer(indexers={NAMESPACE: namespace_of, "user": by_users})
    for number in range(10):
        indexer.add(used_by(f"bert-{number}", "bert_elmo"))
    indexer.add(used_by("one", "ernie_bert"))
    indexer.add(pod("two", namespace="other", labels={"users": "ernie"}))

    assert names(indexer.by_indexes(namespace="default", user="ernie")) == ["one"]
    assert names(indexer.by_indexes(user="ernie")) == ["one", "two"]
    assert indexer.by_indexes(namespace="other", user="elmo") == []
    assert len(indexer.by_indexes()) == 12
    with pytest.raises(IndexNotFoundError):
        indexer.by_indexes(namespace="default", node="n1")


@pytest.mark.parametrize(
    "read",
    [
        lambda indexer: indexer.by_index("node", "n1"),
        lambda indexer: indexer.index_keys("node", "n1"),
        lambda indexer: indexer.index_values("node"),
    ],
)
def test_an_unknown_index_is_an_error_that_names_the_known_ones(read):
    with pytest.raises(IndexNotFoundError, match="there is no index 'node'; existing indexes: namespace"):
        read(Indexer(indexers={NAMESPACE: namespace_of}))


def test_an_index_that_is_added_later_contains_existing_objects():
    indexer = Indexer()
    indexer.add(used_by("one", "bert"))
    indexer.add_indexers({"user": by_users})
    indexer.add(used_by("two", "bert"))

    assert names(indexer.by_index("user", "bert")) == ["one", "two"]
    assert list(indexer.indexers) == ["user"]


def test_adding_an_index_whose_name_is_in_use_changes_nothing():
    indexer = Indexer(indexers={"user": by_users})
    with pytest.raises(IndexConflictError, match="the index user already exists"):
        indexer.add_indexers({"free": by_users, "user": namespace_of})

    assert indexer.indexers == {"user": by_users}


def test_changing_a_cached_object_in_place_does_not_corrupt_the_index():
    indexer = Indexer(indexers={"user": by_users})
    shared = used_by("one", "ernie")
    indexer.add(shared)
    shared.metadata.labels["users"] = "bert"
    assert found_by(indexer, "user") == {"ernie": ["default/one"]}
    indexer.update(used_by("one", "oscar"))

    assert found_by(indexer, "user") == {"oscar": ["default/one"]}


# --- Index functions that fail ----------------------------------------------------------------------------------------


def fails_on_bad(item):
    if item.name.startswith("bad"):
        raise ValueError("boom")
    return ["good"]


def test_a_failing_index_function_is_reported_and_the_object_is_missing_only_from_that_index():
    failures = []
    functions = {"picky": fails_on_bad, NAMESPACE: namespace_of}
    indexer = Indexer(indexers=functions, on_failure=lambda *failure: failures.append(failure))
    indexer.add(pod("bad-0"))
    indexer.add(pod("web-0"))

    assert names(indexer.by_index("picky", "good")) == ["web-0"]
    assert names(indexer.by_index(NAMESPACE, "default")) == ["bad-0", "web-0"]
    assert indexer.by_indexes(namespace="default", picky="good") == [indexer.get("default/web-0")]
    [(name, key, error)] = failures
    assert (name, key) == ("picky", "default/bad-0")
    assert str(error) == "the index function of 'picky' failed on default/bad-0: boom"
    assert isinstance(error.__cause__, ValueError)


def test_a_failing_index_function_raises_without_on_failure_and_nothing_changes():
    indexer = Indexer(indexers={NAMESPACE: namespace_of, "picky": fails_on_bad})
    indexer.add(pod("web-0", 1))

    with pytest.raises(IndexFunctionError, match="'picky' failed on default/bad-0: boom"):
        indexer.add(pod("bad-0", 2))
    with pytest.raises(IndexFunctionError):
        indexer.replace([pod("web-1", 3), pod("bad-0", 3)], "4")
    with pytest.raises(IndexFunctionError):
        indexer.add_indexers({"fine": namespace_of, "broken": lambda _: 1 / 0})

    assert (indexer.keys(), indexer.resource_version) == (["default/web-0"], "1")
    assert found_by(indexer, NAMESPACE) == {"default": ["default/web-0"]}
    assert list(indexer.indexers) == [NAMESPACE, "picky"]


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda item: item.name, "it returned a str, not a list of str"),
        (lambda item: [item.spec.node_name], "it returned a list that contains a NoneType"),
        (lambda item: ["ok", 7], "it returned a list that contains a int"),
        (lambda item: None, "'NoneType' object is not iterable"),
    ],
)
def test_an_index_function_must_return_a_list_of_str(function, complaint):
    with pytest.raises(IndexFunctionError, match=complaint):
        Indexer(indexers={"it": function}).add(pod("web-0"))


@pytest.mark.parametrize("values", [("a", "b"), {"a", "b"}, iter(["a", "b"])])
def test_an_index_function_may_return_any_collection_of_str(values):
    indexer = Indexer(indexers={"it": lambda _: values})
    indexer.add(pod("web-0"))

    assert sorted(indexer.index_values("it")) == ["a", "b"]


# --- The version ------------------------------------------------------------------------------------------------------


def test_the_version_of_the_store_is_that_of_the_last_event():
    indexer = Indexer()
    assert indexer.resource_version == ""
    indexer.add(pod("1", 10))
    assert indexer.resource_version == "10"
    indexer.update(pod("1", 20))
    assert indexer.resource_version == "20"
    indexer.delete(pod("1", 30))
    assert indexer.resource_version == "30"
    indexer.bookmark("35")
    assert indexer.resource_version == "35"
    indexer.apply([added(pod("9", 40)), updated(pod("10", 30)), deleted(pod("9", 50))])
    assert indexer.resource_version == "50"
    indexer.replace([pod("3", 40), pod("2", 30)], "60")
    assert indexer.resource_version == "60"
    indexer.replace([pod("3", 40)], "")
    assert indexer.resource_version == ""


def test_the_version_is_unchanged_by_deltas_that_do_not_determine_it():
    indexer = Indexer()
    indexer.add(pod("1", 10))
    indexer.discard("default/1")
    indexer.add(Pod.from_dict({"metadata": {"name": "no-version"}}))
    seen = pod("2", 99)
    indexer.apply(
        [lost("default/1", pod("1", 77)), ReplacedDelta(seen, key="default/2"), SyncDelta(seen, key="default/2")]
    )

    assert indexer.resource_version == "10"


# --- Transactions -----------------------------------------------------------------------------------------------------


def test_a_batch_returns_each_delta_with_the_object_that_it_replaced():
    indexer = Indexer()
    old, gone = pod("known", 1), pod("gone", 1)
    indexer.replace([old, gone], "1")
    batch = [added(pod("new", 2)), added(pod("known", 3)), deleted(pod("gone", 4)), deleted(pod("unknown", 5))]

    applied = indexer.apply(batch)

    assert applied.applied == list(zip(batch, [None, old, gone, None], strict=True))
    assert applied.failures == []
    assert indexer.keys() == ["default/known", "default/new"]


def test_a_batch_may_change_one_object_more_than_once():
    indexer = Indexer()
    first, second = pod("a", 1), pod("a", 2)

    applied = indexer.apply([added(first), updated(second), deleted(pod("a", 3)), added(pod("a", 4))])

    assert [old for _, old in applied.applied] == [None, first, second, None]
    assert indexer.get("default/a").resource_version == "4"


def test_a_delta_that_fails_is_returned_and_the_others_are_applied():
    indexer = Indexer(indexers={"picky": fails_on_bad})
    good, bad, better, worse = (added(pod(name, 5)) for name in ("good", "bad-1", "better", "bad-2"))

    applied = indexer.apply([good, bad, better, worse])

    assert [delta for delta, _ in applied.applied] == [good, better]
    assert [delta for delta, _ in applied.failures] == [bad, worse]
    assert all(isinstance(error, IndexFunctionError) for _, error in applied.failures)
    assert names(indexer) == ["better", "good"]


def test_a_deletion_without_an_object_gets_the_one_that_was_stored():
    indexer = Indexer()
    stored = pod("a", 1)
    indexer.add(stored)

    applied = indexer.apply([lost("default/a"), lost("default/b")])

    assert applied.applied == [(lost("default/a", stored), stored), (lost("default/b"), None)]


# --- Replacing everything ---------------------------------------------------------------------------------------------


def test_a_replace_results_in_exactly_the_list_and_its_indexes():
    indexer = Indexer(indexers={"user": by_users})
    indexer.add(used_by("one", "ernie"))
    indexer.replace([used_by("two", "bert"), used_by("tre", "bert")], "9")

    assert names(indexer) == ["tre", "two"]
    assert found_by(indexer, "user") == {"bert": ["default/tre", "default/two"]}


def test_a_mapping_of_objects_is_copied():
    indexer = Indexer()
    listed = {"default/a": pod("a")}
    indexer.replace(listed, "1")
    indexer.add(pod("b"))

    assert list(listed) == ["default/a"]


def test_the_last_object_with_a_key_in_a_list_is_kept():
    indexer = Indexer(indexers={"user": by_users})
    indexer.replace([used_by("a", "ernie", 1), used_by("a", "bert", 2)], "2")

    assert found_by(indexer, "user") == {"bert": ["default/a"]}
    assert indexer.get("default/a").resource_version == "2"


def test_a_replacement_is_invisible_until_it_is_committed():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    indexer.add(pod("old", 1))
    replacement = indexer.prepare_replace([pod(f"new-{number}", 2) for number in range(600)], "3")

    slices = 0
    for _ in replacement:
        slices += 1
        assert (indexer.keys(), indexer.resource_version) == (["default/old"], "1")
        assert indexer.index_keys(NAMESPACE, "default") == ["default/old"]
    replacement.commit()

    assert slices == 3  # of 250 objects each
    assert (len(indexer), len(indexer.by_index(NAMESPACE, "default")), indexer.resource_version) == (600, 600, "3")


def test_a_commit_yields_deletions_first_and_then_the_list_in_its_order():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    old, gone, also_gone = pod("b", 1), pod("gone", 1), pod("also-gone", 1)
    indexer.replace([gone, old, also_gone], "1")
    new, newer = pod("c", 2), pod("b", 2)

    slices = list(indexer.prepare_replace([new, newer], "2").commit())

    assert [change for some in slices for change in some] == [
        (lost("default/gone", gone), gone),
        (lost("default/also-gone", also_gone), also_gone),
        (added(new), None),
        (updated(newer), old),
    ]


def test_the_changes_of_a_commit_are_yielded_in_slices():
    indexer = Indexer()
    indexer.replace([pod(f"old-{number}") for number in range(400)], "1")

    slices = list(indexer.prepare_replace([pod(f"new-{number}") for number in range(600)], "2").commit())

    assert [len(some) for some in slices if some] == [250, 150, 250, 250, 100]


def test_a_replacement_with_index_functions_is_built_in_smaller_slices():
    indexer = Indexer(indexers={"name": lambda item: [item.name]})

    assert len(list(indexer.prepare_replace([pod(f"new-{number}") for number in range(600)], "2"))) == 12


def test_the_changes_of_a_commit_are_those_at_the_time_of_the_commit():
    indexer = Indexer()
    indexer.replace([pod("a", 1)], "1")
    applied = indexer.prepare_replace([pod("a", 2), pod("b", 2)], "2").commit()
    indexer.apply([deleted(pod("a", 3)), added(pod("c", 4))])

    assert [change for some in applied for change in some] == [
        (updated(pod("a", 2)), pod("a", 1)),
        (added(pod("b", 2)), None),
    ]


def test_a_replacement_can_be_committed_once():
    replacement = Indexer().prepare_replace([], "1")
    replacement.commit()

    with pytest.raises(UsageError, match="already committed"):
        replacement.commit()


def test_a_replacement_that_could_not_be_built_cannot_be_committed():
    indexer = Indexer(indexers={"picky": fails_on_bad})
    replacement = indexer.prepare_replace([pod("web-0"), pod("bad-0")], "1")
    with pytest.raises(IndexFunctionError):
        list(replacement)

    with pytest.raises(UsageError, match="building it failed"):
        replacement.commit()
    assert indexer.list() == []


def test_writes_during_the_preparation_are_replaced_too():
    indexer = Indexer()
    replacement = indexer.prepare_replace([pod("a")], "5")
    meanwhile = pod("meanwhile", 4)
    indexer.add(meanwhile)
    changes = [change for some in replacement.commit() for change in some]

    assert changes == [(lost("default/meanwhile", meanwhile), meanwhile), (added(pod("a")), None)]
    assert indexer.keys() == ["default/a"]


def test_an_index_added_during_the_preparation_exists_afterwards():
    indexer = Indexer()
    replacement = indexer.prepare_replace([used_by("one", "bert")], "5")
    next(iter(replacement))
    indexer.add_indexers({"user": by_users})
    replacement.commit()

    assert names(indexer.by_index("user", "bert")) == ["one"]


# --- Any sequence of all that -----------------------------------------------------------------------------------------

POD_NAMES = st.sampled_from(["a", "b", "c", "d"])
USERS = st.lists(st.sampled_from(["ernie", "bert", "elmo"]), max_size=3).map("_".join)


def test_the_index_by_namespace_uses_the_key_and_not_the_object():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    moved = pod("a", 1)
    indexer.add(moved)
    moved.metadata.namespace = "elsewhere"
    indexer.apply([updated(pod("b", 2)), SyncDelta(moved, key="default/a")])
    assert found_by(indexer, NAMESPACE) == {"default": ["default/a", "default/b"]}

    indexer.discard("default/a")
    indexer.replace({"odd": pod("c", 3)}, "3")
    indexer.discard("odd")
    assert (found_by(indexer, NAMESPACE), len(indexer)) == ({}, 0)


def test_the_version_is_that_of_the_last_change_that_has_one():
    indexer = Indexer()
    indexer.apply([added(pod("a", 5)), added(pod("b", ""))])
    assert indexer.resource_version == "5"
    indexer.apply(
        [updated(pod("a", 7)), DeletedDelta(None, key="default/b"), ReplacedDelta(pod("c", 9), key="default/c")]
    )
    assert indexer.resource_version == "7"
    indexer.apply([deleted(pod("a", 11)), lost("default/c")])
    assert indexer.resource_version == "11"


class IndexerAgainstAPlainDict(RuleBasedStateMachine):
    """The model is a dict of objects, which is searched completely for every read."""

    @initialize()
    def start(self):
        self.indexer = Indexer(indexers={"user": by_users})
        self.functions = {"user": by_users}
        self.objects = {}
        self.version = ""
        self.next_version = 1

    def new_pod(self, name, users):
        self.next_version += 1
        labels = {"users": users} if users else {}
        return pod(name, self.next_version, namespace="x" if name < "c" else "y", labels=labels)

    def put(self, item):
        old = self.objects.get(key_of(item))
        self.objects[key_of(item)] = item
        return old

    @rule(name=POD_NAMES, users=USERS)
    def add(self, name, users):
        item = self.new_pod(name, users)
        self.indexer.add(item)
        self.put(item)
        self.version = item.resource_version

    @rule(name=POD_NAMES)
    def delete(self, name):
        item = self.new_pod(name, "")
        self.indexer.delete(item)
        self.objects.pop(key_of(item), None)
        self.version = item.resource_version

    @rule(name=POD_NAMES)
    def discard(self, name):
        key = key_of(self.new_pod(name, ""))
        self.indexer.discard(key)
        self.objects.pop(key, None)

    @rule(
        steps=st.lists(
            st.tuples(
                st.sampled_from([AddedDelta, UpdatedDelta, DeletedDelta, ReplacedDelta, SyncDelta]), POD_NAMES, USERS
            )
        )
    )
    def apply(self, steps):
        deltas = [
            kind(item, key=key_of(item)) for kind, item in ((k, self.new_pod(name, users)) for k, name, users in steps)
        ]
        expected = []
        for delta in deltas:
            gone = type(delta) is DeletedDelta
            expected.append((delta, self.objects.pop(delta.key, None) if gone else self.put(delta.object)))
            if type(delta) not in (ReplacedDelta, SyncDelta):
                self.version = delta.object.resource_version
        assert self.indexer.apply(deltas).applied == expected

    @rule(listed=st.dictionaries(POD_NAMES, USERS), by_key=st.booleans())
    def replace(self, listed, by_key):
        items = [self.new_pod(name, users) for name, users in listed.items()]
        after = {key_of(item): item for item in items}
        self.version = str(self.next_version)
        changes = self.indexer.prepare_replace(after if by_key else items, self.version).commit()
        vanished = [(lost(key, item), item) for key, item in self.objects.items() if key not in after]
        there = [
            ((updated if key in self.objects else added)(item), self.objects.get(key)) for key, item in after.items()
        ]
        assert [change for some in changes for change in some] == vanished + there
        self.objects = after

    @rule()
    def bookmark(self):
        self.next_version += 1
        self.version = str(self.next_version)
        self.indexer.bookmark(self.version)

    @rule()
    def add_an_index(self):
        if NAMESPACE not in self.functions:
            self.functions[NAMESPACE] = namespace_of
            self.indexer.add_indexers({NAMESPACE: namespace_of})

    @invariant()
    def the_objects_are_those_of_the_model(self):
        assert self.indexer.keys() == list(self.objects)
        assert all(self.indexer.get(key) is item for key, item in self.objects.items())
        assert self.indexer.resource_version == self.version

    @invariant()
    def the_indexes_find_what_a_scan_finds(self):
        for name, function in self.functions.items():
            values = {value for item in self.objects.values() for value in function(item)}
            assert set(self.indexer.index_values(name)) == values
            for value in values:
                expected = sorted(key for key, item in self.objects.items() if value in function(item))
                assert self.indexer.index_keys(name, value) == expected
                found = {key_of(item): item for item in self.indexer.by_index(name, value)}
                assert found == {key: self.objects[key] for key in expected}

    @invariant()
    def the_indexes_together_find_what_a_scan_finds(self):
        if NAMESPACE in self.functions:
            for namespace, user in (("x", "bert"), ("y", "ernie")):
                expected = {
                    key for key, item in self.objects.items() if item.namespace == namespace and user in by_users(item)
                }
                assert {key_of(item) for item in self.indexer.by_indexes(namespace=namespace, user=user)} == expected


TestIndexerAgainstAPlainDict = IndexerAgainstAPlainDict.TestCase
TestIndexerAgainstAPlainDict.settings = settings(stateful_step_count=30)
