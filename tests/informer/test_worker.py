"""The threads of packers and cache files."""

from __future__ import annotations

import threading
from weakref import ref

from listwatch.informer.packing.worker import SharedThread, ThreadWorker


class Result:
    """A large result."""


async def test_a_worker_does_not_keep_the_result_of_its_last_function() -> None:
    thread = SharedThread("worker")
    worker, other = ThreadWorker(thread), ThreadWorker(thread)

    result = await worker.run(Result)
    kept = ref(result)
    del result
    await other.run(int)  # the thread has forgotten the function before

    assert kept() is None
    await worker.close()
    await other.close()


async def test_workers_share_a_thread_until_the_last_one_is_closed() -> None:
    thread = SharedThread("worker")
    first, second = ThreadWorker(thread), ThreadWorker(thread)

    used = {await each.run(threading.current_thread) for each in (first, second)}
    await first.close()
    used.add(await second.run(threading.current_thread))

    assert len(used) == 1
    await second.close()
    assert not used.pop().is_alive()
    assert (await first.run(threading.current_thread)).is_alive()
    await first.close()
