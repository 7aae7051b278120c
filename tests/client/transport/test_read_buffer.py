"""The sizes of network reads: large for one busy connection, small if many connections read at once."""

import asyncio

from listwatch.client.transport.connection import Connection
from listwatch.client.transport.read_buffer import SMALLEST_READ, ReadBuffer


def read(connection: Connection, size: int | None = None) -> int:
    """Receive some bytes, or as many as the buffer takes; return the size of the buffer."""
    part = connection.get_buffer(-1)
    connection._received(len(part) if size is None else size)
    return len(part)


async def next_iteration() -> None:
    await asyncio.sleep(0)


async def test_reads_that_fill_the_buffer_grow_up_to_a_limit():
    connection = Connection(asyncio.get_running_loop(), ReadBuffer(asyncio.get_running_loop()))
    sizes = []
    for _ in range(5):
        sizes.append(read(connection))
        await next_iteration()
    assert sizes == [SMALLEST_READ * factor for factor in (1, 2, 4, 4, 4)]


async def test_a_read_that_does_not_fill_the_buffer_is_followed_by_a_small_one():
    connection = Connection(asyncio.get_running_loop(), ReadBuffer(asyncio.get_running_loop()))
    read(connection)
    assert read(connection, 10) == 2 * SMALLEST_READ
    assert read(connection) == SMALLEST_READ


async def test_connections_that_read_in_one_iteration_share_the_limit():
    loop = asyncio.get_running_loop()
    buffer = ReadBuffer(loop)
    connections = [Connection(loop, buffer) for _ in range(2)]
    sizes = []
    for _ in range(4):
        sizes.append([read(each) for each in connections])
        await next_iteration()
    assert sizes[0] == [SMALLEST_READ] * 2
    assert sizes[-1] == [2 * SMALLEST_READ] * 2
    many = [Connection(loop, buffer) for _ in range(20)]
    for _ in range(4):
        sizes.append([read(each) for each in many])
        await next_iteration()
    assert sizes[-1] == [SMALLEST_READ] * 20
    for _ in range(4):
        sizes.append([read(connections[0])])
        await next_iteration()
    assert sizes[-1] == [4 * SMALLEST_READ]


async def test_memory_for_large_reads_is_allocated_when_the_first_one_follows():
    buffer = ReadBuffer(asyncio.get_running_loop())
    first = buffer.part(SMALLEST_READ)
    first[:4] = b"data"
    large = buffer.part(4 * SMALLEST_READ)
    assert (len(first.obj), len(large.obj)) == (SMALLEST_READ, 4 * SMALLEST_READ)
    assert bytes(first[:4]) == b"data"
    assert buffer.part(4 * SMALLEST_READ).obj is buffer.part(10).obj is large.obj
