"""Cache pods and print every change, in a program without an event loop."""

import threading

from listwatch import blocking
from listwatch.models.core_v1 import Pod


def on_add(pod: Pod) -> None:
    print(f"ADDED {pod.name}", flush=True)


def on_update(old: Pod, new: Pod) -> None:
    what = "MODIFIED" if old.resource_version != new.resource_version else "RESYNCED"
    print(f"{what} {new.name}", flush=True)


def on_delete(pod: Pod) -> None:
    print(f"DELETED {pod.name}", flush=True)


def main() -> None:
    with blocking.ClientSet() as client, blocking.SharedInformerFactory(client, resync=60.0) as factory:
        pods = factory.core_v1.pods
        # Handlers are called in a thread of their own, and may block.
        pods.informer.add_handler(on_add=on_add, on_update=on_update, on_delete=on_delete)
        factory.wait_for_sync(timeout=30)
        print(f"synced, with {len(pods.lister.list())} pods", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped")
