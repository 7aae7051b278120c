"""A controller for a custom resource, Bucket, with a finalizer for an external resource, and a status."""

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
"""The external buckets and their sizes; a cloud in a real program."""


class BucketReconciler:
    """Creates, reports and removes the external bucket of each Bucket object."""

    async def reconcile(self, key: lw.ObjectKey, context: lw.ReconcileContext[lw.Unstructured]) -> None:
        bucket = context.get()
        if bucket is None:
            return
        buckets = context.client.dynamic.resource("storage.example.com/v1", "Bucket", namespace=key.namespace)
        created = await finalize(buckets, bucket, FINALIZER, apply=self.create, cleanup=self.remove)
        if created is not None:
            await self.report(buckets, created)

    def create(self, bucket: lw.Unstructured) -> lw.Unstructured:
        size = bucket["spec"]["size"]
        if BUCKETS.get(bucket.uid) != size:
            BUCKETS[bucket.uid] = size
            print(f"{bucket.key} has {size} bytes", flush=True)
        return bucket

    def remove(self, bucket: lw.Unstructured) -> None:
        BUCKETS.pop(bucket.uid, None)
        print(f"{bucket.key} is removed", flush=True)

    async def report(self, buckets: lw.ResourceClient[lw.Unstructured], bucket: lw.Unstructured) -> None:
        bucket = bucket.copy()
        is_changed = set_condition(bucket, "Ready", True, reason="Made", generation=bucket.metadata.generation)
        if is_changed or bucket["status"].get("size") != bucket["spec"]["size"]:
            bucket["status"]["size"] = bucket["spec"]["size"]
            await buckets.update_status(bucket)


async def main() -> None:
    async with lw.DynamicClient(lw.load_config()) as client:
        definitions = client.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        with suppress(lw.errors.AlreadyExistsError):
            await definitions.create(lw.Unstructured(DEFINITION))
        await lw.wait_for(definitions, "buckets.storage.example.com", "condition=Established", timeout=30)
        # The controller itself changes the status: only changes of the spec are reconciled.
        watch = lw.Watch(("storage.example.com/v1", "Bucket"), when=generation_changed)
        manager = lw.Manager(client)
        manager.add(lw.Controller(BucketReconciler(), for_=watch, name="buckets"))
        await manager.run()
    print("stopped")


if __name__ == "__main__":
    asyncio.run(main())
