"""What roles and bindings allow, and the errors of what they do not allow."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.contract.server.api import API, Tree

RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
NS = "/api/v1/namespaces/NS"
APPLY = "application/apply-patch+yaml"
NOT_HELD = "is attempting to grant RBAC permissions not currently held:"


class Users:
    """Grants permissions to users, and makes requests in their names."""

    def __init__(self, api: API) -> None:
        self.api = api
        self._cluster_objects: list[str] = []

    def name(self, name: str) -> str:
        """A name that no other test uses."""
        return f"{name}-{self.api.namespace}"

    def role(self, name: str, *rules: Tree, kind: str = "Role", **fields: Tree) -> str:
        body = {"kind": kind, "apiVersion": f"{GROUP}/v1", "metadata": {"name": name}, "rules": list(rules), **fields}
        self._create("clusterroles" if kind == "ClusterRole" else "roles", name, body)
        return name

    def bind(self, role: str, *subjects: Tree, role_kind: str = "Role", kind: str = "RoleBinding") -> None:
        name = f"{role}-to-subjects"
        body = {
            "kind": kind,
            "apiVersion": f"{GROUP}/v1",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role},
            "subjects": list(subjects),
        }
        self._create("clusterrolebindings" if kind == "ClusterRoleBinding" else "rolebindings", name, body)

    def _create(self, resource: str, name: str, body: Tree) -> None:
        path = self.path(resource)
        self.api.post(path, body).ok(201)
        if resource.startswith("cluster"):
            self._cluster_objects.append(f"{path}/{name}")

    def path(self, resource: str, name: str = "") -> str:
        place = "" if resource.startswith("cluster") else f"/namespaces/{self.api.namespace}"
        return f"{RBAC}{place}/{resource}{f'/{name}' if name else ''}"

    def grant(self, user: str, *rules: Tree, verb: str, resource: str, **attributes: str) -> None:
        """Give a user a Role with these rules, and wait until it allows one of its verbs."""
        self.bind(self.role(f"role-of-{user}"[:60], *rules), a_user(user))
        self.wait_allowed(user, verb=verb, resource=resource, namespace=self.api.namespace, **attributes)

    def wait_allowed(self, user: str, **attributes: str) -> Tree:
        """Wait until a real server, which reads roles through an informer, allows what a role grants."""
        for _ in range(2000):
            status = self.review(user, attributes)
            if status["allowed"]:
                return status
        raise AssertionError(f"{user} is not allowed to {attributes}")

    def review(self, user: str, attributes: Tree, **spec: Tree) -> Tree:
        attributes_name = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
        body = {"spec": {"user": user, attributes_name: attributes, **spec}}
        return self.api.post(f"{AUTHORIZATION}/subjectaccessreviews", body).ok(201)["status"]

    def clean(self) -> None:
        for path in self._cluster_objects:
            self.api.delete(path)


@pytest.fixture
def users(api: API) -> Iterator[Users]:
    users = Users(api)
    yield users
    users.clean()


def a_user(name: str) -> Tree:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def rule(verbs: list[str], resources: list[str], group: str = "", **fields: Tree) -> Tree:
    return {"verbs": verbs, "apiGroups": [group], "resources": resources, **fields}


def as_user(name: str, **headers: str) -> dict[str, str]:
    return {"Impersonate-User": name, **headers}


# --- Without permissions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "why"),
    [
        (
            "GET",
            "/api/v1/namespaces/NS/pods",
            'pods is forbidden: USER cannot list resource "pods" in API group "" WHERE',
        ),
        (
            "GET",
            "/api/v1/pods",
            'pods is forbidden: USER cannot list resource "pods" in API group "" at the cluster scope',
        ),
        (
            "GET",
            "/api/v1/namespaces/NS/pods?watch=1",
            'pods is forbidden: USER cannot watch resource "pods" in API group "" WHERE',
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/NS/deployments",
            "deployments.apps is forbidden: USER cannot deletecollection resource "
            '"deployments" in API group "apps" WHERE',
        ),
        (
            "GET",
            "/api/v1/namespaces/NS/pods/web/log",
            'pods "web" is forbidden: USER cannot get resource "pods/log" in API group "" WHERE',
        ),
        ("GET", "/metrics", 'forbidden: USER cannot get path "/metrics"'),
    ],
)
def test_a_user_without_roles_is_refused(api: API, users: Users, method: str, path: str, why: str):
    user = users.name("alice")
    response = api.request(method, path.replace("NS", api.namespace), headers=as_user(user))
    where = f'in the namespace "{api.namespace}"'
    expected = why.replace("USER", f'User "{user}"').replace("EVERYWHERE", "at the cluster scope")
    expected = expected.replace("WHERE", where)
    assert response.failed(403, "Forbidden")["message"] == expected


def test_a_missing_role_is_named_in_the_refusal(api: API, users: Users):
    user = users.name("alice")
    users.bind("absent", a_user(user))

    def refusal() -> str:
        return api.get(api.path("pods"), headers=as_user(user)).failed(403, "Forbidden")["message"]

    expected = f'RBAC: role.{GROUP} "absent" not found'
    assert wait_for(refusal, lambda text: text.endswith(expected)).startswith(
        f'pods is forbidden: User "{user}" cannot'
    )


def test_a_review_of_rules_names_missing_roles(api: API, users: Users):
    user = users.name("alice")
    users.bind("absent", a_user(user))

    def status() -> Tree:
        body = {"spec": {"namespace": api.namespace}}
        return api.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", body, headers=as_user(user)).ok(201)["status"]

    found = wait_for(status, lambda status: "evaluationError" in status)
    assert found["evaluationError"] == f'role.{GROUP} "absent" not found'
    assert found["incomplete"] is False


@pytest.mark.parametrize(
    ("aggregation", "field"),
    [
        ({}, "aggregationRule.clusterRoleSelectors"),
        ({"clusterRoleSelectors": []}, "aggregationRule.clusterRoleSelectors"),
        (
            {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Equal"}]}]},
            "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator",
        ),
    ],
)
def test_an_aggregated_role_needs_valid_selectors(api: API, users: Users, aggregation: Tree, field: str):
    body = {"metadata": {"name": users.name("sum")}, "aggregationRule": aggregation}
    refused = api.post(f"{RBAC}/clusterroles", body).failed(422, "Invalid")
    assert refused["details"]["causes"][0]["field"] == field


def wait_for(read: Callable[[], Any], is_expected: Callable[[Any], bool]) -> Any:
    value = None
    for _ in range(2000):
        value = read()
        if is_expected(value):
            return value
    raise AssertionError(value)


# --- What rules allow -------------------------------------------------------------------------------------------------


def test_a_role_allows_its_verbs_in_its_namespace_only(api: API, users: Users):
    user = users.name("alice")
    users.grant(user, rule(["get", "list"], ["configmaps"]), verb="list", resource="configmaps")
    assert api.get(api.path("configmaps"), headers=as_user(user)).ok()["items"] is not None
    api.get("/api/v1/namespaces/default/configmaps", headers=as_user(user)).failed(403, "Forbidden")
    api.get("/api/v1/configmaps", headers=as_user(user)).failed(403, "Forbidden")
    api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, headers=as_user(user)).failed(403, "Forbidden")


def test_resource_names_restrict_a_rule_to_objects(api: API, users: Users):
    user = users.name("alice")
    one = rule(["get", "list", "create"], ["configmaps"], resourceNames=["one"])
    users.grant(user, one, verb="get", resource="configmaps", name="one")
    api.create("configmaps", "one")
    assert api.get(api.path("configmaps", "one"), headers=as_user(user)).ok()["metadata"]["name"] == "one"
    api.get(api.path("configmaps", "other"), headers=as_user(user)).failed(403, "Forbidden")
    api.get(api.path("configmaps"), headers=as_user(user)).failed(403, "Forbidden")
    selected = api.get(f"{api.path('configmaps')}?fieldSelector=metadata.name%3Done", headers=as_user(user))
    assert [each["metadata"]["name"] for each in selected.ok()["items"]] == ["one"]
    api.post(api.path("configmaps"), {"metadata": {"name": "one"}}, headers=as_user(user)).failed(403, "Forbidden")


@pytest.mark.parametrize(
    ("resources", "allowed", "refused"),
    [
        (["pods/log"], [("pods", "log")], [("pods", ""), ("pods", "exec")]),
        (
            ["*/scale"],
            [("deployments", "scale"), ("replicasets", "scale")],
            [("deployments", ""), ("deployments", "status")],
        ),
        (["*"], [("pods", ""), ("pods", "exec"), ("widgets", "status")], []),
        (["pods"], [("pods", "")], [("pods", "log")]),
    ],
)
def test_subresources_are_resources_of_their_own(
    users: Users, resources: list[str], allowed: list[tuple[str, str]], refused: list[tuple[str, str]]
):
    user = users.name("alice")
    users.bind(users.role("some", {"verbs": ["get"], "apiGroups": ["*"], "resources": resources}), a_user(user))
    namespace = users.api.namespace
    for resource, subresource in allowed:
        users.wait_allowed(user, verb="get", resource=resource, subresource=subresource, namespace=namespace)
    for resource, subresource in refused:
        attributes = {"verb": "get", "resource": resource, "subresource": subresource, "namespace": namespace}
        assert users.review(user, attributes) == {"allowed": False}


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
def test_a_command_needs_the_permission_to_create_with_every_method(users: Users, subresource: str):
    user, api = users.name("alice"), users.api
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": [f"pods/{subresource}"]}
    users.grant(user, rule, verb="get", resource="pods", subresource=subresource)
    path = api.path("pods", "p", subresource)
    found = api.get(path, headers=as_user(user)).failed(403, "Forbidden")
    assert found["message"] == 'pods "p" is forbidden: '
    found = api.post(path, None, headers=as_user(user)).failed(403, "Forbidden")
    assert f'cannot create resource "pods/{subresource}"' in found["message"]


def test_a_cluster_role_allows_paths_by_prefix(users: Users):
    user = users.name("alice")
    role = users.role(
        users.name("paths"), {"verbs": ["get"], "nonResourceURLs": ["/logs/*", "/exact"]}, kind="ClusterRole"
    )
    users.bind(role, a_user(user), role_kind="ClusterRole", kind="ClusterRoleBinding")
    users.wait_allowed(user, verb="get", path="/logs/today")
    assert users.review(user, {"verb": "get", "path": "/exact"})["allowed"]
    for attributes in (
        {"verb": "get", "path": "/exact/more"},
        {"verb": "post", "path": "/logs/today"},
        {"verb": "get", "path": "/log"},
    ):
        assert users.review(user, attributes) == {"allowed": False}


def test_a_role_binding_gives_the_rules_of_a_cluster_role_in_its_namespace(users: Users):
    user, namespace = users.name("alice"), users.api.namespace
    role = users.role(users.name("reader"), rule(["get"], ["pods"]), kind="ClusterRole")
    users.bind(role, a_user(user), role_kind="ClusterRole")
    status = users.wait_allowed(user, verb="get", resource="pods", namespace=namespace)
    binding = f'RoleBinding "{role}-to-subjects/{namespace}" of ClusterRole "{role}" to User "{user}"'
    assert status == {"allowed": True, "reason": f"RBAC: allowed by {binding}"}
    assert users.review(user, {"verb": "get", "resource": "pods", "namespace": "default"}) == {"allowed": False}
    assert users.review(user, {"verb": "get", "resource": "pods"}) == {"allowed": False}


def test_groups_and_service_accounts_are_subjects(users: Users):
    namespace, group = users.api.namespace, users.name("team")
    account = f"system:serviceaccount:{namespace}:robot"
    subjects = [
        {"kind": "Group", "apiGroup": GROUP, "name": group},
        {"kind": "ServiceAccount", "name": "robot", "namespace": namespace},
    ]
    users.bind(users.role("reader", rule(["get"], ["pods"])), *subjects)
    status = users.wait_allowed(account, verb="get", resource="pods", namespace=namespace)
    assert status["reason"].endswith(f'of Role "reader" to ServiceAccount "robot/{namespace}"')
    attributes = {"verb": "get", "resource": "pods", "namespace": namespace}
    status = users.review("anyone", attributes, groups=[group])
    assert status["reason"].endswith(f'of Role "reader" to Group "{group}"')
    assert users.review("anyone", attributes, groups=["other"]) == {"allowed": False}


def test_a_rules_review_lists_what_a_user_may_do(api: API, users: Users):
    user = users.name("alice")
    own = rule(["get", "list"], ["widgets"], "example.com", resourceNames=["a"])
    users.grant(user, own, verb="get", resource="widgets", group="example.com", name="a")
    body = {"spec": {"namespace": api.namespace}}
    status = api.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", body, headers=as_user(user)).ok(201)["status"]
    assert own in status["resourceRules"]
    assert status["incomplete"] is False


# --- Escalation -------------------------------------------------------------------------------------------------------


MANAGES_ROLES = rule(["create", "get", "update"], ["roles", "rolebindings"], GROUP)


def test_a_user_cannot_grant_what_it_does_not_have(api: API, users: Users):
    user = users.name("alice")
    users.grant(user, MANAGES_ROLES, rule(["get"], ["pods"]), verb="create", resource="roles", group=GROUP)
    rules = [rule(["get", "list", "delete"], ["pods", "secrets"]), rule(["get"], ["pods"], resourceNames=["a"])]
    body = {"metadata": {"name": "wide"}, "rules": rules}
    response = api.post(users.path("roles"), body, headers=as_user(user))
    assert response.failed(403, "Forbidden")["message"] == (
        f'roles.{GROUP} "wide" is forbidden: user "{user}" (groups=["system:authenticated"]) {NOT_HELD}\n'
        '{APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'
    )
    narrow = {"metadata": {"name": "narrow"}, "rules": [rule(["get"], ["pods"], resourceNames=["a"])]}
    created = api.post(users.path("roles"), narrow, headers=as_user(user)).ok(201)
    wider = {**created, "rules": [rule(["get"], ["secrets"])]}
    api.put(users.path("roles", "narrow"), wider, headers=as_user(user)).failed(403, "Forbidden")
    finalized = {**created, "metadata": {**created["metadata"], "finalizers": ["example.com/a"]}}
    changed = api.put(users.path("roles", "narrow"), finalized, headers=as_user(user)).ok()
    api.put(users.path("roles", "narrow"), {**changed, "metadata": {**changed["metadata"], "finalizers": []}}).ok()


def test_a_user_can_bind_only_roles_whose_rules_it_has(api: API, users: Users):
    user = users.name("alice")
    users.grant(user, MANAGES_ROLES, verb="create", resource="rolebindings", group=GROUP)
    users.role("secret-reader", rule(["get"], ["secrets"]))
    body = {
        "metadata": {"name": "mine"},
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": "secret-reader"},
        "subjects": [a_user(user)],
    }

    def refusal() -> Tree:
        return api.post(users.path("rolebindings"), body, headers=as_user(user)).json

    status = wait_for(refusal, lambda status: status["code"] == 403)
    assert status["message"] == (
        f'rolebindings.{GROUP} "mine" is forbidden: user "{user}" (groups=["system:authenticated"]) {NOT_HELD}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
    )
    missing = {**body, "roleRef": {**body["roleRef"], "name": "absent"}}
    response = api.post(users.path("rolebindings"), missing, headers=as_user(user))
    assert response.failed(404, "NotFound")["message"] == f'rolebindings.{GROUP} "absent" not found'


def test_the_verbs_bind_and_escalate_allow_more(api: API, users: Users):
    user, namespace = users.name("alice"), api.namespace
    more = rule(["bind", "escalate"], ["roles"], GROUP, resourceNames=["secret-reader"])
    users.grant(user, MANAGES_ROLES, more, verb="bind", resource="roles", group=GROUP, name="secret-reader")
    created = api.post(
        users.path("roles"), {"metadata": {"name": "secret-reader"}, "rules": [rule(["get"], ["pods"])]}
    ).ok(201)
    wider = {**created, "rules": [rule(["get"], ["secrets"])]}
    api.put(users.path("roles", "secret-reader"), wider, headers=as_user(user)).ok()
    body = {
        "metadata": {"name": "mine"},
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": "secret-reader"},
        "subjects": [a_user(user)],
    }
    api.post(users.path("rolebindings"), body, headers=as_user(user)).ok(201)
    users.wait_allowed(user, verb="get", resource="secrets", namespace=namespace)


def test_an_aggregation_rule_needs_all_permissions(api: API, users: Users):
    user = users.name("alice")
    role = users.role(users.name("roles"), rule(["create"], ["clusterroles"], GROUP), kind="ClusterRole")
    users.bind(role, a_user(user), role_kind="ClusterRole", kind="ClusterRoleBinding")
    users.wait_allowed(user, verb="create", resource="clusterroles", group=GROUP)
    name = users.name("sum")
    body = {"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    response = api.post(users.path("clusterroles"), body, headers=as_user(user))
    why = "must have cluster-admin privileges to use the aggregationRule"
    assert response.failed(403, "Forbidden")["message"] == f'clusterroles.{GROUP} "{name}" is forbidden: {why}'


# --- Impersonation ----------------------------------------------------------------------------------------------------


def token_of(api: API, account: str) -> dict[str, str]:
    api.create("serviceaccounts", account)
    token = api.post(api.path("serviceaccounts", account, "token"), {"spec": {}}).ok(201)["status"]["token"]
    return {"Authorization": f"Bearer {token}"}


def test_impersonation_without_permission_is_refused(api: API, users: Users):
    robot = token_of(api, "robot")
    name = f"system:serviceaccount:{api.namespace}:robot"
    where = f'in the namespace "{api.namespace}"'
    response = api.get(api.path("pods"), headers={**robot, "Impersonate-User": "bob"})
    assert response.failed(403, "Forbidden")["message"] == (
        f'pods is forbidden: User "{name}" cannot impersonate-on:user-info:list resource "pods" in API group "" {where}'
    )
    response = api.get(api.path("pods"), headers={**robot, "Impersonate-User": "system:node:n1"})
    assert "cannot impersonate-on:arbitrary-node:list" in response.failed(403, "Forbidden")["message"]
    response = api.get(api.path("pods"), headers={**robot, "Impersonate-User": "system:serviceaccount:a:b"})
    assert "cannot impersonate-on:serviceaccount:list" in response.failed(403, "Forbidden")["message"]


def test_constrained_impersonation_allows_one_user_and_verb(api: API, users: Users):
    robot, bob = token_of(api, "robot"), users.name("bob")
    account = f"system:serviceaccount:{api.namespace}:robot"
    users.bind(users.role("on-pods", rule(["impersonate-on:user-info:list"], ["pods"])), a_user(account))
    role = users.role(
        users.name("as-bob"),
        rule(["impersonate:user-info"], ["users"], "authentication.k8s.io", resourceNames=[bob]),
        kind="ClusterRole",
    )
    users.bind(role, a_user(account), role_kind="ClusterRole", kind="ClusterRoleBinding")
    users.wait_allowed(account, verb="impersonate:user-info", resource="users", group="authentication.k8s.io", name=bob)
    users.wait_allowed(account, verb="impersonate-on:user-info:list", resource="pods", namespace=api.namespace)
    users.grant(bob, rule(["list"], ["pods", "configmaps"]), verb="list", resource="pods")
    assert api.get(api.path("pods"), headers={**robot, "Impersonate-User": bob}).ok()["items"] == []
    refused = api.get(api.path("configmaps"), headers={**robot, "Impersonate-User": bob}).failed(403, "Forbidden")
    assert "cannot impersonate-on:user-info:list" in refused["message"]
    refused = api.get(api.path("pods"), headers={**robot, "Impersonate-User": "carol"}).failed(403, "Forbidden")
    assert 'cannot impersonate:user-info resource "users"' in refused["message"]


def test_the_verb_impersonate_allows_all_requests(api: API, users: Users):
    robot, bob = token_of(api, "robot"), users.name("bob")
    account = f"system:serviceaccount:{api.namespace}:robot"
    role = users.role(users.name("as-bob"), rule(["impersonate"], ["users"], resourceNames=[bob]), kind="ClusterRole")
    users.bind(role, a_user(account), role_kind="ClusterRole", kind="ClusterRoleBinding")
    users.wait_allowed(account, verb="impersonate", resource="users", name=bob)
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    headers = {**robot, "Impersonate-User": bob}
    user = api.post(f"{AUTHENTICATION}/selfsubjectreviews", review, headers=headers).ok(201)["status"]["userInfo"]
    assert user == {"username": bob, "groups": ["system:authenticated"]}
    grouped = api.post(
        f"{AUTHENTICATION}/selfsubjectreviews", review, headers={**headers, "Impersonate-Group": "system:masters"}
    )
    assert "cannot impersonate" in grouped.failed(403, "Forbidden")["message"]


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"Impersonate-Group": "system:masters"}, "impersonating the system:masters group is not allowed"),
        ({"Impersonate-Group": ""}, "impersonating the empty string group is not allowed"),
        ({"Impersonate-Extra-scope": "all"}, 'Invalid value: "scope": must be a domain-prefixed path'),
        ({"Impersonate-Extra-example.com%2fscope": ""}, "impersonating the empty string value in extra is not allowed"),
    ],
)
def test_constrained_impersonation_is_never_that_of_these_values(
    api: API, users: Users, headers: dict[str, str], why: str
):
    robot, bob = token_of(api, "robot"), users.name("bob")
    account = f"system:serviceaccount:{api.namespace}:robot"
    group = "authentication.k8s.io"
    role = users.role(
        users.name("as-all"),
        rule(["impersonate-on:user-info:list"], ["pods"]),
        rule(["impersonate:user-info"], ["users", "groups", "userextras/*", "userextras"], group),
        rule(["impersonate:user-info"], ["*"], group),
        kind="ClusterRole",
    )
    users.bind(role, a_user(account), role_kind="ClusterRole", kind="ClusterRoleBinding")
    users.wait_allowed(account, verb="impersonate:user-info", resource="groups", group=group)
    users.wait_allowed(account, verb="impersonate-on:user-info:list", resource="pods", namespace=api.namespace)
    refused = api.get(api.path("pods"), headers={**robot, "Impersonate-User": bob, **headers})
    assert why in refused.failed(403, "Forbidden")["message"]
    allowed = api.get(api.path("pods"), headers={**robot, "Impersonate-User": bob, "Impersonate-Group": "some"})
    assert f'User "{bob}" cannot list' in allowed.failed(403, "Forbidden")["message"]


# --- Writes that create a missing object ------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["patch", "update"])
def test_an_apply_or_update_that_creates_needs_the_verb_create(api: API, users: Users, verb: str):
    user, lease = users.name("writer"), api.path("leases", "a", version="coordination.k8s.io/v1")
    rules = [rule(["patch", "update"], ["leases"], "coordination.k8s.io")]
    users.grant(user, *rules, verb=verb, resource="leases", group="coordination.k8s.io")
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {}}

    def write() -> Any:
        if verb == "patch":
            return api.patch(lease, body, APPLY, headers=as_user(user), fieldManager="me")
        return api.put(lease, body, headers=as_user(user))

    refused = write().failed(403, "Forbidden")
    where = f'in API group "coordination.k8s.io" in the namespace "{api.namespace}"'
    assert refused["message"] == (
        f'leases.coordination.k8s.io "a" is forbidden: User "{user}" cannot create resource "leases" {where}'
    )
    api.get(lease).failed(404, "NotFound")
    made = api.post(api.path("leases", version="coordination.k8s.io/v1"), body).ok(201)
    if verb == "update":
        body["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    write().ok()
