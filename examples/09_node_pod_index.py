"""Print the pods of every node, from an index that is kept synced."""

import asyncio

import listwatch as lw
from listwatch.models.core_v1 import Node, Pod


def node_of(pod: Pod) -> list[str]:
    return [pod.spec.node_name] if pod.spec.node_name else []


def node_key(pod: Pod) -> list[str]:
    """Reconcile the node of a changed pod."""
    return node_of(pod)


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:

        async def reconcile(key: lw.ObjectKey) -> None:
            pods = controller.indexer(Pod).by_index("node", key.name)
            names = ", ".join(sorted(str(pod.key) for pod in pods)) or "no pods"
            note = "" if controller.get(key) else " (deleted)"
            print(f"{key.name}{note}: {names}", flush=True)

        pods = lw.Watch(Pod, keys=node_key, indexers={"node": node_of})
        manager = lw.Manager(client)
        controller = manager.add(lw.Controller(reconcile, for_=Node, watches=[pods]))
        await manager.run()
    print("stopped")


if __name__ == "__main__":
    asyncio.run(main())
