"""Webhooks of a custom resource: defaults, validation, and conversion between two versions.

Run it as `python examples/13_webhooks.py`; it starts an embedded API server that calls them.
"""

import asyncio

import listwatch as lw
from listwatch.errors import DeniedError, ForbiddenError
from listwatch.generate import custom_resource_definitions
from listwatch.server import APIServer


class FleetSpec(lw.Model):
    """What is wanted."""

    region: str | None = None
    ships: int = 1


@lw.crd(storage=True)
class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
    """A fleet of ships."""

    spec: FleetSpec


@lw.crd(storage=False, deprecated=True)
class OldFleet(lw.CustomResource, group="example.com", version="v1beta1", kind="Fleet"):
    """The first version."""

    size: str = "1 ships"


hooks = lw.Webhooks("fleets", port=0)


@hooks.mutate(Fleet)
def default_region(fleet: Fleet) -> None:
    fleet.spec.region = fleet.spec.region or "eu"


@hooks.validate(Fleet, operations=["UPDATE"])
def fixed_region(fleet: Fleet, request: lw.AdmissionRequest[Fleet]) -> None:
    if request.old is not None and request.old.spec.region != fleet.spec.region:
        raise DeniedError("spec.region cannot be changed")


@hooks.convert(OldFleet, Fleet)
def to_v1(old: OldFleet) -> Fleet:
    return Fleet(spec=FleetSpec(ships=int(old.size.split()[0])))


@hooks.convert(Fleet, OldFleet)
def to_v1beta1(fleet: Fleet) -> OldFleet:
    return OldFleet(size=f"{fleet.spec.ships} ships")


async def main() -> None:
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        [definition] = custom_resource_definitions(Fleet, OldFleet)
        await client.apiextensions_v1.customresourcedefinitions().create(definition)
        manager = lw.Manager(client)
        manager.add_webhooks(hooks)
        async with manager:
            await manager.wait_ready(timeout=30)
            fleets = client.resource(Fleet, namespace="default")
            fleet = await fleets.create({"metadata": {"name": "north"}, "spec": {"ships": 3}})
            print(f"created in {fleet.spec.region}")
            try:
                await fleets.patch("north", {"spec": {"region": "us"}})
            except ForbiddenError as error:
                print(error.message)
            old = await client.resource(OldFleet, namespace="default").get("north")
            print(f"in v1beta1 it has {old.size}")


if __name__ == "__main__":
    asyncio.run(main())
