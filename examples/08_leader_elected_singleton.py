"""Of many replicas one acts: it counts in a ConfigMap, and the next one goes on from there when it stops or fails."""

import asyncio
import os

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap


async def count(config_maps: lw.ResourceClient[ConfigMap], name: str) -> None:
    """What only one may do. It is cancelled when this replica leads no longer."""
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
            identity=os.environ.get("POD_NAME", ""),  # a name is made up if this is empty
            retry_period=1.0,
            on_new_leader=lambda leader: print(f"{leader} leads", flush=True),
        )
        while True:
            try:
                async with elector.lead():
                    await count(client.core_v1.configmaps("default"), elector.identity)
            except lw.errors.LeadershipLostError as error:
                print(f"{error}; standing for election again", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("bye")
