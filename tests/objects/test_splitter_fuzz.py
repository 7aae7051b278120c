"""Lists and watch frames in any format, odd, cut and damaged: what is read equals what `json` reads."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak.splitter import check_frames, check_list

SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_a_list_is_read_as_json_reads_it_item_by_item(seed: int):
    check_list(Random(seed))


@given(SEEDS)
def test_a_stream_is_read_as_json_reads_it_frame_by_frame(seed: int):
    check_frames(Random(seed))


@pytest.mark.parametrize("seed", range(40))
def test_seeds_that_are_always_tried(seed: int):
    check_list(Random(seed))
    check_frames(Random(seed))
