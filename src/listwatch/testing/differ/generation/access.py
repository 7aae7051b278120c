"""Scenarios of authorization: requests of a user with a role, by impersonation, and access reviews."""

from __future__ import annotations

from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.scenarios import Request, Scenario

__all__ = ["access_scenarios"]

_CORE = "/api/v1/namespaces/{namespace}"
_ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
_REVIEWS = "/apis/authorization.k8s.io/v1"
_USER = "differ-user"  # that no other scenario binds
_AS_USER = {"Impersonate-User": _USER}
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"

_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*")
_ACTIONS = ("list", "get", "create", "update", "patch", "apply", "delete", "delete all", "watch", "status")
_SUBJECTS = ({"kind": "User", "name": _USER}, {"kind": "Group", "name": "system:authenticated"})
_RESOURCES = ("configmaps", "pods", "pods/status", "pods/*", "secrets", "*/scale", "widgets", "*")


@st.composite
def access_scenarios(draw: st.DrawFn) -> Scenario:
    rules: list[JSON] = [*draw(st.lists(_rules(), min_size=1, max_size=3))]
    # The last rule shows that a real server has read the role.
    rules.append({"apiGroups": ["probe"], "resources": ["probes"], "verbs": ["get"]})
    metadata: JSON = {"name": "a"}
    subject = draw(st.sampled_from(_SUBJECTS))
    binding: JSONObject = {
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
        "subjects": [{**subject, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    probe = _review("probe", "probes", "get")
    opening = (
        Request(method="POST", path=f"{_CORE}/configmaps", body={"metadata": {"name": "a"}}),
        Request(method="POST", path=f"{_ROLES}/roles", body={"metadata": metadata, "rules": rules}),
        Request(method="POST", path=f"{_ROLES}/rolebindings", body=binding),
        Request(method="POST", path=f"{_REVIEWS}/subjectaccessreviews", body=probe, until='"allowed":true'),
    )
    steps = st.one_of(_requests(), _requests(), _requests(), _reviews(), _escalations())
    return Scenario((*opening, *draw(st.lists(steps, min_size=4, max_size=10))))


@st.composite
def _rules(draw: st.DrawFn) -> JSONObject:
    groups = draw(st.sampled_from((("",), ("*",), ("", "apps"), ("differ.example.com",))))
    rule: JSONObject = {
        "apiGroups": [*groups],
        "resources": [*draw(st.lists(st.sampled_from(_RESOURCES), min_size=1, max_size=2, unique=True))],
        "verbs": [*draw(st.lists(st.sampled_from(_VERBS), min_size=1, max_size=3, unique=True))],
    }
    if draw(st.integers(0, 3)) == 0:
        rule["resourceNames"] = ["a"]
    return rule


def _review(group: str, resource: str, verb: str, **more: JSON) -> JSONObject:
    attributes: JSONObject = {"namespace": "{namespace}", "group": group, "resource": resource, "verb": verb, **more}
    return {"spec": {"user": _USER, "groups": ["system:authenticated"], "resourceAttributes": attributes}}


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    """Requests of the user, most of which are forbidden."""
    path = f"{_CORE}/{draw(st.sampled_from(('configmaps', 'configmaps', 'pods', 'secrets', 'unknowns')))}"
    if draw(st.integers(0, 6)) == 0:
        path = "/apis/differ.example.com/v1/namespaces/{namespace}/widgets"
    name = draw(st.sampled_from(("a", "b")))
    body: JSONObject = {"metadata": {"name": name}}
    headers = dict(_AS_USER)
    if draw(st.integers(0, 4)) == 0:
        headers["Impersonate-Group"] = draw(st.sampled_from(("system:masters", "developers")))
    match draw(st.sampled_from(_ACTIONS)):
        case "list":
            return Request(method="GET", path=path, headers=headers)
        case "get":
            return Request(method="GET", path=f"{path}/{name}", headers=headers)
        case "create":
            return Request(method="POST", path=path, body=body, headers=headers)
        case "update":
            return Request(method="PUT", path=f"{path}/{name}", body=body, headers=headers)
        case "patch":
            headers["Content-Type"] = _MERGE
            return Request(method="PATCH", path=f"{path}/{name}", body={}, headers=headers)
        case "apply":
            applied: JSON = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}
            query, headers = {"fieldManager": "me"}, {**headers, "Content-Type": _APPLY}
            return Request(
                method="PATCH", path=f"{_CORE}/configmaps/{name}", body=applied, headers=headers, query=query
            )
        case "delete":
            return Request(method="DELETE", path=f"{path}/{name}", headers=headers)
        case "delete all":
            return Request(method="DELETE", path=path, headers=headers)
        case "watch":
            query = {"watch": "true", "timeoutSeconds": "1", "fieldSelector": f"metadata.name={name}"}
            return Request(method="GET", path=path, query=query, headers=headers)
    return Request(method="GET", path=f"{path}/{name}/status", headers=headers)


@st.composite
def _reviews(draw: st.DrawFn) -> Request:
    verb, resource = draw(st.sampled_from(_VERBS)), draw(st.sampled_from(("configmaps", "pods", "deployments", "*")))
    group = draw(st.sampled_from(("", "apps", "*")))
    more: JSONObject = {}
    if draw(st.booleans()):
        more["name"] = draw(st.sampled_from(("a", "b")))
    if draw(st.integers(0, 3)) == 0:
        more["subresource"] = draw(st.sampled_from(("status", "scale", "log")))
    body = _review(group, resource, verb, **more)
    match draw(st.sampled_from(("subject", "local", "self", "empty"))):
        case "local":
            path = f"{_REVIEWS}/namespaces/{{namespace}}/localsubjectaccessreviews"
            return Request(method="POST", path=path, body={"metadata": {"namespace": "{namespace}"}, **body})
        case "self":
            spec = body["spec"]
            attributes = spec["resourceAttributes"] if isinstance(spec, dict) else {}
            body = {"spec": {"resourceAttributes": attributes}}
            return Request(method="POST", path=f"{_REVIEWS}/selfsubjectaccessreviews", body=body, headers=_AS_USER)
        case "empty":
            specs: tuple[JSON, ...] = ({}, {"user": _USER}, {"resourceAttributes": {}})
            body = {"spec": draw(st.sampled_from(specs))}
    return Request(method="POST", path=f"{_REVIEWS}/subjectaccessreviews", body=body)


@st.composite
def _escalations(draw: st.DrawFn) -> Request:
    """Roles and bindings that the user is not allowed to write, and impersonation of which the user has no right."""
    rules: JSON = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    role: JSON = {"metadata": {"name": "b"}, "rules": rules}
    if draw(st.booleans()):
        return Request(method="POST", path=f"{_ROLES}/roles", body=role, headers=_AS_USER)
    headers = draw(
        st.sampled_from(
            (
                {"Impersonate-Group": "developers"},
                {"Impersonate-Uid": "1"},
                {"Impersonate-User": "system:serviceaccount:{namespace}:default"},
                {"Impersonate-User": _USER, "Impersonate-Extra-scopes": "view"},
            )
        )
    )
    return Request(method="GET", path=f"{_CORE}/configmaps", headers=headers)
