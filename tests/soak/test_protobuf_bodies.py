"""Damaged protobuf bodies for a second; `make soak` sends them for minutes, `make real` compares the responses."""

from soak.protobuf_bodies import ProtobufRound, bodies


async def test_damaged_bodies_are_errors_of_the_client_and_never_logged():
    outcome = await ProtobufRound(3, seconds=30.0, count=400).run()
    assert outcome.failures == []
    assert outcome.writes == 400


def test_bodies_are_reproducible_and_damaged_in_every_way():
    first = [*bodies(1, 200)]
    assert first == [*bodies(1, 200)]
    assert {each.damage for each in first} == {
        *("truncate", "extend", "change", "insert", "retype", "nest", "lengthen"),
    }
