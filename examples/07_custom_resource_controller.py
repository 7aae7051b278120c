"""A controller for a custom resource, a Bucket: with a finalizer for what is outside of the cluster, and a status."""

import asyncio
from contextlib import suppress

import listwatch as lw
from listwatch.controller import finalize, generation_changed, set_condition

SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
VERSION = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "buckets.storage.example.com"},
    "spec": {
        "group": "storage.example.com",
        "scope": "Namespaced",
        "names": {"plural": "buckets", "kind": "Bucket"},
        "versions": [{**VERSION, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}
FINALIZER = "storage.example.com/bucket"
BUCKETS: dict[str, int] = {}
"""What is outside of the cluster: a cloud, in earnest."""


async def main() -> None:
    async with lw.DynamicClient(lw.load_config()) as client:
        definitions = client.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        with suppress(lw.errors.AlreadyExistsError):
            await definitions.create(lw.Unstructured(DEFINITION))
        await lw.wait_for(definitions, "buckets.storage.example.com", "condition=Established", timeout=30)
        buckets = client.resource("storage.example.com/v1", "Bucket")

        async def reconcile(key: lw.ObjectKey) -> None:
            bucket = controller.get(key)
            if bucket is not None:
                await finalize(buckets, bucket, FINALIZER, apply=make, cleanup=remove)

        async def make(bucket: lw.Unstructured) -> None:
            size = bucket["spec"]["size"]
            if BUCKETS.get(bucket.uid) != size:
                BUCKETS[bucket.uid] = size
                print(f"{bucket.key} has {size} bytes", flush=True)
            await report(bucket, size)

        async def remove(bucket: lw.Unstructured) -> None:
            BUCKETS.pop(bucket.uid, None)
            print(f"{bucket.key} is removed", flush=True)

        async def report(bucket: lw.Unstructured, size: int) -> None:
            bucket = bucket.copy()
            is_changed = set_condition(bucket, "Ready", True, reason="Made", generation=bucket.metadata.generation)
            if is_changed or bucket["status"].get("size") != size:
                bucket["status"]["size"] = size
                await buckets.namespace(bucket.namespace).update_status(bucket)

        # A change of the status alone is our own, and no reason to look again.
        watch = lw.Watch(("storage.example.com/v1", "Bucket"), when=generation_changed)
        manager = lw.Manager(client)
        controller = manager.add(lw.Controller(reconcile, for_=watch, name="buckets"))
        await manager.run()
    print("bye")


if __name__ == "__main__":
    asyncio.run(main())
