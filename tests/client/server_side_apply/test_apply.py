"""Applying single objects and sets, and what an apply would change, on the embedded server."""

import sys

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.client import ClientSet, apply_set
from listwatch.client.server_side_apply.apply_set import apply_set_id
from listwatch.client.server_side_apply.object_diff import changed_fields
from listwatch.client.server_side_apply.program_name import program_name
from listwatch.errors import ConflictError, NotFoundError, RequestError, UsageError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.testing.api_server_thread import APIServerThread


def a_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def tree(name: str, kind: str = "ConfigMap", namespace: str = "default", **fields: object) -> dict[str, object]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


# --- apply


async def test_an_object_is_created_and_then_changed(client: ClientSet):
    created = await lw.apply(a_map("web", a="1", b="2"), client=client, field_manager="program")
    assert type(created) is ConfigMap
    changed = await lw.apply(a_map("web", a="3"), client=client, field_manager="program")
    assert (changed.uid, changed.data) == (created.uid, {"a": "3"})
    assert [each.manager for each in changed.metadata.managed_fields] == ["program"]


async def test_fields_of_other_managers_stay_and_conflict(client: ClientSet):
    await lw.apply(a_map("web", a="1"), client=client, field_manager="one")
    both = await lw.apply(a_map("web", b="2"), client=client, field_manager="two")
    assert both.data == {"a": "1", "b": "2"}
    with pytest.raises(ConflictError):
        await lw.apply(a_map("web", a="9"), client=client, field_manager="two")
    assert (await lw.apply(a_map("web", a="9"), client=client, field_manager="two", force=True)).data["a"] == "9"


async def test_the_manager_is_the_name_of_the_program(client: ClientSet, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["/srv/deployer.py", "--all"])
    applied = await lw.apply(a_map("web", a="1"), client=client)
    assert [each.manager for each in applied.metadata.managed_fields] == ["deployer"]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["/usr/bin/deploy"], "deploy"),
        (["/x/package/__main__.py"], "package"),
        (["tool.exe"], "tool"),
        (["-c"], "listwatch"),
        ([""], "listwatch"),
        ([], "listwatch"),
    ],
)
def test_a_program_has_the_name_of_its_script_or_package(arguments: list[str], name: str):
    assert program_name(arguments) == name


async def test_the_client_and_the_namespace_come_from_the_environment(
    server: APIServer, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    server.kubeconfig(tmp_path / "config")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    applied = await lw.apply(ConfigMap(metadata=ObjectMeta(name="web")))
    assert applied.namespace == "default"


async def test_a_dry_run_changes_nothing(client: ClientSet):
    await lw.apply(a_map("web"), client=client, dry_run=True)
    with pytest.raises(NotFoundError):
        await client.core_v1.configmaps("default").get("web")


async def test_only_objects_can_be_applied(client: ClientSet):
    with pytest.raises(RequestError, match=r"a dict cannot be applied; pass an API object"):
        await lw.apply(tree("web"), client=client)  # type: ignore[type-var]  # wrong on purpose
    with pytest.raises(UsageError, match="must be a ClientSet"):
        await lw.apply(a_map("web"), client="x")  # type: ignore[arg-type]  # wrong on purpose


def test_objects_are_applied_from_threads():
    with APIServerThread() as server, blocking.ClientSet(server.config) as client:
        assert blocking.apply(a_map("web", a="1"), client=client).data == {"a": "1"}
        assert str(blocking.diff(a_map("web", a="2"), client=client)).splitlines()[1:] == ['~ .data.a: "1" -> "2"']
        result = blocking.apply_set(client, [tree("a")], name="app", namespace="default")
        assert [each.name for each in result.applied] == ["a"]


# --- diff


async def test_every_field_of_a_new_object_is_a_difference(client: ClientSet):
    found = await lw.diff(a_map("web", a="1"), client=client)
    assert (found.exists, bool(found)) == (False, True)
    assert '+ .data: {"a":"1"}' in str(found).splitlines()


async def test_an_object_that_is_applied_again_has_no_difference(client: ClientSet):
    await lw.apply(a_map("web", a="1"), client=client, field_manager="one")
    found = await lw.diff(a_map("web", a="1"), client=client, field_manager="one")
    assert (found.exists, found.changes, bool(found)) == (True, (), False)


async def test_changes_removals_and_conflicts_are_named(client: ClientSet):
    await lw.apply(a_map("web", a="1", b="2"), client=client, field_manager="one")
    await lw.apply(a_map("web", c="3"), client=client, field_manager="two")
    found = await lw.diff(a_map("web", a="5", c="9"), client=client, field_manager="one")
    assert [str(each) for each in found.changes] == [
        '~ .data.a: "1" -> "5"',
        '- .data.b: "2"',
        '~ .data.c: "3" -> "9"',
    ]
    assert [(each.path, each.manager) for each in found.conflicts] == [(".data.c", "two")]
    assert (await client.core_v1.configmaps("default").get("web")).data == {"a": "1", "b": "2", "c": "3"}


async def test_values_of_a_secret_are_not_shown(client: ClientSet):
    secret = lw.Unstructured.from_dict(tree("web", "Secret", stringData={"password": "hunter2"}))
    text = str(await lw.diff(secret, client=client))
    assert "hunter2" not in text
    assert "aHVudGVyMg" not in text
    assert "(not shown)" in text


def test_keys_and_values_that_could_change_a_terminal_are_escaped():
    before = {"spec": {"a\x1b[2J\n": "x", "b": "x"}}
    after = {"spec": {"a\x1b[2J\n": "y", "b": "\x9b31m\u202e"}}
    assert [str(each) for each in changed_fields(before, after)] == [
        r'~ .spec.a\x1b[2J\n: "x" -> "y"',
        r'~ .spec.b: "x" -> "\x9b31m\u202e"',
    ]


def test_items_of_lists_are_compared_by_their_names():
    before = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}}
    after = {"spec": {"containers": [{"name": "b", "image": "2"}, {"name": "a", "image": "1"}]}}
    assert [str(each) for each in changed_fields(before, after)] == ['~ .spec.containers[name=b].image: "1" -> "2"']
    assert [each.path for each in changed_fields({"a": [1, 2]}, {"a": [1, 3]})] == [".a"]
    assert [each.path for each in changed_fields({"a": 1}, {"a": True})] == [".a"]


# --- sets


async def names(client: ClientSet) -> set[str]:
    return {each.name for each in await client.core_v1.configmaps("default").list()} - {"app", "kube-root-ca.crt"}


async def test_what_an_earlier_apply_made_is_pruned(client: ClientSet):
    await client.core_v1.configmaps("default").create(a_map("foreign"))
    await apply_set(client, [tree("a"), tree("b"), tree("s", "Secret")], name="app", namespace="default")
    result = await apply_set(client, [tree("b"), tree("c")], name="app", namespace="default")
    assert [each.name for each in result.applied] == ["b", "c"]
    assert sorted(each.name for each in result.pruned) == ["a", "s"]
    assert await names(client) == {"b", "c", "foreign"}
    assert len(await client.core_v1.secrets("default").list()) == 0


async def test_objects_of_other_namespaces_and_cluster_scoped_ones_are_pruned(client: ClientSet):
    await client.core_v1.namespaces().create(tree("other", "Namespace", ""))
    objects = [tree("a", namespace="other"), tree("extra", "Namespace", ""), tree("b")]
    await apply_set(client, objects, name="app", namespace="default")
    result = await apply_set(client, [tree("b")], name="app", namespace="default")
    assert sorted(each.name for each in result.pruned) == ["a", "extra"]
    parent = await client.core_v1.configmaps("default").get("app")
    assert parent.metadata.annotations["applyset.kubernetes.io/contains-group-kinds"] == "ConfigMap"
    assert parent.metadata.annotations["applyset.kubernetes.io/additional-namespaces"] == ""


async def test_two_sets_do_not_prune_each_other(client: ClientSet):
    await apply_set(client, [tree("a")], name="app", namespace="default")
    await apply_set(client, [tree("b")], name="second", namespace="default")
    result = await apply_set(client, [], name="app", namespace="default")
    assert [each.name for each in result.pruned] == ["a"]
    assert "b" in await names(client)


async def test_an_error_of_an_apply_prunes_nothing(client: ClientSet):
    await apply_set(client, [tree("a")], name="app", namespace="default")
    with pytest.raises(lw.errors.ListWatchError):
        await apply_set(client, [tree("Invalid Name")], name="app", namespace="default")
    assert await names(client) == {"a"}
    result = await apply_set(client, [tree("b")], name="app", namespace="default")
    assert [each.name for each in result.pruned] == ["a"]


async def test_a_dry_run_of_a_set_returns_what_it_would_prune(client: ClientSet):
    await apply_set(client, [tree("a")], name="app", namespace="default")
    result = await apply_set(client, [tree("b")], name="app", namespace="default", dry_run=True)
    assert ([each.name for each in result.applied], [each.name for each in result.pruned]) == (["b"], ["a"])
    assert await names(client) == {"a"}


async def test_a_config_map_of_another_program_is_no_set(client: ClientSet):
    await client.core_v1.configmaps("default").create(a_map("app"))
    with pytest.raises(UsageError, match="ConfigMap default/app is no set of applied objects"):
        await apply_set(client, [], name="app", namespace="default")
    with pytest.raises(UsageError, match="needs a name"):
        await apply_set(client, [], name="")


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        ("contains-group-kinds", "Binding,ConfigMap", "contains 'Binding', which cannot be listed"),
        ("additional-namespaces", "../kube-system", "contains '../kube-system', which is not the name of a namespace"),
    ],
)
async def test_a_set_with_a_wrong_annotation_prunes_nothing(
    annotation: str, value: str, message: str, client: ClientSet
):
    await apply_set(client, [tree("a"), tree("b")], name="app")
    await _annotate(client, annotation, value)
    with pytest.raises(UsageError, match=f"nothing is pruned, because .* {message}"):
        await apply_set(client, [tree("a")], name="app")
    assert await client.core_v1.configmaps("default").get("b")


async def test_a_set_that_names_a_resource_twice_prunes_its_objects_once(client: ClientSet):
    await apply_set(client, [tree("a"), tree("b")], name="app")
    await _annotate(client, "contains-group-kinds", "ConfigMap,configmaps,Secret,NoSuch.example.com")
    await _annotate(client, "additional-namespaces", "kube-system,no-such")
    result = await apply_set(client, [tree("a")], name="app")
    assert [each.name for each in result.pruned] == ["b"]


async def _annotate(client: ClientSet, annotation: str, value: str) -> None:
    annotations = {f"applyset.kubernetes.io/{annotation}": value}
    await client.core_v1.configmaps("default").patch("app", {"metadata": {"annotations": annotations}})


def test_the_id_of_a_set_is_a_hash_of_its_name_and_namespace():
    # tests/real compares it with that of kubectl.
    assert apply_set_id("my-set", "default") == "applyset-DaObTxGT41gT7jz9wyulA3kuIrhUKfuOcjAfLI6wcmQ-v1"
    assert apply_set_id("my-set", "other") != apply_set_id("my-set", "default")
