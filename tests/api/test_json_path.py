"""JSONPath."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api.json_path import JSONPath
from listwatch.errors import MalformedError

TREE = {
    "metadata": {"annotations": {"example.com/owner": "me", "it's": "fine"}},
    "spec": {"containers": [{"name": "a", "image": "x", "ports": [1, 2]}, {"name": "b"}, {"name": "c", "image": "z"}]},
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "True", "count": 3, "good": True},
            {"type": "Other", "status": "False", "count": 5, "none": None},
        ],
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("{.status.phase}", ["Running"]),
        (".status.phase", ["Running"]),
        ("status.phase", ["Running"]),
        (" { .status.phase } ", ["Running"]),
        ("{$.status.phase}", ["Running"]),
        ("{['status']['phase']}", ["Running"]),
        (r"{.metadata.annotations.example\.com/owner}", ["me"]),
        ("{.metadata.annotations['example.com/owner']}", ["me"]),
        ('{.metadata.annotations["it\'s"]}', ["fine"]),
        ("{.spec.containers[0].name}", ["a"]),
        ("{.spec.containers[-1].name}", ["c"]),
        ("{.spec.containers[3].name}", []),
        ("{.spec.containers[1:].name}", ["b", "c"]),
        ("{.spec.containers[:-1].name}", ["a", "b"]),
        ("{.spec.containers[::2].name}", ["a", "c"]),
        ("{.spec.containers[*].image}", ["x", "z"]),
        ("{.spec.containers[*].ports[*]}", [1, 2]),
        ("{.metadata.annotations.*}", ["me", "fine"]),
        ("{..image}", ["x", "z"]),
        ('{.status.conditions[?(@.type=="Ready")].status}', ["True"]),
        ("{.status.conditions[?(@.type == 'Ready')].status}", ["True"]),
        ('{.status.conditions[?(@.type!="Ready")].status}', ["False"]),
        ("{.status.conditions[?(@.count>3)].type}", ["Other"]),
        ("{.status.conditions[?(@.count>=3)].type}", ["Ready", "Other"]),
        ("{.status.conditions[?(@.count<=4)].type}", ["Ready"]),
        ("{.status.conditions[?(@.good)].type}", ["Ready"]),
        ("{.status.conditions[?(@.good==true)].type}", ["Ready"]),
        ("{.status.conditions[?(@.none==null)].type}", ["Other"]),
        ("{.status.conditions[?(@.type>3)].type}", []),
        ("{.status.phase.deeper}", []),
        ("{.status.phase[0]}", []),
        ("{.nothing.at.all}", []),
        ("{}", [TREE]),
        (".", [TREE]),
    ],
)
def test_a_path_finds_its_values(path: str, found: list[Any]):
    assert JSONPath(path).find(TREE) == found


@pytest.mark.parametrize(
    "path",
    ["{.a b}", ".a[", ".a]", ".a[x]", "{.a", "{range .items[*]}", "{.a[?(@.b==c)]}", ".a[::0]", ".a[?(.b)]", "'a"],
)
def test_an_invalid_path_is_rejected(path: str):
    with pytest.raises(MalformedError, match="cannot read the JSONPath") as caught:
        JSONPath(path)
    assert caught.value.text in (path, "a b")


@given(st.text(max_size=40))
def test_any_string_is_a_path_or_rejected(text: str):
    with contextlib.suppress(MalformedError):
        JSONPath(text).find(TREE)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=3),
        max_leaves=10,
    )
)
def test_a_path_can_be_applied_to_any_json(tree: Any):
    for path in ("{.a.b}", "{.a[0]}", "{..a}", "{[*]}", "{.a[?(@.b>1)]}", "{[1:2]}"):
        assert isinstance(JSONPath(path).find(tree), list)
