"""One of several replicas counts in a ConfigMap; when it stops or fails, another one continues."""

import asyncio
import os

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap


async def count(config_maps: lw.ResourceClient[ConfigMap], name: str) -> None:
    """The work of the leader. It is cancelled when this replica loses leadership."""
    try:
        number = int((await config_maps.get("counter")).data["number"])
    except lw.errors.NotFoundError:
        number = 0
    while True:
        number += 1
        counter = {"metadata": {"name": "counter"}, "data": {"number": str(number), "by": name}}
        await config_maps.apply(counter, field_manager="counter", force=True)
        print(f"{name} counts {number}", flush=True)
        await asyncio.sleep(1)


async def main() -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        elector = lw.LeaderElector(
            client,
            name="counter",
            namespace="default",
            identity=os.environ.get("POD_NAME", ""),  # if this is empty, a unique name is generated
            retry_period=1.0,
            on_new_leader=lambda leader: print(f"{leader} leads", flush=True),
        )
        while True:
            try:
                async with elector.lead():
                    await count(client.core_v1.configmaps("default"), elector.identity)
            except lw.errors.LeadershipLostError as error:
                print(f"{error}; retrying", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("stopped")
