"""Scenarios of admission: pods and claims within LimitRanges and quotas, priorities, and ConfigMaps under policies."""

from __future__ import annotations

from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.admission_samples import POLICIES, PRIORITIES
from listwatch.testing.differ.generation.samples import NAMES
from listwatch.testing.differ.scenarios import Request, Scenario

__all__ = ["admission_scenarios"]

_CORE = "/api/v1/namespaces/{namespace}"
_MERGE = {"Content-Type": "application/merge-patch+json"}
# For quotas, because the manager of their status depends on the controllers that run.
_AS_TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
_QUANTITIES = ("0", "100m", "0.5", "1", "2", "64Mi", "1Gi", "3Gi")


def admission_scenarios() -> st.SearchStrategy[Scenario]:
    return st.one_of(_limited(), _within_quotas(), _under_policies(), _with_priorities())


# --- LimitRanges ------------------------------------------------------------------------------------------------------


@st.composite
def _limited(draw: st.DrawFn) -> Scenario:
    limits: JSON = [*draw(st.lists(_limits(), min_size=1, max_size=3))]
    limit_range: JSON = {"metadata": {"name": "limits"}, "spec": {"limits": limits}}
    opening = Request(method="POST", path=f"{_CORE}/limitranges", body=limit_range)
    reads = st.just(Request(method="GET", path=f"{_CORE}/limitranges/limits"))
    steps = st.one_of(_pods(), _pods(), _pods(), _claims(), _pod_changes(), reads)
    return Scenario((opening, *draw(st.lists(steps, min_size=3, max_size=8))))


@st.composite
def _limits(draw: st.DrawFn) -> JSON:
    of = draw(st.sampled_from(("Container", "Container", "Pod", "PersistentVolumeClaim")))
    resources = ("storage",) if of == "PersistentVolumeClaim" else ("cpu", "memory")
    found: JSONObject = {"type": of}
    parts = ("min", "max") if of != "Container" else ("min", "max", "default", "defaultRequest")
    for part in parts:
        if draw(st.booleans()):
            found[part] = {name: draw(_quantity(name)) for name in resources if draw(st.booleans())}
    if draw(st.integers(0, 3)) == 0:
        found["maxLimitRequestRatio"] = {draw(st.sampled_from(resources)): draw(st.sampled_from(("1", "2", "1500m")))}
    return found


def _quantity(resource: str) -> st.SearchStrategy[str]:
    return st.sampled_from([each for each in _QUANTITIES if each.endswith("i") == (resource in ("memory", "storage"))])


# --- quotas -----------------------------------------------------------------------------------------------------------

_COUNTED = (
    "pods",
    "services",
    "configmaps",
    "secrets",
    "count/configmaps",
    "count/deployments.apps",
    "count/widgets.x",
)
_COMPUTE = ("requests.cpu", "limits.cpu", "requests.memory", "limits.memory", "cpu", "memory", "requests.storage")
_SCOPES: tuple[JSONObject, ...] = (
    {"scopes": ["BestEffort"]},
    {"scopes": ["NotBestEffort"]},
    {"scopes": ["Terminating"]},
    {"scopes": ["NotTerminating"]},
    {
        "scopeSelector": {
            "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["differ-high"]}]
        }
    },
)


@st.composite
def _within_quotas(draw: st.DrawFn) -> Scenario:
    names = draw(st.sampled_from((("one",), ("one", "two"))))
    requests = [request for name in names for request in draw(_quotas(name))]
    # Nothing fits into the last quota, which shows that a real server has read them all.
    requests += _quota_requests("probe", {"hard": {"count/endpoints": "0"}})
    body: JSON = {"metadata": {"name": "probe"}}
    query = {"dryRun": "All"}
    requests.append(Request(method="POST", path=f"{_CORE}/endpoints", query=query, body=body, until="quota: probe"))
    pods = _pods(generated=True)
    steps = st.one_of(pods, pods, pods, _claims(generated=True), _counted_objects(), _quota_reads())
    return Scenario((*requests, *draw(st.lists(steps, min_size=3, max_size=9))))


@st.composite
def _quotas(draw: st.DrawFn, name: str) -> list[Request]:
    spec: JSONObject = {}
    if draw(st.integers(0, 2)) == 0:
        spec = draw(st.sampled_from(_SCOPES))
    names = ("pods",) if spec else _COUNTED
    hard: JSONObject = {key: draw(st.sampled_from(("0", "1", "2"))) for key in names if draw(st.integers(0, 2)) == 0}
    if spec.get("scopes") != ["BestEffort"]:
        for key in _COMPUTE[: None if not spec else 4]:
            if draw(st.integers(0, 3)) == 0:
                hard[key] = draw(_quantity(key.rpartition(".")[2]))
    return _quota_requests(name, {"hard": hard or {"pods": "1"}, **spec})


def _quota_requests(name: str, spec: JSONObject) -> list[Request]:
    """A quota, and the status that a controller would write."""
    hard = spec["hard"]
    status: JSON = {"hard": hard, "used": dict.fromkeys(hard, "0") if isinstance(hard, dict) else {}}
    path = f"{_CORE}/resourcequotas"
    return [
        Request(method="POST", path=path, body={"metadata": {"name": name}, "spec": spec}),
        Request(
            method="PATCH",
            path=f"{path}/{name}/status",
            query={"includeObject": "None"},
            body={"status": status},
            headers=_MERGE | _AS_TABLE,
        ),
    ]


def _quota_reads() -> st.SearchStrategy[Request]:
    query = {"includeObject": "None"}
    return st.just(Request(method="GET", path=f"{_CORE}/resourcequotas", query=query, headers=_AS_TABLE))


_OBJECTS: tuple[tuple[str, JSONObject], ...] = (
    ("configmaps", {}),
    ("secrets", {}),
    ("services", {"spec": {"ports": [{"port": 80}], "type": "NodePort"}}),
    ("services", {"spec": {"ports": [{"port": 80}]}}),
)


@st.composite
def _counted_objects(draw: st.DrawFn) -> Request:
    plural, fields = draw(st.sampled_from(_OBJECTS))
    # No deletions: a controller would reduce what is used, and a real server has none here.
    body: JSONObject = {"metadata": _named(draw, generated=True), **fields}
    return Request(method="POST", path=f"{_CORE}/{plural}", body=body)


# --- pods and claims --------------------------------------------------------------------------------------------------


@st.composite
def _resources(draw: st.DrawFn) -> JSONObject:
    found: JSONObject = {}
    for part in ("requests", "limits"):
        if draw(st.booleans()):
            found[part] = {name: draw(_quantity(name)) for name in ("cpu", "memory") if draw(st.booleans())}
    return found


@st.composite
def _pods(draw: st.DrawFn, *, generated: bool = False) -> Request:
    containers: list[JSON] = [
        {"name": name, "image": "web:1", "resources": draw(_resources())}
        for name in draw(st.sampled_from((("web",), ("web", "side"))))
    ]
    spec: JSONObject = {"containers": containers}
    if draw(st.integers(0, 4)) == 0:
        spec["initContainers"] = [{"name": "init", "image": "init:1", "resources": draw(_resources())}]
    if draw(st.integers(0, 5)) == 0:
        spec["activeDeadlineSeconds"] = 60
    if draw(st.integers(0, 4)) == 0:
        spec["priorityClassName"] = draw(st.sampled_from(PRIORITIES))
    if draw(st.integers(0, 9)) == 0:
        spec["priority"] = draw(st.sampled_from((0, 1000)))
    body: JSON = {"metadata": _named(draw, generated=generated), "spec": spec}
    query = {"dryRun": "All"} if draw(st.integers(0, 7)) == 0 else {}
    return Request(method="POST", path=f"{_CORE}/pods", body=body, query=query)


def _named(draw: st.DrawFn, *, generated: bool) -> JSONObject:
    """A real server counts an object in its quotas also if another one has the name; generated names are unique."""
    return {"generateName": "generated-"} if generated else {"name": draw(st.sampled_from(NAMES))}


@st.composite
def _pod_changes(draw: st.DrawFn) -> Request:
    path = f"{_CORE}/pods/{draw(st.sampled_from(NAMES))}"
    how = draw(st.sampled_from(("label", "finish", "delete", "priority")))
    if how == "delete":
        return Request(method="DELETE", path=path, query={"gracePeriodSeconds": "0"})
    if how == "finish":
        return Request(method="PATCH", path=f"{path}/status", body={"status": {"phase": "Succeeded"}}, headers=_MERGE)
    bodies: dict[str, JSON] = {"label": {"metadata": {"labels": {"a": "b"}}}, "priority": {"spec": {"priority": 7}}}
    return Request(method="PATCH", path=path, body=bodies[how], headers=_MERGE)


@st.composite
def _claims(draw: st.DrawFn, *, generated: bool = False) -> Request:
    resources: JSON = {"requests": {"storage": draw(st.sampled_from(("64Mi", "1Gi", "3Gi")))}}
    body: JSON = {
        "metadata": _named(draw, generated=generated),
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources},
    }
    return Request(method="POST", path=f"{_CORE}/persistentvolumeclaims", body=body)


@st.composite
def _with_priorities(draw: st.DrawFn) -> Scenario:
    steps = st.one_of(_pods(), _pod_changes(), st.just(Request(method="GET", path=f"{_CORE}/pods")))
    opening: list[Request] = []
    for name in PRIORITIES:
        spec: JSON = {"containers": [{"name": "web", "image": "web:1"}], "priorityClassName": name}
        opening.append(Request(method="POST", path=f"{_CORE}/pods", body={"metadata": {"name": name}, "spec": spec}))
    return Scenario((draw(st.sampled_from(opening)), *draw(st.lists(steps, min_size=3, max_size=6))))


# --- policies ---------------------------------------------------------------------------------------------------------


@st.composite
def _under_policies(draw: st.DrawFn) -> Scenario:
    label = draw(st.sampled_from(POLICIES))
    return Scenario(tuple(draw(st.lists(_labelled(label), min_size=4, max_size=8))))


@st.composite
def _labelled(draw: st.DrawFn, label: str) -> Request:
    name = draw(st.sampled_from(("a", "b")))
    keys = draw(st.lists(st.sampled_from(("k1", "k2", "other")), unique=True, max_size=3))
    labels: JSONObject = {"policy": label}
    if draw(st.integers(0, 3)) == 0:
        labels["tier"] = "1"
    body: JSONObject = {"metadata": {"name": name, "labels": labels}}
    if keys:
        body["data"] = {key: draw(st.sampled_from(("x", "y"))) for key in keys}
    query = {"dryRun": "All"} if draw(st.integers(0, 4)) == 0 else {}
    path = f"{_CORE}/configmaps"
    how = draw(st.sampled_from(("POST", "POST", "PUT", "PATCH", "APPLY", "DELETE", "GET")))
    if how == "POST":
        return Request(method="POST", path=path, body=body, query=query)
    if how in ("DELETE", "GET"):
        return Request(method=how, path=f"{path}/{name}")
    if how == "APPLY":
        body |= {"apiVersion": "v1", "kind": "ConfigMap"}
        query |= {"fieldManager": "me", "force": "true"}
        headers = {"Content-Type": "application/apply-patch+yaml"}
        return Request(method="PATCH", path=f"{path}/{name}", body=body, query=query, headers=headers)
    return Request(method=how, path=f"{path}/{name}", body=body, query=query, headers=_MERGE if how == "PATCH" else {})
