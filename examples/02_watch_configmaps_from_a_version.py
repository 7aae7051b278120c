"""List the config maps of one namespace, then watch from the listed version: no event is missed or repeated."""

import asyncio

import listwatch as lw


async def main() -> None:
    config = lw.load_config()
    async with lw.ClientSet(config) as client:
        configmaps = client.core_v1.configmaps(config.namespace)
        listed = await configmaps.list()
        print(f"{len(listed)} config maps at version {listed.resource_version}")
        version = listed.resource_version
        while True:
            # A server ends every watch after some minutes; the last version seen is where the next one begins.
            async for event in configmaps.watch(resource_version=version, allow_watch_bookmarks=True):
                version = event.object.resource_version
                if event.type != "BOOKMARK":
                    print(f"{event.type} {event.object.name} has {sorted(event.object.data)}", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")
