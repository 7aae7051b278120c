import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.client.transport.gzip_decoder import GzipDecoder


def read(decoder: GzipDecoder, *pieces: bytes) -> bytes:
    return b"".join(content for piece in pieces for content in decoder.feed(piece))


members = st.lists(st.binary(max_size=200), max_size=6)


@st.composite
def cut_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """What several members hold, and the stream of them in pieces that are cut anywhere."""
    contents = draw(members)
    stream = b"".join(gzip.compress(content, mtime=0) for content in contents)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    bounds = [0, *cuts, len(stream)]
    return b"".join(contents), [stream[a:b] for a, b in pairwise(bounds)]


@given(cut_streams())
def test_a_stream_of_members_is_read_wherever_it_is_cut(case: tuple[bytes, list[bytes]]):
    content, pieces = case
    decoder = GzipDecoder()
    assert read(decoder, *pieces) == content
    decoder.finish()


def test_a_flushed_member_is_decoded_before_the_rest_arrives():
    decoder = GzipDecoder()
    assert read(decoder, gzip.compress(b"first\n", mtime=0)) == b"first\n"
    assert read(decoder, gzip.compress(b"second\n", mtime=0)) == b"second\n"


def test_a_partly_flushed_member_is_decoded_up_to_the_flush():
    writer = zlib.compressobj(wbits=31)
    flushed = writer.compress(b"now") + writer.flush(zlib.Z_SYNC_FLUSH)
    assert read(GzipDecoder(), flushed) == b"now"


@given(st.binary(min_size=1, max_size=100), st.data())
def test_a_truncated_member_is_an_error(content: bytes, data: st.DataObject):
    stream = gzip.compress(b"whole", mtime=0) + gzip.compress(content)
    start = len(gzip.compress(b"whole", mtime=0))
    decoder = GzipDecoder()
    read(decoder, stream[: data.draw(st.integers(start + 1, len(stream) - 1))])
    with pytest.raises(EOFError, match="truncated"):
        decoder.finish()


def test_an_empty_body_is_valid():
    decoder = GzipDecoder()
    assert read(decoder, b"") == b""
    decoder.finish()


@pytest.mark.parametrize(
    "stream", [b"plain text", gzip.compress(b"good", mtime=0) + b"and then not", b"\x1f\x8b\x08" + b"\xff" * 40]
)
def test_data_that_is_not_gzip_is_an_error(stream: bytes):
    with pytest.raises(zlib.error):
        read(GzipDecoder(), stream)


def test_a_corrupt_member_is_an_error():
    stream = bytearray(gzip.compress(b"a content that is long enough to be damaged", mtime=0))
    stream[-8] ^= 0xFF  # in its checksum
    with pytest.raises(zlib.error):
        read(GzipDecoder(), bytes(stream))


@pytest.mark.parametrize("size", [2**18 - 1, 2**18, 2**18 + 1, 5 * 2**18])
@pytest.mark.parametrize("flush", [zlib.Z_SYNC_FLUSH, zlib.Z_FINISH])
def test_a_content_of_any_size_is_complete_when_it_was_flushed(size: int, flush: int):
    writer = zlib.compressobj(wbits=31)
    flushed = writer.compress(bytes(size)) + writer.flush(flush)
    contents = list(GzipDecoder().feed(flushed))
    assert sum(map(len, contents)) == size
    assert max(map(len, contents)) <= 2**18


def test_content_is_decompressed_as_it_is_read():
    stream = gzip.compress(bytes(2**26), mtime=0)
    decoder = GzipDecoder()
    contents = decoder.feed(stream)
    assert len(next(contents)) == 2**18
