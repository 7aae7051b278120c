"""Words of messages."""

import pytest

from listwatch.wording import counted


@pytest.mark.parametrize(("number", "text"), [(0, "0 objects"), (1, "1 object"), (2, "2 objects")])
def test_only_one_thing_is_named_in_the_singular(number: int, text: str):
    assert counted(number, "object") == text
