"""Three processes share the ConfigMaps of an embedded server; each object is reconciled by one of them.

Run it as `python examples/12_sharded_controller.py`; it starts three replicas of itself.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import listwatch as lw
from listwatch.controller import Controller, Manager, Watch
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions

OBJECTS = 30


async def replica(config: lw.ClientConfig, name: str) -> None:
    """Write into each object of its shards which replica reconciled it."""

    async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
        item = context.get()
        if item is not None and item.data.get("replica") != name:
            data = {"replica": name, "token": str(context.fencing_token)}
            await context.client.core_v1.configmaps("default").patch(key.name, {"data": data})

    async with lw.ClientSet(config) as client:
        options = ShardingOptions(group="example", shards=12, identity=name)
        manager = Manager(client, namespace="default", shards=options)
        manager.add(Controller(reconcile, for_=Watch(ConfigMap, label_selector="app=example")))
        await manager.run()


async def main() -> None:
    async with APIServer(tls=True) as server, lw.ClientSet(server.config) as client:
        for number in range(OBJECTS):
            item = ConfigMap(metadata=lw.ObjectMeta(name=f"item-{number}", labels={"app": "example"}))
            await client.core_v1.configmaps("default").create(item)
        kubeconfig = Path(tempfile.mkdtemp()) / "kubeconfig"
        server.kubeconfig(kubeconfig)
        arguments = [sys.executable, __file__, str(kubeconfig)]
        processes = [await asyncio.create_subprocess_exec(*arguments, name) for name in ("a", "b", "c")]
        try:
            while True:
                items = await client.core_v1.configmaps("default").list(label_selector="app=example")
                owners = sorted({item.data.get("replica", "") for item in items})
                if owners == ["a", "b", "c"]:
                    break
                await asyncio.sleep(0.2)
            for owner in owners:
                print(f"{owner} reconciled {sum(item.data['replica'] == owner for item in items)} objects", flush=True)
        finally:
            for process in processes:
                process.terminate()
            await asyncio.gather(*(process.wait() for process in processes))
    print("all replicas have left")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        asyncio.run(replica(lw.load_config(kubeconfig=sys.argv[1]), sys.argv[2]))
    else:
        asyncio.run(main())
