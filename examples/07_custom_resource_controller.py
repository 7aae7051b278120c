"""A controller for a custom resource, Bucket, with a finalizer for an external resource, and a status."""

import asyncio
from contextlib import suppress

import listwatch as lw
from listwatch.controller import finalize, generation_changed, set_condition
from listwatch.generate import custom_resource_definitions
from listwatch.models.meta_v1 import Condition

FINALIZER = "storage.example.com/bucket"
BUCKETS: dict[str, int] = {}
"""The external buckets and their sizes; a cloud in a real program."""


class BucketSpec(lw.Model):
    """The desired state."""

    size: int


class BucketStatus(lw.Model):
    """The observed state."""

    size: int | None = None
    conditions: list[Condition] = lw.field(default_factory=list)


class Bucket(lw.CustomResource, group="storage.example.com", version="v1", kind="Bucket"):
    """A bucket of an object store."""

    spec: BucketSpec
    status: BucketStatus = BucketStatus()


class BucketReconciler:
    """Creates, reports and removes the external bucket of each Bucket object."""

    async def reconcile(self, key: lw.ObjectKey, context: lw.ReconcileContext[Bucket]) -> None:
        bucket = context.get()
        if bucket is None:
            return
        buckets = context.client.resource(Bucket, namespace=key.namespace)
        created = await finalize(buckets, bucket, FINALIZER, apply=self.create, cleanup=self.remove)
        if created is not None:
            await self.report(buckets, created)

    def create(self, bucket: Bucket) -> Bucket:
        if BUCKETS.get(bucket.uid) != bucket.spec.size:
            BUCKETS[bucket.uid] = bucket.spec.size
            print(f"{bucket.key} has {bucket.spec.size} bytes", flush=True)
        return bucket

    def remove(self, bucket: Bucket) -> None:
        BUCKETS.pop(bucket.uid, None)
        print(f"{bucket.key} is removed", flush=True)

    async def report(self, buckets: lw.ResourceClient[Bucket], bucket: Bucket) -> None:
        bucket = bucket.copy()
        is_changed = set_condition(bucket, "Ready", True, reason="Created", generation=bucket.metadata.generation)
        if is_changed or bucket.status.size != bucket.spec.size:
            bucket.status.size = bucket.spec.size
            await buckets.update_status(bucket)


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        definitions = client.apiextensions_v1.customresourcedefinitions()
        [definition] = custom_resource_definitions(Bucket)
        with suppress(lw.errors.AlreadyExistsError):
            await definitions.create(definition)
        await lw.wait_for(definitions, definition.name, "condition=Established", timeout=30)
        # The controller itself changes the status: only changes of the spec are reconciled.
        manager = lw.Manager(client)
        manager.add(lw.Controller(BucketReconciler(), for_=lw.Watch(Bucket, when=generation_changed), name="buckets"))
        await manager.run()
    print("stopped")


if __name__ == "__main__":
    asyncio.run(main())
