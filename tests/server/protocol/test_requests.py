"""The query parameters of a URL, read as Kubernetes does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import BadRequestError
from listwatch.meta import ObjectKey
from listwatch.server.requests import APIRequest, Query, User
from listwatch.server.schema.registry import Registry

INT64 = range(-(2**63), 2**63)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("watch=true", True),
        ("watch=1", True),
        ("watch", True),
        ("watch=", True),
        ("watch=yes", True),
        ("watch=False", False),
        ("watch=0", False),
        ("watch=false&watch=true", False),
        ("", None),
        ("Watch=true", None),
    ],
)
def test_every_value_but_false_and_zero_is_true(text, expected):
    assert Query.parse(text).optional_flag("watch") is expected
    assert Query.parse(text).flag("watch") is bool(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a=b", "b"), ("a=b&a=c", "b"), ("a=b%3Dc+d%2Be", "b=c d+e"), ("x%20y=1&a=b=c", "b=c"), ("b=a", ""), ("a", "")],
)
def test_the_first_value_of_a_parameter_counts(text, expected):
    assert Query.parse(text).text("a") == expected


def test_all_values_of_a_parameter_are_kept_in_order():
    query = Query.parse("dryRun=All&x=1&dryRun=None")
    assert query.all("dryRun") == ("All", "None")
    assert query.all("y") == ()
    assert "x" in query
    assert "y" not in query


@pytest.mark.parametrize("pair", ["a=%zz", "a=%4", "%=1", "a=1;b=2"])
def test_a_malformed_pair_is_ignored(pair):
    query = Query.parse(f"{pair}&good=1")
    assert query == Query({"good": ["1"]})


@pytest.mark.parametrize(
    ("text", "expected"), [("5", 5), ("-1", -1), ("+7", 7), ("007", 7), (str(2**63 - 1), 2**63 - 1)]
)
def test_a_number_is_a_64_bit_integer(text, expected):
    assert Query({"limit": [text]}).number("limit") == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "invalid syntax"),
        ("x", "invalid syntax"),
        ("1.5", "invalid syntax"),
        (" 1", "invalid syntax"),
        ("٣", "invalid syntax"),
        (str(2**63), "value out of range"),
        ("9" * 5000, "value out of range"),
    ],
)
def test_an_invalid_number_is_a_bad_request(text, problem):
    with pytest.raises(BadRequestError) as caught:
        Query({"limit": [text]}).number("limit")
    assert caught.value.message == f'strconv.ParseInt: parsing "{text}": {problem}'


def test_an_absent_number_is_none():
    assert Query().number("limit") is None


def test_equal_queries_are_equal_and_hash_alike():
    assert Query.parse("a=1&b=2") == Query.parse("b=2&a=1") != Query.parse("a=1")
    assert hash(Query.parse("a=1&b=2")) == hash(Query.parse("b=2&a=1"))


@given(st.text())
def test_every_query_can_be_read(text):
    query = Query.parse(text)
    for name in ("watch", text):
        query.flag(name)
        try:
            number = query.number(name)
        except BadRequestError:
            continue
        assert number is None or number in INT64


def test_a_request_has_the_key_of_its_object():
    pods = Registry.builtin().lookup("", "v1", "pods")
    assert pods
    assert APIRequest("get", pods, namespace="default", name="web").key == ObjectKey("default", "web")


def test_the_body_of_a_request_is_not_shown():
    secrets = Registry.builtin().lookup("", "v1", "secrets")
    assert secrets
    request = APIRequest("create", secrets, body=b"hush", headers={"Authorization": "Bearer hush"}, user=User("ada"))
    assert "hush" not in repr(request)
