"""The subprotocols of exec, attach and port-forward."""

import pytest

from listwatch.server.kubelet.channel_protocols import COMMANDS, PORTS, TRANSLATED, ChannelProtocol, Received, choose

V5 = TRANSLATED["v5.channel.k8s.io"]
V4 = COMMANDS["v4.channel.k8s.io"]
BASE64 = COMMANDS["v4.base64.channel.k8s.io"]


@pytest.mark.parametrize("protocol", [*COMMANDS.values(), *PORTS.values(), V5])
def test_what_is_encoded_can_be_decoded(protocol: ChannelProtocol):
    assert protocol.decode(protocol.encode(1, b"\0\xff")) == Received(1, b"\0\xff")
    assert protocol.decode(b"") is None


def test_only_the_newest_protocol_can_close_a_channel():
    assert V5.decode(b"\xff\0") == Received(0, is_close=True)
    assert V4.decode(b"\xff\0") == Received(255, b"\0")
    for invalid in (b"\xff", b"\xff\x00\x00", b"\xff\x05"):
        with pytest.raises(ValueError, match="exactly one channel"):
            V5.decode(invalid)


def test_invalid_base64_is_ignored():
    assert BASE64.encode(2, b"foo") == "2Zm9v"
    assert BASE64.decode("0Zm9v") == Received(0, b"foo")
    assert BASE64.decode("0Zm9") is None
    assert BASE64.decode("0ä") is None


def test_the_first_requested_protocol_that_is_served_is_chosen():
    assert choose(("x", "v4.base64.channel.k8s.io", "v4.channel.k8s.io"), COMMANDS) is BASE64
    assert choose((), COMMANDS) is COMMANDS[""]
    assert choose(("x",), COMMANDS) is None
    assert choose((), TRANSLATED) is None
