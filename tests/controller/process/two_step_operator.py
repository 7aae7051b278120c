"""A program for `test_termination`: changes every ConfigMap in two steps, and prints at the end which ones.

Between the steps it waits until the ConfigMap `gate` is open.
"""

import asyncio
import json
import sys

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap


async def main(grace_period: float) -> None:
    async with lw.ClientSet(lw.load_config()) as client:
        maps = client.core_v1.configmaps("default")
        reported: list[str] = []

        async def reconcile(key: lw.ObjectKey) -> None:
            if key.name == "gate" or controller.get(key).data.get("step") == "2":
                return
            await maps.patch(key.name, {"data": {"step": "1"}})
            await lw.wait_for(maps, "gate", lambda gate: gate.data["open"] == "yes")
            await maps.patch(key.name, {"data": {"step": "2"}})
            reported.append(key.name)

        manager = lw.Manager(client, leader_election="two-steps", namespace="default", grace_period=grace_period)
        controller = manager.add(lw.Controller(reconcile, for_=ConfigMap, concurrency=4))
        await manager.run()
        interrupted = controller.statistics().interrupted
    print(json.dumps({"reported": sorted(reported), "interrupted": interrupted}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
