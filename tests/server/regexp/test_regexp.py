"""Regular expressions in Go's syntax match what Python's match, where both have the same syntax."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.server.regexp.matching import Regexp, TooMuchWorkError
from listwatch.server.regexp.parsing import RegexpSyntaxError, parse


def matches(pattern: str, text: str) -> bool:
    return Regexp(parse(pattern)).search(text)


ATOMS = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", "[a-c-]", r"\d", r"\W", r"\b", r"\B", "^", r"\A", "()"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])).map(
            lambda parts: f"(?:{parts[0]}){parts[1]}"
        ),
    ),
    max_leaves=8,
)


@given(PATTERNS, st.sampled_from(["", r"\z"]), st.lists(st.text("ab-1_\n", min_size=1, max_size=8)))
def test_the_same_texts_match_as_in_python(pattern: str, end: str, texts: list[str]):
    # Not the empty text, at which Python does not match a \\B.
    expected = re.compile(f"(?:{pattern}){end}".replace(r"\z", r"\Z"), re.ASCII)
    found = Regexp(parse(f"(?:{pattern}){end}"))
    assert [found.search(text) for text in texts] == [bool(expected.search(text)) for text in texts]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a$", "a\n", False),
        ("(?m)a$", "a\nb", True),
        ("(?m)^b", "a\nb", True),
        ("(?i)^strasse$", "STRASSE", True),
        ("(?i)k", "\u212a", True),
        ("(?i)[^k]", "K", False),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        ("(?i:A)b", "aB", False),
        (r"^\pL+$", "aé中", True),
        (r"^\p{Greek}\P{Greek}$", "αa", True),
        (r"^\p{^Lu}$", "A", False),
        ("^[[:alpha:]_]+$", "ab_", True),
        ("^[[:^digit:]]$", "1", False),
        (r"^\Qa.b\E$", "a.b", True),
        (r"^\x41\x{1F600}\101$", "A😀A", True),
        (r"^\d$", "١", False),
        ("^a{,2}$", "a{,2}", True),
        ("^[]a]+$", "]a", True),
        (r"^(?P<year>\d{4})-(?<month>\d\d)$", "2024-01", True),
        ("", "", True),
    ],
)
def test_the_syntax_is_that_of_go(pattern: str, text: str, expected: bool):
    assert matches(pattern, text) is expected


@given(st.text("ab()[]{}*+?|\\^$.,-:<>P=!dpLxQE019 ", max_size=30))
def test_any_pattern_is_compiled_or_rejected(pattern: str):
    with suppress(RegexpSyntaxError, TooMuchWorkError):
        Regexp(parse(pattern)).search("ab 01")
