"""List the pods of all namespaces, then watch them and print `TYPE name`, until Ctrl-C."""

import asyncio

import listwatch as lw


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        pods = client.core_v1.pods()
        listed = await pods.list()
        for pod in listed:
            print(f"{pod.namespace}/{pod.name} on {pod.spec.node_name or 'no node yet'}")
        async for event in pods.watch(resource_version=listed.resource_version):
            print(f"{event.type} {event.object.name}", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")
