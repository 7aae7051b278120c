"""The messages of the WebSocket subprotocols, without a connection."""

import json

import pytest

from listwatch.client.pods.channels import (
    StatusReader,
    can_close_stdin,
    close_message,
    data_messages,
    resize_message,
)
from listwatch.errors import InternalServerError, ProtocolError

FAILED = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "message": "command terminated with non-zero exit code",
    "details": {"causes": [{"reason": "ExitCode", "message": "42"}]},
}


def reader(*pieces: bytes) -> StatusReader:
    made = StatusReader("exec x in pod p")
    for piece in pieces:
        made.feed(piece)
    return made


def test_input_is_cut_into_messages_of_at_most_32_kib():
    messages = [*data_messages(0, b"a" * 70_000)]
    assert [len(each) for each in messages] == [32769, 32769, 4465]
    assert {each[0] for each in messages} == {0}
    assert [*data_messages(0, b"")] == []


def test_closing_and_resizing_are_messages_of_the_protocol():
    assert close_message(0) == b"\xff\x00"
    assert resize_message(80, 24) == b'\x04{"Width":80,"Height":24}'
    assert can_close_stdin("v5.channel.k8s.io")
    assert not can_close_stdin("v4.channel.k8s.io")


def test_success_is_exit_code_zero():
    assert reader(b'{"metadata":{},"status":"Success"}').exit_code() == 0


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_status_may_arrive_in_any_pieces(cut: int):
    whole = json.dumps(FAILED).encode()
    found = reader(whole[:cut])
    assert not found.is_complete
    assert found.exit_code() is None
    found.feed(whole[cut:])
    assert found.exit_code() == 42


def test_a_command_that_could_not_start_raises_the_error_of_the_server():
    found = reader(b'{"status":"Failure","reason":"InternalError","message":"no such file","code":500}')
    assert found.is_complete
    with pytest.raises(InternalServerError, match="exec x in pod p: no such file"):
        found.exit_code()


@pytest.mark.parametrize("text", ["", "x", "-1", "1" * 10, "٣"])
def test_an_invalid_exit_code_is_an_error_of_the_protocol(text: str):
    status = FAILED | {"details": {"causes": [{"reason": "ExitCode", "message": text}]}}
    with pytest.raises(ProtocolError, match="no valid exit code"):
        reader(json.dumps(status).encode()).exit_code()


def test_text_that_is_no_status_is_kept_for_the_message():
    assert reader(b"some text").incomplete_text == "some text"


def test_a_status_without_end_is_refused():
    with pytest.raises(ProtocolError, match="too large"):
        reader(b'{"message": "', b"x" * 2**20).exit_code()
