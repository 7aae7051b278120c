"""A bare loop over etcd's gRPC API with grpcio and the generated messages of aetcd, whose client is not used.

`python -m bench.etcd.grpc_loop URL PREFIX COUNT REVISION`
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial

import grpc.aio
import msgspec
from aetcd.rpc import rpc_pb2, rpc_pb2_grpc

from bench.etcd.measured import figures_of

PAGE = 5000
_OPTIONS = [("grpc.max_receive_message_length", -1)]


class Item(msgspec.Struct):
    """A value of about 980 bytes."""

    padding: str
    round: int


async def _list(target: str, prefix: bytes, count: int) -> None:
    values, store = msgspec.json.Decoder(Item), {}
    async with grpc.aio.insecure_channel(target, options=_OPTIONS) as channel:
        service = rpc_pb2_grpc.KVStub(channel)
        request = rpc_pb2.RangeRequest(key=prefix, range_end=_end(prefix), limit=PAGE)
        while True:
            page = await service.Range(request)
            for entry in page.kvs:
                store[entry.key] = values.decode(entry.value)
            if not page.more:
                break
            request.key = page.kvs[-1].key + b"\0"
            request.revision = request.revision or page.header.revision
    assert len(store) == count


async def _watch(target: str, prefix: bytes, count: int, revision: int) -> None:
    values, store, seen = msgspec.json.Decoder(Item), {}, 0
    create = rpc_pb2.WatchCreateRequest(key=prefix, range_end=_end(prefix), start_revision=revision + 1, fragment=True)
    async with grpc.aio.insecure_channel(target, options=_OPTIONS) as channel:
        stream = rpc_pb2_grpc.WatchStub(channel).Watch()
        await stream.write(rpc_pb2.WatchRequest(create_request=create))
        while seen < count:
            message = await stream.read()
            for event in message.events:
                store[event.kv.key] = values.decode(event.kv.value)
                seen += 1
        stream.cancel()


def _end(prefix: bytes) -> bytes:
    return prefix[:-1] + bytes([prefix[-1] + 1])


async def _main(url: str, prefix: str, count: int, revision: int) -> None:
    target, key = url.removeprefix("http://"), prefix.encode()
    listed, watched = partial(_list, target, key, count), partial(_watch, target, key, count, revision)
    print(json.dumps(await figures_of(count, listed, watched)))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
