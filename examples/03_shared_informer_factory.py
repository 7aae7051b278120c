"""Keep pods in a cache, print every change, and resync once a minute."""

import asyncio

import listwatch as lw
from listwatch.models.core_v1 import Pod


def on_add(pod: Pod) -> None:
    print(f"ADDED {pod.name}", flush=True)


def on_update(old: Pod, new: Pod) -> None:
    what = "MODIFIED" if old.resource_version != new.resource_version else "RESYNCED"
    print(f"{what} {new.name}", flush=True)


def on_delete(pod: Pod) -> None:
    print(f"DELETED {pod.name}", flush=True)


async def main() -> None:
    async with (
        lw.ClientSet(lw.load_config()) as client,
        lw.SharedInformerFactory(client, resync=60.0) as factory,
    ):
        pods = factory.core_v1.pods
        pods.informer.add_handler(on_add=on_add, on_update=on_update, on_delete=on_delete)
        await factory.wait_for_sync(timeout=30)
        print(f"synced, with {len(pods.lister.list())} pods", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")
