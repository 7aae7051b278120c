"""The splitter's soak test for a second; `make soak` runs it for minutes."""

from soak.splitter import SplitterRound


async def test_lists_and_streams_are_read_as_json_reads_them():
    outcome = await SplitterRound(1, seconds=1.0).run()
    assert outcome.failures == []
    assert outcome.writes > 0
