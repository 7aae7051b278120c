# pyright: strict
"""Mistakes with custom resources: every statement of the functions is an error."""

from custom_resources import Fleet, FleetSpec

import listwatch as lw


def declarations() -> None:
    class NoKind(lw.CustomResource, group="example.com", version="v1"): ...

    class WithTuple(lw.CustomResource, gvk=("example.com", "v1", "Fleet")): ...

    class WithPlural(lw.CustomResource, group="example.com", version="v1", kind="Fleet", plural="fleets"): ...


def values(fleet: Fleet) -> None:
    Fleet()
    Fleet(spec=3)
    Fleet(spec=FleetSpec(region="eu", zone="a"), moto="forward")
    FleetSpec()
    FleetSpec("eu", zone="a")
    FleetSpec(region=3, zone="a")
    FleetSpec(region="eu", zone="a", shps=3)
    print(fleet.spec.regoin)
    print(fleet.sepc)
    fleet.spec = 3
    fleet.spec.ships = "3"
    fleet.sepc = fleet.spec


async def clients(client: lw.ClientSet, fleets: lw.ResourceClient[Fleet]) -> None:
    client.resource(FleetSpec)
    await fleets.create(FleetSpec(region="eu", zone="a"))
    print((await fleets.get("north")).spec.regoin)
    lw.SharedInformerFactory(client).informer(Fleet).informer.add_handler(on_add=lambda fleet: fleet.sepc)
