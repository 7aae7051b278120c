"""The search for a text in bytes, which uses a function of the C library."""

from __future__ import annotations

import pytest

from listwatch.objects.json.byte_search import contains


@pytest.mark.parametrize(
    "text",
    [b"wanted", b"a wanted text", b"\0wanted", b"a\0b\0wanted\0", b"x" * 100_000 + b"\0" + b"y" * 100 + b"wanted"],
)
def test_a_text_is_found_also_after_a_nul(text: bytes) -> None:
    assert contains(text, b"wanted")


@pytest.mark.parametrize("text", [b"", b"\0", b"wante", b"wante\0d", b"want\0ed", b"anted"])
def test_a_text_that_is_not_there_is_not_found(text: bytes) -> None:
    assert not contains(text, b"wanted")
