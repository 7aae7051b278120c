"""Pages that are mapped in advance cause no page faults later."""

import mmap
import subprocess
import sys

import pytest

from listwatch.client.rest.heap_pages import _MADV_POPULATE_WRITE, _page_mapper

_PIECE, _PIECES, _SIZE = 2**18, 100, 4500

_PROGRAM = f"""
import resource, sys
from listwatch.client.rest.heap_pages import HeapPages
pages = HeapPages() if sys.argv[1] == "mapped" else None
kept, mapping = [], 0
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
started = faults()
for _ in range({_PIECES}):
    before = faults()
    if pages is not None:
        pages.expect({_PIECE})
    mapping += faults() - before
    kept += [bytes({_SIZE}) for _ in range({_PIECE} // {_SIZE})]
print(faults() - started - mapping)
"""


def faults(way: str) -> int:
    return int(subprocess.run([sys.executable, "-c", _PROGRAM, way], capture_output=True, check=True).stdout)


def test_objects_that_are_kept_cause_fewer_page_faults():
    if _page_mapper() is None:
        pytest.skip("only the heap of glibc is prepared")
    try:
        mmap.mmap(-1, mmap.PAGESIZE).madvise(_MADV_POPULATE_WRITE)
    except OSError:
        pytest.skip("this kernel cannot map pages in advance")
    by_access, mapped = faults("by access"), faults("mapped")
    assert by_access > _PIECES * _PIECE // mmap.PAGESIZE * 0.9
    assert mapped < by_access / 2
