"""Generates scenarios: a few objects of one kind, and valid and invalid requests of every sort for them.

Some scenarios apply one object several times as several managers, others have quotas, limits and policies, or a user
with a role. They are hypothesis strategies: a seed always generates the same scenarios, and failing ones can be shrunk.
"""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.access import access_scenarios
from listwatch.testing.differ.generation.admission import admission_scenarios
from listwatch.testing.differ.generation.admission_samples import ADMISSION
from listwatch.testing.differ.generation.applies import apply_scenarios
from listwatch.testing.differ.generation.custom_samples import CUSTOM_KINDS, DEFINITIONS
from listwatch.testing.differ.generation.objects import objects, odd_values
from listwatch.testing.differ.generation.rare_options import rare_requests
from listwatch.testing.differ.generation.samples import KINDS, Kind
from listwatch.testing.differ.scenarios import Request, Scenario

__all__ = ["generate", "scenarios"]

MERGE, STRATEGIC, JSON_PATCH, APPLY = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
)
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def generate(count: int, *, seed: int) -> list[Scenario]:
    """Return scenarios with at least this many requests in total; the same ones for the same seed.

    The first one creates what the others need: custom resources, policies and priorities.
    """
    found = [Scenario((*DEFINITIONS, *ADMISSION), is_first=True)]
    batch = 0
    while sum(len(scenario.requests) for scenario in found) < count:
        found += [scenario for scenario in _batch(f"{seed} {batch}") if scenario not in found]
        batch += 1
    return found


def _batch(seed_text: str) -> list[Scenario]:
    """Return a few scenarios: in longer runs, hypothesis increasingly makes variants of earlier examples."""
    found: list[Scenario] = []

    @with_seed(seed_text)
    @settings(
        max_examples=12,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(*[scenarios()] * 6, *[apply_scenarios()] * 2, *[admission_scenarios()] * 2, access_scenarios()))
    def collect(scenario: Scenario) -> None:
        found.append(scenario)

    collect()
    return found[1:]  # the first is always the simplest one


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    kind = draw(st.sampled_from((*KINDS, *CUSTOM_KINDS, *CUSTOM_KINDS)))
    opening = [draw(creations(kind, valid=True)) for _ in range(draw(st.integers(1, 2)))]
    return Scenario((*opening, *draw(st.lists(_requests(kind), min_size=3, max_size=10))))


def _requests(kind: Kind) -> st.SearchStrategy[Request]:
    common = [creations(kind), updates(kind), patches(kind), reads(kind), lists(kind), deletions(kind)]
    rare = [watches(kind), collections(kind), malformed(kind), rare_requests(kind), rare_requests(kind)]
    if kind.subresources:
        common.append(subresources(kind))
    return st.one_of(*common, *common, *common, *rare)


# --- writes -----------------------------------------------------------------------------------------------------------


@st.composite
def write_options(draw: st.DrawFn) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, values in {
        "dryRun": ("All", "Some"),
        "fieldManager": ("me", "x" * 129),
        "fieldValidation": ("Strict", "Warn", "Ignore", "Loud"),
        "pretty": ("true",),
    }.items():
        if draw(st.integers(0, 7)) == 0:
            options[name] = draw(st.sampled_from(values))
    return options


@st.composite
def creations(draw: st.DrawFn, kind: Kind, *, valid: bool = False) -> Request:
    tree = draw(objects(kind, valid=valid))
    if valid:
        return Request(method="POST", path=kind.path, body=tree)
    if draw(st.integers(0, 7)) == 0 and isinstance(found := tree.get("metadata"), dict):
        found.pop("name", None)
        found["generateName"] = "generated-"
    return Request(method="POST", path=kind.path, body=tree, query=draw(write_options()), headers=draw(headers()))


@st.composite
def updates(draw: st.DrawFn, kind: Kind) -> Request:
    tree = draw(objects(kind))
    name = draw(st.sampled_from(kind.names))
    found = tree.get("metadata")
    if isinstance(found, dict):
        found["name"] = name if draw(st.integers(0, 15)) else "another"
        version = draw(st.sampled_from(("", "", "current", "current", "1", "x")))
        if version:
            found["resourceVersion"] = f"${{version {kind.plural}/{name}}}" if version == "current" else version
        if draw(st.integers(0, 15)) == 0:
            found["uid"] = draw(st.sampled_from((f"${{uid {kind.plural}/{name}}}", "other")))
    return Request(method="PUT", path=f"{kind.path}/{name}", body=tree, query=draw(write_options()))


@st.composite
def patches(draw: st.DrawFn, kind: Kind) -> Request:
    content_type = draw(st.sampled_from((MERGE, STRATEGIC, JSON_PATCH, APPLY)))
    options = draw(write_options())
    if content_type == JSON_PATCH:
        body: JSON = [*draw(st.lists(operations(kind), min_size=1, max_size=3))]
    else:
        body = draw(partial_objects(kind, whole=content_type == APPLY))
    if content_type == APPLY:
        if draw(st.integers(0, 9)):
            options["fieldManager"] = draw(st.sampled_from(("me", "you")))
        if draw(st.integers(0, 2)) == 0:
            options["force"] = draw(st.sampled_from(("true", "true", "maybe")))
    name = draw(st.sampled_from(kind.names))
    if isinstance(body, dict) and isinstance(found := body.get("metadata"), dict) and draw(st.integers(0, 15)):
        found["name"] = name
    path = f"{kind.path}/{name}"
    return Request(method="PATCH", path=path, body=body, query=options, headers={"Content-Type": content_type})


@st.composite
def partial_objects(draw: st.DrawFn, kind: Kind, *, whole: bool) -> JSONObject:
    tree: JSONObject = draw(objects(kind))
    if not whole:
        for name in ("apiVersion", "kind"):
            tree.pop(name, None)
    for name in list(tree):
        if name not in ("apiVersion", "kind") and draw(st.integers(0, 2)) == 0:
            del tree[name]
    return tree


@st.composite
def operations(draw: st.DrawFn, kind: Kind) -> JSONObject:
    paths = ["/metadata/labels", "/metadata/labels/app", "/metadata/name", "/nowhere/at/all", "/spec", "", "x"]
    paths += [f"/{name}" for name in kind.fields] + [f"/{name}/{key}" for name, key in _second_level(kind.fields)]
    operation = draw(st.sampled_from(("add", "replace", "remove", "test", "copy", "move", "leap")))
    found: JSONObject = {"op": operation, "path": draw(st.sampled_from(paths))}
    if operation in ("add", "replace", "test"):
        found["value"] = draw(odd_values)
    elif operation in ("copy", "move"):
        found["from"] = draw(st.sampled_from(paths))
    return found


def _second_level(fields: JSONObject) -> list[tuple[str, str]]:
    return [(name, key) for name, value in fields.items() if isinstance(value, dict) for key in value]


STATUSES: tuple[JSON, ...] = ({}, {"phase": "Running"}, {"conditions": [{"type": "Ready"}]}, {"x": 1})


@st.composite
def subresources(draw: st.DrawFn, kind: Kind) -> Request:
    name, subresource = draw(st.sampled_from(kind.names)), draw(st.sampled_from(kind.subresources))
    path = f"{kind.path}/{name}/{subresource}"
    if subresource == "eviction":
        body: JSONObject = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        return Request(method="POST", path=path, body=body, query=draw(write_options()))
    method = draw(st.sampled_from(("GET", "PUT", "PATCH")))
    if method == "GET":
        return Request(method=method, path=path)
    if subresource == "scale":
        body = {"spec": {"replicas": draw(st.sampled_from((0, 3, -1, "x", None)))}}
        if method == "PUT":
            body |= {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}}
    else:
        body = draw(objects(kind))
        body["status"] = draw(st.sampled_from(STATUSES))
        if isinstance(found := body.get("metadata"), dict):
            found["name"] = name
    content = {"Content-Type": MERGE} if method == "PATCH" else {}
    return Request(method=method, path=path, body=body, query=draw(write_options()), headers=content)


# --- reads ------------------------------------------------------------------------------------------------------------

# No early versions: whether a server has compacted them depends on its age.
BAD_VERSIONS = ("x", "-1")


def _versions(kind: Kind) -> tuple[str, ...]:
    return ("", "0", *BAD_VERSIONS, f"${{version {kind.plural}/a}}", f"${{version {kind.plural}/b}}")


@st.composite
def reads(draw: st.DrawFn, kind: Kind) -> Request:
    query = {}
    if draw(st.integers(0, 5)) == 0:
        query["resourceVersion"] = draw(st.sampled_from(("", "0", "1", "x")))
    if draw(st.integers(0, 5)) == 0:
        query["includeObject"] = draw(st.sampled_from(("None", "Metadata", "Object", "All")))
    path = f"{kind.path}/{draw(st.sampled_from((*kind.names, 'missing', 'Odd_Name')))}"
    return Request(method="GET", path=path, query=query, headers=draw(headers()))


@st.composite
def selections(draw: st.DrawFn, kind: Kind) -> dict[str, str]:
    query: dict[str, str] = {}
    labels = (
        "app=web",
        "app in (web,api)",
        "!tier",
        "tier notin (1)",
        "app",
        "app==web,tier=2",
        "app=",
        "a b",
        "x in ()",
        "=1",
    )
    fields = (
        "metadata.name=a",
        "metadata.name!=a",
        "metadata.namespace={namespace}",
        "spec.unheardOf=1",
        "metadata.name",
    )
    if draw(st.integers(0, 2)) == 0:
        query["labelSelector"] = draw(st.sampled_from(labels))
    if not kind.namespaced:
        query["labelSelector"] = ",".join(filter(None, ("scenario={namespace}", query.get("labelSelector"))))
    if draw(st.integers(0, 3)) == 0:
        query["fieldSelector"] = draw(st.sampled_from((*fields, *kind.field_selectors)))
    return query


@st.composite
def lists(draw: st.DrawFn, kind: Kind) -> Request:
    query = draw(selections(kind))
    if draw(st.integers(0, 2)) == 0:
        query["limit"] = draw(st.sampled_from(("1", "2", "0", "-1", "x")))
    if draw(st.integers(0, 4)) == 0:
        query["continue"] = draw(st.sampled_from((f"${{continue {kind.plural}}}", "nonsense")))
    if draw(st.integers(0, 3)) == 0:
        query["resourceVersion"] = draw(st.sampled_from(_versions(kind)))
    if draw(st.integers(0, 5)) == 0:
        query["resourceVersionMatch"] = draw(st.sampled_from(("Exact", "NotOlderThan", "Nearly")))
    if draw(st.integers(0, 5)) == 0:
        query["includeObject"] = draw(st.sampled_from(("None", "Metadata", "Object", "All")))
    return Request(method="GET", path=kind.path, query=query, headers=draw(headers()))


@st.composite
def watches(draw: st.DrawFn, kind: Kind) -> Request:
    """Watches that time out after a second; they are slow, and therefore rare."""
    query = {"watch": "true", "timeoutSeconds": "1", **draw(selections(kind))}
    if version := draw(st.sampled_from(_versions(kind))):
        query["resourceVersion"] = version
    if draw(st.integers(0, 3)) == 0:
        query |= {"sendInitialEvents": "true", "allowWatchBookmarks": draw(st.sampled_from(("true", "false")))}
        query |= draw(
            st.sampled_from(({}, {"resourceVersionMatch": "NotOlderThan"}, {"resourceVersionMatch": "Exact"}))
        )
    headers = {"Accept": TABLE} if draw(st.integers(0, 3)) == 0 else {}
    return Request(method="GET", path=kind.path, query=query, headers=headers)


# --- deletions and the rest -------------------------------------------------------------------------------------------


@st.composite
def deletions(draw: st.DrawFn, kind: Kind) -> Request:
    name = draw(st.sampled_from(kind.names))
    body: JSONObject | None = None
    if draw(st.booleans()):
        body = {}
        options: dict[str, tuple[JSON, ...]] = {
            "propagationPolicy": ("Foreground", "Background", "Orphan", "Upwards"),
            "gracePeriodSeconds": (0, 5, -1),
            "preconditions": ({"uid": f"${{uid {kind.plural}/{name}}}"}, {"uid": "other"}, {"resourceVersion": "1"}),
            "dryRun": (["All"], ["Some"]),
            "orphanDependents": (True,),
        }
        for field, values in options.items():
            if draw(st.integers(0, 3)) == 0:
                body[field] = draw(st.sampled_from(values))
    return Request(method="DELETE", path=f"{kind.path}/{name}", body=body)


@st.composite
def collections(draw: st.DrawFn, kind: Kind) -> Request:
    return Request(method="DELETE", path=kind.path, query=draw(selections(kind)))


@st.composite
def malformed(draw: st.DrawFn, kind: Kind) -> Request:
    """Requests for missing paths, with unsupported methods, and with undecodable bodies."""
    method = draw(st.sampled_from(("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")))
    path = draw(
        st.sampled_from(
            (
                kind.path,
                f"{kind.path}/a",
                f"{kind.path}/a/nothing",
                f"{kind.path}/a/status",
                f"{kind.path}s",
                "/apis/unknown.example.com/v1/things",
                "/api/v2/pods",
                "/nowhere",
            )
        )
    )
    body = draw(st.sampled_from(("", "{", "[]", "null", '{"kind":"Other","apiVersion":"v1"}', "a: b", "{}")))
    content_type = draw(
        st.sampled_from(("application/json", "application/yaml", "text/plain", "application/json-patch+json"))
    )
    if method == "GET":
        # All scenarios share the collections of cluster-scoped kinds.
        query = {} if kind.namespaced or path != kind.path else {"labelSelector": "scenario={namespace}"}
        return Request(method=method, path=path, headers=draw(headers()), query=query)
    return Request(method=method, path=path, body=body, headers={"Content-Type": content_type})


@st.composite
def headers(draw: st.DrawFn) -> dict[str, str]:
    if draw(st.integers(0, 4)):
        return {}
    partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    partial_list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    accepted = (
        TABLE,
        TABLE,
        f"{TABLE},application/json",
        partial,
        partial_list,
        "application/yaml",
        "*/*",
        "text/plain",
        f"text/plain,{partial},application/json",
    )
    return {"Accept": draw(st.sampled_from(accepted))}
