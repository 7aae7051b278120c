"""RBAC on the embedded server: rules as values, aggregated roles, recorded permissions."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.server.caller import CONFIG_MAPS, Caller

from listwatch.errors import UsageError
from listwatch.server.api_server import APIServer
from listwatch.server.protocol.routes import RequestInfo, read_target
from listwatch.server.rbac.policy_rules import EVERYTHING, PolicyRule, uncovered
from listwatch.server.requests import User

ROLES = "/apis/rbac.authorization.k8s.io/v1"


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), unique=True, max_size=2).map(tuple)


RESOURCE_RULES = st.builds(
    PolicyRule,
    verbs=some("get", "list", "*"),
    api_groups=some("", "apps", "*"),
    resources=some("pods", "pods/log", "*/log", "*"),
    resource_names=some("a", "b"),
)
PATH_RULES = st.builds(PolicyRule, verbs=some("get", "*"), paths=some("/a", "/a/*", "/b", "*"))
REQUESTS = st.builds(
    lambda verb, group, resource, name: RequestInfo(
        "", "", verb=verb, is_resource=True, group=group, resource=resource[0], subresource=resource[1], name=name
    ),
    st.sampled_from(["get", "list"]),
    st.sampled_from(["", "apps"]),
    st.sampled_from([("pods", ""), ("pods", "log"), ("jobs", "log")]),
    st.sampled_from(["", "a", "b"]),
)


@given(owned=st.lists(RESOURCE_RULES, max_size=3), rules=st.lists(RESOURCE_RULES, max_size=3), request=REQUESTS)
def test_rules_that_are_covered_allow_nothing_more(
    owned: list[PolicyRule], rules: list[PolicyRule], request: RequestInfo
):
    if not uncovered(owned, rules) and any(rule.allows(request) for rule in rules):
        assert any(rule.allows(request) for rule in owned)


@given(rules=st.lists(RESOURCE_RULES | PATH_RULES, max_size=4))
def test_rules_cover_themselves_and_are_covered_by_all_permissions(rules: list[PolicyRule]):
    assert uncovered(rules, rules) == []
    assert uncovered(EVERYTHING, rules) == []


@given(rule=RESOURCE_RULES, request=REQUESTS)
def test_a_rule_and_its_parts_allow_the_same(rule: PolicyRule, request: RequestInfo):
    assert rule.allows(request) == any(part.allows(request) for part in rule.split())


@pytest.mark.parametrize(
    ("path", "allowed"), [("/a", True), ("/a/b", True), ("/ab", False), ("/b", True), ("/b/c", False), ("/", False)]
)
def test_paths_match_exactly_or_by_prefix(path: str, allowed: bool):
    rule = PolicyRule(("get",), paths=("/a", "/a/*", "/b"))
    assert rule.allows(read_target("GET", path)) is allowed


def cluster_role(name: str, rules: list[Any], **fields: Any) -> Any:
    metadata = {"name": name, "labels": fields.pop("labels", {})}
    return {"metadata": metadata, "rules": rules, **fields}


async def test_an_aggregated_role_has_the_rules_of_the_selected_ones():
    get = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    watch = {"verbs": ["watch"], "apiGroups": [""], "resources": ["pods"]}
    aggregation = {"clusterRoleSelectors": [{"matchLabels": {"to": "sum"}}, {"matchLabels": {"to": "sum", "x": "y"}}]}
    async with APIServer() as server, Caller(server) as call:
        path = f"{ROLES}/clusterroles"

        async def rules() -> Any:
            return (await call("GET", f"{path}/sum")).json["rules"]

        await call("POST", path, cluster_role("b", [watch, get], labels={"to": "sum"}))
        await call("POST", path, cluster_role("sum", [], labels={"to": "sum"}, aggregationRule=aggregation))
        assert await rules() == [watch, get]
        await call("POST", path, cluster_role("a", [get], labels={"to": "sum"}))
        assert await rules() == [get, watch]
        await call("DELETE", f"{path}/b")
        assert await rules() == [get]
        managers = (await call("GET", f"{path}/sum")).json["metadata"]["managedFields"]
        assert "clusterrole-aggregation-controller" in {each["manager"] for each in managers}


async def test_roles_that_select_each_other_get_the_rules_of_the_others():
    rules = [{"verbs": [verb], "apiGroups": [""], "resources": ["pods"]} for verb in ("get", "list")]

    def selecting(*names: str) -> Any:
        return {"clusterRoleSelectors": [{"matchLabels": {"name": name}} for name in names]}

    async with APIServer() as server, Caller(server) as call:
        path = f"{ROLES}/clusterroles"

        async def present(name: str) -> Any:
            return (await call("GET", f"{path}/{name}")).json.get("rules") or []

        for name, rule in zip(("one", "two"), rules, strict=True):
            await call("POST", path, cluster_role(name, [rule], labels={"name": name, "removed": ""}))
        for name, aggregation in (("a", selecting("one", "b")), ("b", selecting("two", "c")), ("c", selecting("a"))):
            await call("POST", path, cluster_role(name, [], labels={"name": name}, aggregationRule=aggregation))
        assert [await present(name) for name in "abc"] == [rules, rules[::-1], rules]
        # What both of them add is removed with one request, so that they change at the same time.
        await call("DELETE", f"{path}?labelSelector=removed")
        assert [await present(name) for name in "abc"] == [[], [], []]


async def test_the_recorded_permissions_of_a_run_suffice_for_the_next_one():
    async def run(call: Caller) -> list[int]:
        replies = [
            await call("GET", "/version"),
            await call("GET", f"{CONFIG_MAPS}"),
            await call("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}),
            await call("GET", f"{CONFIG_MAPS}/a"),
            await call("GET", "/api/v1/nodes"),
            await call("DELETE", f"{CONFIG_MAPS}/a"),
        ]
        return [reply.status for reply in replies]

    async with APIServer(users={"secret": User("robot")}) as server, Caller(server, token="secret") as call:
        statuses = await run(call)
        recorded = server.recorded_permissions("robot", name="robot")
    roles = list(yaml.safe_load_all(recorded))
    assert [(role["kind"], role["metadata"]) for role in roles] == [
        ("ClusterRole", {"name": "robot"}),
        ("Role", {"name": "robot", "namespace": "default"}),
    ]
    assert roles[1]["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "create", "delete"]}
    ]
    # Without the initial roles, which let every user read the version.
    server = APIServer(users={"secret": User("robot")}, authorization="rbac", bootstrap=False)
    async with server, Caller(server) as admin, Caller(server, token="secret") as call:
        assert set(await run(call)) == {403}
        for role in roles:
            await _give(admin, role, "robot")
        assert await run(call) == statuses
        without_delete = {**roles[1], "rules": [{**roles[1]["rules"][0], "verbs": ["get", "list", "create"]}]}
        await admin("PUT", f"{ROLES}/namespaces/default/roles/robot", without_delete)
        assert (await run(call))[-1] == 403


async def test_the_verb_escalate_is_recorded_if_a_role_needs_it():
    group = "rbac.authorization.k8s.io"
    write = {"apiGroups": [group], "resources": ["roles"], "verbs": ["create", "escalate"]}
    read = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    metadata = {"name": "robot", "namespace": "default"}
    server = APIServer(users={"secret": User("robot")}, authorization="rbac")
    async with server, Caller(server) as admin, Caller(server, token="secret") as call:

        def recorded() -> list[str]:
            [role] = yaml.safe_load_all(server.recorded_permissions("robot", name="robot"))
            [rule] = role["rules"]
            return rule["verbs"]

        async def create(name: str, rule: Any) -> int:
            path = f"{ROLES}/namespaces/default/roles"
            return (await call("POST", path, {"metadata": {"name": name}, "rules": [rule]})).status

        await _give(admin, {"kind": "Role", "metadata": metadata, "rules": [write, read]}, "robot")
        assert await create("held", read) == 201
        assert recorded() == ["create"]
        assert await create("more", {**read, "verbs": ["delete"]}) == 201
        assert recorded() == ["create", "escalate"]


async def _give(admin: Caller, role: Any, user: str) -> None:
    place = f"/namespaces/{role['metadata']['namespace']}" if role["kind"] == "Role" else ""
    resource = role["kind"].lower()
    assert (await admin("POST", f"{ROLES}{place}/{resource}s", role)).status == 201
    binding = {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": role["metadata"]["name"]},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
    }
    assert (await admin("POST", f"{ROLES}{place}/{resource}bindings", binding)).status == 201


async def test_roles_are_effective_after_a_restart(tmp_path: Any):
    role = {
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": [PolicyRule(("get",), paths=("/api",)).to_json()],
    }
    users = {"secret": User("robot")}
    options: Any = {"data_dir": tmp_path, "users": users, "authorization": "rbac", "bootstrap": False}
    async with APIServer(**options) as server, Caller(server) as admin:
        await _give(admin, role, "robot")
    async with APIServer(**options) as server, Caller(server, token="secret") as call:
        assert (await call("GET", "/api")).status == 200
        assert (await call("GET", "/apis")).status == 403


def test_an_authorizer_cannot_be_combined_with_rbac():
    with pytest.raises(UsageError, match="cannot be combined"):
        APIServer(authorizer=Nothing(), authorization="rbac")
    with pytest.raises(UsageError, match="always-allow"):
        APIServer(authorization="RBAC")  # type: ignore[arg-type]  # the mistake


class Nothing:
    def authorize(self, user: User, request: RequestInfo) -> Any:
        raise AssertionError
