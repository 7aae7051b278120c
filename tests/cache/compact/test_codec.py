"""Objects are packed with a dictionary of their kind, and opened in any thread."""

from __future__ import annotations

import sys
import threading

import pytest
from tests.cache.compact.packed_pods import codec, pod, raw_pod

from listwatch.cache.compact.codec import Codec, number_of
from listwatch.cache.compact.dictionaries import Dictionary, train
from listwatch.cache.compact.entry import Instances
from listwatch.cache.compact.zstd import ZstdLibrary, _StandardLibrary, _Zstandard, find_library
from listwatch.errors import DecodeError
from listwatch.models.core_v1 import Pod


@pytest.fixture(params=[_Zstandard, _StandardLibrary], ids=["zstandard", "standard library"])
def library(request: pytest.FixtureRequest) -> ZstdLibrary:
    try:
        found: ZstdLibrary = request.param()
    except ImportError:
        pytest.skip("not installed")
    return found


def test_a_packed_object_is_much_smaller_and_opens_to_the_same_bytes(library: ZstdLibrary) -> None:
    packing = codec(library)
    raws = [raw_pod(number) for number in range(1000, 1050)]

    blobs = packing.pack_all(raws)

    assert sum(map(len, blobs)) < 0.3 * sum(map(len, raws))
    assert [packing.open(each) for each in blobs] == raws
    assert [packing.open(packing.pack(raw)) for raw in raws] == raws


def test_one_library_opens_what_another_has_packed() -> None:
    try:
        other = _StandardLibrary()
    except ImportError:
        pytest.skip("not installed")
    dictionary = train(_Zstandard(), [raw_pod(number) for number in range(300)])
    packing, opening = Codec(_Zstandard()), Codec(other)
    packing.add(dictionary)
    opening.add(dictionary)

    assert opening.open(packing.pack(raw_pod(7))) == raw_pod(7)
    assert packing.open(opening.pack(raw_pod(8))) == raw_pod(8)


def test_short_objects_and_those_that_do_not_get_smaller_are_kept_as_they_are() -> None:
    packing = codec()
    short, random = b'{"metadata":{"name":"a"}}', bytes(range(256)) * 2

    blobs = packing.pack_all([short, raw_pod(1), random[:300]])

    assert [number_of(each) for each in blobs] == [0, 1, 0]
    assert packing.open(blobs[0]) == short


def test_a_few_short_samples_are_a_dictionary_themselves() -> None:
    library = find_library()

    dictionary = train(library, [raw_pod(1), raw_pod(2)])

    assert not dictionary.is_trained
    packing = Codec(library)
    packing.add(dictionary)
    assert packing.open(packing.pack(raw_pod(3))) == raw_pod(3)
    assert len(packing.pack(raw_pod(3))) < 200


def test_blobs_of_an_earlier_dictionary_still_open() -> None:
    packing = codec()
    before = packing.pack(raw_pod(1))

    assert packing.library is not None
    packing.add(train(packing.library, [raw_pod(number, app="db") for number in range(300)]))

    assert number_of(packing.pack(raw_pod(1))) != number_of(before)
    assert packing.open(before) == raw_pod(1)


def test_a_dictionary_is_released_with_the_last_object_that_needs_it() -> None:
    packing = codec()
    assert packing.library is not None
    instances: Instances[Pod] = Instances(Pod, packing)
    (entry,) = instances.entries_of([pod(1)], packing.pack_all([raw_pod(1)]))
    others = [train(packing.library, [raw_pod(number, app=app) for number in range(300)]) for app in ("a", "b", "c")]
    for each in others[:2]:
        packing.add(each)
    assert [*packing.dictionaries] == [1, 2, 3]

    kept = instances.last_of(entry)
    del entry
    assert kept.spec.node_name == "node-1"
    assert [*packing.dictionaries] == [2, 3]

    packing.add(others[2])
    assert [*packing.dictionaries] == [3, 4]
    assert packing.open(packing.pack(raw_pod(1))) == raw_pod(1)


def test_a_dictionary_of_a_file_does_not_replace_one_that_is_added_meanwhile() -> None:
    packing = codec()
    assert packing.library is not None
    stored, trained = (
        train(packing.library, [raw_pod(number, app=app) for number in range(300)]) for app in ("stored", "trained")
    )

    class Adding(type(packing.library)):  # type: ignore[misc]  # the class of this installation
        def handle(self, content: bytes, *, is_trained: bool) -> object:
            if content == stored.content and packing.current == 1:
                packing.add(trained)  # as by a packer, while the file is read in another thread
            return super().handle(content, is_trained=is_trained)

    packing.library = Adding()

    assert not packing.restore(stored, 2)
    assert packing.dictionaries[2] == trained
    assert packing.restore(trained, 2)
    assert packing.restore(stored, 3)
    assert packing.open(packing.pack(raw_pod(1))) == raw_pod(1)


def test_objects_that_compress_much_worse_ask_for_another_dictionary() -> None:
    packing = codec()
    same = [raw_pod(number) for number in range(500)]
    for _ in range(20):
        packing.pack_all(same)
    assert not packing.has_worsened

    other = [b'{"metadata":{"name":"%d"},"data":"%s"}' % (number, b"%d" % 7919**200) for number in range(500)]
    for _ in range(20):
        packing.pack_all(other)

    assert packing.has_worsened


def test_a_damaged_blob_is_an_error_of_decoding() -> None:
    packing = codec()
    blob = packing.pack(raw_pod(1))

    with pytest.raises(DecodeError, match="damaged"):
        packing.open(blob[:2] + b"\0" * 20)
    with pytest.raises(DecodeError, match="dictionary"):
        packing.open(b"\x99\x00" + blob[2:])


class BlobOfFile:
    """A blob as a file has it, which another program may have written."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self) -> bytes:
        return self._content


CLAIMS_TEN_GIGABYTES = bytes.fromhex("28b52ffd e0") + (10 * 2**30).to_bytes(8, "little") + bytes.fromhex("010000")
CLAIMS_NOTHING = bytes.fromhex("28b52ffd 00 58 190000 616263")  # a frame with "abc", without its size


@pytest.mark.parametrize(
    "compressed",
    [CLAIMS_TEN_GIGABYTES, CLAIMS_NOTHING, b"", b"no frame"],
    ids=["ten gigabytes", "nothing", "empty", "no frame"],
)
def test_a_blob_of_a_file_that_may_need_any_amount_of_memory_is_not_decompressed(
    library: ZstdLibrary, compressed: bytes
) -> None:
    packing = codec(library)
    opened: list[bytes] = []
    number = packing.current

    def decompress(packed: bytes) -> bytes:
        opened.append(packed)
        return b""

    packing._of_thread.decompressors[number] = decompress

    with pytest.raises(DecodeError, match="its compressed bytes are damaged"):
        packing.open(BlobOfFile(number.to_bytes(2, "little") + compressed))
    assert opened == []


def test_blobs_of_all_libraries_claim_their_size(library: ZstdLibrary) -> None:
    packing = codec(library)
    raws = [raw_pod(number) for number in range(5)]

    assert [packing.open(BlobOfFile(blob)) for blob in packing.pack_all(raws)] == raws
    assert [packing.open(BlobOfFile(packing.pack(raw))) for raw in raws] == raws


@pytest.mark.parametrize("content", [b"", b"junk" * 10])
def test_a_dictionary_of_a_file_that_is_damaged_is_not_used(library: ZstdLibrary, content: bytes) -> None:
    packing = Codec(library)

    with pytest.raises(DecodeError, match="its dictionary is damaged"):
        packing.restore(Dictionary(content, is_trained=True, level=3, ratio=0.1), 1)
    assert packing.current == 0


def test_many_threads_pack_and_open_at_the_same_time(short_switch_interval: None) -> None:
    packing = codec()
    raws = [raw_pod(number) for number in range(200)]
    failures: list[str] = []

    def work() -> None:
        for _ in range(5):
            blobs = packing.pack_all(raws)
            failures.extend("differs" for raw, blob in zip(raws, blobs, strict=True) if packing.open(blob) != raw)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert failures == []
    assert packing.opened == 5 * 5 * 200


def test_a_thread_reads_the_dictionaries_while_others_are_added(short_switch_interval: None) -> None:
    packing = codec()
    (dictionary,) = packing.dictionaries.values()
    failures: list[RuntimeError] = []
    has_ended = threading.Event()

    def read() -> None:
        while not has_ended.is_set():
            try:
                assert len(packing.dictionaries) >= 1
            except RuntimeError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(1_000):
        packing.add(dictionary)
    has_ended.set()
    reader.join()

    assert failures == []


@pytest.fixture
def short_switch_interval():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
