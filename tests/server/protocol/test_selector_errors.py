"""Invalid selectors are reported as kube-apiserver reports them; the texts are compared in the contract tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import SelectorError
from listwatch.selectors import LabelSelector
from listwatch.server.protocol.selector_errors import field_selector_error, label_selector_error

TOKENS = st.sampled_from(
    ["a", "b", "in", "notin", "1", "-x", "x/y", "/", "é", "(", ")", ",", "=", "==", "!=", "!", "<", ">", " ", "9" * 30]
)


@given(st.lists(TOKENS, max_size=9).map("".join))
def test_a_label_selector_has_an_error_if_it_cannot_be_parsed(text: str):
    try:
        LabelSelector.parse(text)
    except SelectorError:
        assert label_selector_error(text)
    else:
        assert label_selector_error(text) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b=1", "field label not supported: a b"),
        ("=1", "field label not supported: "),
        ("a=1,b\\,c=2", "field label not supported: b\\,c"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_the_error_of_a_field_selector_names_what_is_wrong(text: str, message: str):
    assert field_selector_error(text) == message
