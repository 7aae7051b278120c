"""Label and field selectors: parsing, rendering, matching and error messages."""

import contextlib
import copy
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import SelectorError
from listwatch.selectors import (
    FieldRequirement,
    FieldSelector,
    LabelRequirement,
    LabelSelector,
    Operator,
    parse_field_selector,
    parse_label_selector,
)

# --- Labels: text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (" \t\r\n", ""),
        ("app", "app"),
        ("!app", "!app"),
        ("! app", "!app"),
        ("app=web", "app=web"),
        ("app == web", "app=web"),
        ("app != web", "app!=web"),
        ("app=", "app="),
        ("app!=,tier=", "app!=,tier="),
        ("app in (web, api),!legacy", "app in (api,web),!legacy"),
        ("app in(web)", "app in (web)"),
        ("app in (web,web)", "app in (web)"),
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
        ("x in (,)", "x in ()"),
        ("x in (a,)", "x in (,a)"),
        ("in in (in,notin),notin", "in in (in,notin),notin"),
        ("in=in", "in=in"),
        ("replicas>3,replicas<9", "replicas>3,replicas<9"),
        ("n > 007", "n>007"),
        ("z,a", "a,z"),
        ("b=2,a!=1,a=0", "a!=1,a=0,b=2"),
        ("example.com/My_Name.x=v", "example.com/My_Name.x=v"),
        (f"{'a' * 63}={'b' * 63}", f"{'a' * 63}={'b' * 63}"),
    ],
)
def test_a_label_selector_is_rendered_in_canonical_form(text: str, canonical: str):
    selector = LabelSelector.parse(text)
    assert str(selector) == canonical
    assert LabelSelector.parse(canonical) == selector


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        (",a", 0, "expected a label key or '!', found ','"),
        ("a,", 2, "expected a label key or '!', found the end"),
        ("a,,b", 2, "expected a label key or '!', found ','"),
        ("!", 1, "expected a label key, found the end"),
        ("!!a", 1, "expected a label key, found '!'"),
        ("!a=b", 2, "expected ',' or the end, found '='"),
        ("a b", 2, "expected an operator"),
        ("a=b c", 4, "expected ',' or the end, found 'c'"),
        ("a=(b)", 2, "expected a value, found '('"),
        ("a===b", 3, "expected a value, found '='"),
        ("a in", 4, "expected '(' before the values, found the end"),
        ("a in b", 5, "expected '(' before the values, found 'b'"),
        ("a in (b", 7, "expected ',' or ')' after a value, found the end"),
        ("a in (b c)", 8, "expected ',' or ')' after a value, found 'c'"),
        ("a in (b=c)", 7, "expected ',' or ')' after a value, found '='"),
        ("a in (b))", 8, "expected ',' or the end, found ')'"),
        ("a notin (=)", 9, "expected a value, found '='"),
        ("ok,a>x", 3, "'>' needs a 64-bit integer, not 'x'"),
        ("a<", 0, "'<' needs a 64-bit integer, not ''"),
        ("a>9223372036854775808", 0, "'>' needs a 64-bit integer"),
        ("ok, -a=b", 4, "'-a' is not a valid label key: it must consist of letters"),
        ("ok,a=b_", 3, "label 'a': 'b_' is not a valid value: it must consist of letters"),
        (f"a={'b' * 64}", 0, "it must have 1 to 63 characters, not 64"),
        (f"ok,{'a' * 64}", 3, "it must have 1 to 63 characters, not 64"),
        ("a/", 0, "'a/' is not a valid label key: its name must have 1 to 63 characters, not 0"),
        ("/a", 0, "the prefix before '/' must be a DNS subdomain"),
        ("Example.com/a", 0, "the prefix before '/' must be a DNS subdomain"),
        ("a..b/c", 0, "the prefix before '/' must be a DNS subdomain"),
        ("a/b/c", 0, "the prefix before '/' must be a DNS subdomain"),
        (f"{'a.' * 126}ab/c", 0, "at most 253 characters"),
        ("a=é", 0, "is not a valid value"),
        ("a=b\x00", 0, "is not a valid value"),
        ("a=\ud800", 0, "is not a valid value"),
        ("a\u00a0=b", 0, "is not a valid label key"),
    ],
)
def test_an_invalid_label_selector_names_the_part_and_the_reason(text: str, position: int, reason: str):
    with pytest.raises(SelectorError) as caught:
        LabelSelector.parse(text)
    assert f"at position {position}: " in str(caught.value)
    assert reason in str(caught.value)
    assert caught.value.text == text


def test_the_message_about_an_endless_selector_is_short():
    with pytest.raises(SelectorError) as caught:
        LabelSelector.parse("a=" + "b" * 1_000_000)
    assert len(str(caught.value)) < 500


# --- Labels: matching ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("", {"a": "b"}, True),
        ("a=b", {"a": "b", "c": "d"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a=", {"a": ""}, True),
        ("a=", {}, False),
        ("a!=b", {"a": "c"}, True),
        ("a!=b", {"a": "b"}, False),
        ("a!=b", {}, True),
        ("a in (b,c)", {"a": "c"}, True),
        ("a in (b,c)", {"a": "d"}, False),
        ("a in (b,c)", {}, False),
        ("a notin (b,c)", {"a": "d"}, True),
        ("a notin (b,c)", {"a": "c"}, False),
        ("a notin (b,c)", {}, True),
        ("a notin ()", {}, True),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("!a", {"a": ""}, False),
        ("a>3", {"a": "4"}, True),
        ("a>3", {"a": "3"}, False),
        ("a>3", {"a": "10"}, True),
        ("a<3", {"a": "-10"}, True),
        ("a<3", {"a": "+2"}, True),
        ("a<3", {"a": "3"}, False),
        ("a<3", {}, False),
        ("a<3", {"a": "x"}, False),
        ("a<3", {"a": ""}, False),
        ("a<3", {"a": "٢"}, False),
        ("a>3", {"a": "9223372036854775807"}, True),
        ("a>3", {"a": "9223372036854775808"}, False),
        ("a>3", {"a": "9" * 10_000}, False),
        ("a>9223372036854775807", {"a": "9223372036854775807"}, False),
        ("a=b,!c", {"a": "b"}, True),
        ("a=b,!c", {"a": "b", "c": "d"}, False),
        ("a=b,a=c", {"a": "b"}, False),
    ],
)
def test_a_label_selector_matches_as_kubernetes_does(text: str, labels: dict[str, str], expected: bool):
    assert LabelSelector.parse(text).matches(labels) is expected


def test_an_object_without_labels_may_have_none():
    assert LabelSelector.parse("!a,b!=c").matches(None)
    assert not LabelSelector.parse("a").matches(None)


def test_everything_selects_everything_and_nothing_selects_nothing():
    everything, nothing = LabelSelector.everything(), LabelSelector.nothing()
    assert everything.is_empty
    assert everything.matches({"a": "b"})
    assert not everything.is_nothing
    assert not nothing.is_empty
    assert nothing.is_nothing


@given(st.dictionaries(st.sampled_from(["nothing", "a"]), st.sampled_from(["", "b"])))
def test_nothing_selects_nothing_even_after_it_was_sent_as_text(labels: dict[str, str]):
    assert not LabelSelector.nothing().matches(labels)
    received = LabelSelector.parse(str(LabelSelector.nothing()))
    assert received.is_nothing
    assert not received.matches(labels)


# --- Labels: values --------------------------------------------------------------------------------------------------


def test_equal_label_selectors_are_one_key_in_any_order():
    one, other = LabelSelector.parse("a in (y,x),b"), LabelSelector.parse("b, a in (x,y)")
    assert one == other
    assert {one: 1}[other] == 1
    assert one != LabelSelector.parse("a in (x,y)")


def test_a_label_selector_cannot_be_changed():
    selector = LabelSelector.parse("a=b")
    with pytest.raises(AttributeError):
        selector.requirements = ()  # type: ignore[misc]  # that it is refused is the point


def test_a_label_selector_survives_copying_and_pickling():
    selector = LabelSelector.parse("a=b,c>3")
    for twin in (copy.deepcopy(selector), pickle.loads(pickle.dumps(selector))):
        assert twin == selector
        assert twin.matches({"a": "b", "c": "4"})


def test_a_selector_shows_its_text():
    assert repr(LabelSelector.parse("b,a")) == "LabelSelector('a,b')"
    assert repr(FieldSelector.parse("a=b")) == "FieldSelector('a=b')"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("", ""),
        ({}, ""),
        ("a=b", "a=b"),
        ({"b": "2", "a": ""}, "a=,b=2"),
        ({"a": ["y", "x"]}, "a in (x,y)"),
        ({"a": ("x",)}, "a in (x)"),
        ({"a": {"x"}}, "a in (x)"),
        ({"a": frozenset("x")}, "a in (x)"),
        ({"a": None}, "a"),
        (LabelSelector.parse("!a"), "!a"),
    ],
)
def test_a_label_selector_is_made_of_text_a_mapping_a_selector_or_none(value, text: str):
    assert str(parse_label_selector(value)) == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"a=b", "not b'a=b'"),
        (["a=b"], "a label selector must be a string, a mapping, a LabelSelector or None"),
        ({"a": 1}, "label 'a': expected a string"),
        ({"a": True}, "label 'a': expected a string"),
        ({"a": [1]}, "label 'a': the value must be a string, not 1"),
        ({"a": []}, "label 'a': IN does not take 0 values"),
        ({1: "a"}, "a label key must be a string, not 1"),
        ({"-": "a"}, "'-' is not a valid label key"),
        ({"a": "-"}, "label 'a': '-' is not a valid value"),
        ({"matchLabels": {"a": "b"}}, "use LabelSelector.from_dict for the structured form"),
    ],
)
def test_an_invalid_value_for_a_label_selector_is_rejected_by_name(value, reason: str):
    with pytest.raises(SelectorError) as caught:
        parse_label_selector(value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("operator", "values"),
    [
        (Operator.EXISTS, ("a",)),
        (Operator.DOES_NOT_EXIST, ("a",)),
        (Operator.EQUALS, ()),
        (Operator.EQUALS, ("a", "b")),
        (Operator.NOT_EQUALS, ("a", "b")),
        (Operator.GREATER_THAN, ("1", "2")),
        (Operator.IN, ()),
        (Operator.NOT_IN, ()),
    ],
)
def test_an_operator_takes_only_its_number_of_values(operator: Operator, values: tuple[str, ...]):
    with pytest.raises(SelectorError, match=f"{operator.name} does not take {len(values)} values"):
        LabelRequirement("a", operator, values)


# --- Labels: the API's own form --------------------------------------------------------------------------------------


def test_the_api_form_joins_labels_and_expressions():
    selector = LabelSelector.from_dict(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["b", "a"]},
                {"key": "env", "operator": "NotIn", "values": ["test"]},
                {"key": "owner", "operator": "Exists"},
                {"key": "legacy", "operator": "DoesNotExist", "values": []},
            ],
        }
    )
    assert str(selector) == "app=web,env notin (test),!legacy,owner,tier in (a,b)"


def test_in_the_api_form_none_selects_nothing_and_an_empty_one_everything():
    assert LabelSelector.from_dict(None).is_nothing
    assert LabelSelector.from_dict({}).is_empty
    assert LabelSelector.from_dict({"matchLabels": None, "matchExpressions": None}).is_empty


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (["a"], "label selector: it must not be ['a']"),
        ({"app": "web"}, "expected matchLabels and matchExpressions, not {'app'}"),
        ({"matchLabels": ["a"]}, "matchLabels must not be ['a']"),
        ({"matchLabels": {"a": 1}}, "label 'a': the value must be a string, not 1"),
        ({"matchExpressions": {"key": "a"}}, "matchExpressions must not be {'key': 'a'}"),
        ({"matchExpressions": ["a"]}, "matchExpressions[0] must not be 'a'"),
        ({"matchExpressions": [{"key": "a"}]}, "matchExpressions[0].operator must not be None"),
        (
            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]},
            "matchExpressions[0].operator must be",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": "b"}]},
            "[0].values must not be",
        ),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "label 'a': IN does not take 0 values"),
        ({"matchExpressions": [{"operator": "Exists"}]}, "is not a valid label key"),
        ({"matchExpressions": [{"key": None, "operator": "Exists"}]}, "a label key must be a string, not None"),
    ],
)
def test_a_mistake_in_the_api_form_names_its_place(selector, reason: str):
    with pytest.raises(SelectorError) as caught:
        LabelSelector.from_dict(selector)
    assert reason in str(caught.value)


# --- Labels: anything at all -----------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "in", "notin", "example.com/c"])
VALUES = st.sampled_from(["", "a", "b", "in", "3", "10", "-3", "x"])
LABELS = st.dictionaries(KEYS, VALUES)
NUMBERS = st.integers(0, 2**63 - 1).map(str)


def requirements() -> st.SearchStrategy[LabelRequirement]:
    def make(operators: list[Operator], values: st.SearchStrategy[list[str]]) -> st.SearchStrategy[LabelRequirement]:
        return st.builds(LabelRequirement, KEYS, st.sampled_from(operators), values.map(tuple))

    valid = VALUES.filter(lambda value: not value.startswith("-"))
    return st.one_of(
        make([Operator.EXISTS, Operator.DOES_NOT_EXIST], st.just([])),
        make([Operator.EQUALS, Operator.NOT_EQUALS], st.lists(valid, min_size=1, max_size=1)),
        make([Operator.IN, Operator.NOT_IN], st.lists(valid, min_size=1)),
        make([Operator.GREATER_THAN, Operator.LESS_THAN], st.lists(NUMBERS, min_size=1, max_size=1)),
    )


SELECTORS = st.lists(requirements(), max_size=4).map(lambda found: LabelSelector(tuple(found)))
TOKENS = st.sampled_from([*"=!<>(), \t", "==", "!=", " in ", " notin ", "a", "b/c", "-", "x" * 64, "1", "é", "\x00"])


def holds(requirement: LabelRequirement, labels: dict[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
        case Operator.EQUALS | Operator.IN:
            return value is not None and value in requirement.values
        case Operator.NOT_EQUALS | Operator.NOT_IN:
            return value is None or value not in requirement.values
    try:
        number, bound = int(value or ""), int(requirement.values[0])
    except ValueError:
        return False
    return number > bound if requirement.operator is Operator.GREATER_THAN else number < bound


@given(SELECTORS, LABELS)
def test_a_label_selector_matches_if_each_requirement_holds(selector: LabelSelector, labels: dict[str, str]):
    assert selector.matches(labels) is all(holds(each, labels) for each in selector.requirements)


@given(SELECTORS, st.lists(LABELS))
def test_matching_objects_are_selected_in_order(selector: LabelSelector, labels: list[dict[str, str]]):
    items = [SimpleNamespace(labels=each) for each in labels]
    assert selector.select(items) == [item for item in items if selector.matches(item.labels)]


@given(SELECTORS)
def test_a_label_selector_equals_its_parsed_text(selector: LabelSelector):
    assert LabelSelector.parse(str(selector)) == selector


@given(st.one_of(st.text(), st.lists(TOKENS).map("".join)))
def test_a_text_is_a_label_selector_or_a_selector_error(text: str):
    with contextlib.suppress(SelectorError):
        selector = LabelSelector.parse(text)
        assert LabelSelector.parse(str(selector)) == selector


# --- Fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (",,", ""),
        ("metadata.name=web-0", "metadata.name=web-0"),
        ("metadata.name==web-0", "metadata.name=web-0"),
        ("status.phase!=Running", "status.phase!=Running"),
        ("spec.nodeName=", "spec.nodeName="),
        ("b=2,,a=1,", "a=1,b=2"),
        ("a= b ", "a= b "),
        (r"a=x\,y", r"a=x\,y"),
        (r"a=x\=y\\", r"a=x\=y\\"),
        ("a=!b", "a=!b"),
        ("a=é", "a=é"),
    ],
)
def test_a_field_selector_is_rendered_in_canonical_form(text: str, canonical: str):
    selector = FieldSelector.parse(text)
    assert str(selector) == canonical
    assert FieldSelector.parse(canonical) == selector


def test_escapes_are_part_of_the_text_and_not_of_the_value():
    (requirement,) = FieldSelector.parse(r"a=x\,y\=z\\").requirements
    assert requirement == FieldRequirement("a", Operator.EQUALS, "x,y=z\\")


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("a", 0, "expected field=value or field!=value, found 'a'"),
        ("a=1,b,c=2", 4, "expected field=value or field!=value, found 'b'"),
        ("a in (b)", 0, "expected field=value or field!=value"),
        ("a=b=c", 3, r"write '=' in a value as '\='"),
        ("a!==b", 3, r"write '=' in a value as '\='"),
        (r"a=b\x", 3, r"'\' must be followed by"),
        ("ok=1,a=b\\", 8, r"'\' must be followed by"),
        ("=b", 0, "'' is not a valid field"),
        ("a=1, b=2", 4, "' b' is not a valid field: it must be a string without spaces"),
        ("a =1", 0, "'a ' is not a valid field"),
        ("a!b=1", 0, "'a!b' is not a valid field"),
        (r"a\,b=1", 0, "is not a valid field"),
        ("a=\ud800", 0, "field 'a': the value must be valid Unicode"),
        ("\udfff=a", 0, "is not a valid field"),
    ],
)
def test_an_invalid_field_selector_names_the_part_and_the_reason(text: str, position: int, reason: str):
    with pytest.raises(SelectorError) as caught:
        FieldSelector.parse(text)
    assert f"at position {position}: " in str(caught.value)
    assert reason in str(caught.value)
    assert caught.value.text == text


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a=", {}, True),
        ("a!=", {}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a=b,c!=d", {"a": "b", "c": "e"}, True),
        ("a=b,c!=d", {"a": "b", "c": "d"}, False),
    ],
)
def test_a_missing_field_has_the_empty_value(text: str, fields: dict[str, str], expected: bool):
    selector = FieldSelector.parse(text)
    assert selector.matches(fields) is expected
    assert selector.matches(fields.get) is expected


def test_a_function_is_called_only_with_the_selected_fields():
    read = []
    assert FieldSelector.parse("b=,a=").matches(lambda name: read.append(name))
    assert read == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("a=b", "a=b"),
        ({"b": "x,y", "a": ""}, r"a=,b=x\,y"),
        (FieldSelector.parse("a!=b"), "a!=b"),
    ],
)
def test_a_field_selector_is_made_of_text_a_mapping_a_selector_or_none(value, text: str):
    selector = parse_field_selector(value)
    assert str(selector) == text
    assert selector.is_empty is (text == "")


@pytest.mark.parametrize("value", [b"a=b", ["a=b"], {"a": 1}, {"a": None}, {1: "a"}, {"": "a"}, {"a=b": "c"}])
def test_an_invalid_value_for_a_field_selector_is_rejected(value):
    with pytest.raises(SelectorError):
        parse_field_selector(value)


def test_fields_know_two_operators():
    with pytest.raises(SelectorError, match="fields support only '=' and '!=', not IN"):
        FieldRequirement("a", Operator.IN, "b")


def test_equal_field_selectors_are_one_key():
    assert len({FieldSelector.parse("a=1,b=2"), FieldSelector.parse("b==2,a=1"), FieldSelector.parse("a=1")}) == 2


FIELD_NAMES = st.sampled_from(["a", "metadata.name", "é"])
FIELD_VALUES = st.text(st.one_of(st.sampled_from(r"\,=!"), st.characters(exclude_categories=["Cs"])))
FIELD_SELECTORS = st.lists(
    st.builds(FieldRequirement, FIELD_NAMES, st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]), FIELD_VALUES)
).map(lambda found: FieldSelector(tuple(found)))


@given(FIELD_SELECTORS)
def test_a_field_selector_equals_its_parsed_text(selector: FieldSelector):
    assert FieldSelector.parse(str(selector)) == selector


@given(FIELD_SELECTORS, st.dictionaries(FIELD_NAMES, FIELD_VALUES))
def test_a_field_selector_matches_if_each_requirement_holds(selector: FieldSelector, fields: dict[str, str]):
    wanted = [(fields.get(each.field, "") == each.value, each.operator) for each in selector.requirements]
    assert selector.matches(fields) is all(equal == (operator is Operator.EQUALS) for equal, operator in wanted)


@given(st.one_of(st.text(), st.text(r"a\,=! é")))
def test_a_text_is_a_field_selector_or_a_selector_error(text: str):
    with contextlib.suppress(SelectorError):
        selector = FieldSelector.parse(text)
        assert FieldSelector.parse(str(selector)) == selector
