"""Define, list, watch and cache a custom resource, without a model of it: objects are mappings with typed metadata."""

import asyncio
from contextlib import suppress

import listwatch as lw

SPEC = {"type": "object", "properties": {"cronSpec": {"type": "string"}}}
VERSION = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "crontabs.stable.example.com"},
    "spec": {
        "group": "stable.example.com",
        "scope": "Namespaced",
        "names": {"plural": "crontabs", "kind": "CronTab", "shortNames": ["ct"]},
        "versions": [VERSION],
    },
}


async def define(dynamic: lw.DynamicClient) -> None:
    """Create the definition unless it exists, and return when it is served."""
    definitions = dynamic.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    with suppress(lw.errors.AlreadyExistsError):
        await definitions.create(lw.Unstructured(DEFINITION))
    await lw.wait_for(definitions, DEFINITION["metadata"]["name"], "condition=Established", timeout=30)


async def main() -> None:
    async with lw.DynamicClient(lw.load_config()) as dynamic:
        await define(dynamic)
        crontabs = dynamic.resource("stable.example.com/v1", "CronTab")
        listed = await crontabs.list()
        for crontab in listed:
            print(f"{crontab.namespace}/{crontab.name} runs at {crontab['spec']['cronSpec']}")

        async with lw.SharedInformerFactory(dynamic, resync=60.0) as factory:
            handle = factory.informer(("stable.example.com/v1", "CronTab"))
            handle.informer.add_handler(
                on_add=lambda item: print(f"ADDED {item.name}", flush=True),
                on_update=lambda old, new: print(f"MODIFIED {new.name}", flush=True),
                on_delete=lambda item: print(f"DELETED {item.name}", flush=True),
            )
            await factory.wait_for_sync(timeout=30)
            print(f"synced, with {len(handle.lister.list())} crontabs", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")
