# pyright: strict
"""What type checkers know of custom resources: every field and argument, in every client, informer and controller."""

from datetime import datetime
from typing import Annotated, assert_type

from msgspec import Meta

import listwatch as lw
from listwatch import blocking
from listwatch.client import WatchEvent
from listwatch.models.meta_v1 import Condition
from listwatch.objects import ObjectList


class Engine(lw.Model):
    power: int = 100


class FleetSpec(lw.Model):
    region: str
    ships: Annotated[int, Meta(ge=1)] = 3
    cluster_ip: str | None = lw.field(default=None, name="clusterIP")
    load: lw.Quantity = lw.Quantity("1Gi")
    leaves_at: datetime | None = None
    engine: Engine = Engine()
    tags: list[str] = lw.field(default_factory=list[str])
    zone: str  # required fields may follow others


class FleetStatus(lw.Model):
    ready: int = 0
    conditions: list[Condition] = lw.field(default_factory=list[Condition])


class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
    spec: FleetSpec
    status: FleetStatus = FleetStatus()
    motto: str | None = lw.field(default=None, name="slogan")


def values() -> None:
    fleet = Fleet(metadata=lw.ObjectMeta(name="north"), spec=FleetSpec(region="eu", zone="a", engine=Engine(power=3)))
    assert_type(fleet.spec, FleetSpec)
    assert_type(fleet.spec.ships, int)
    assert_type(fleet.spec.cluster_ip, str | None)
    assert_type(fleet.spec.load + lw.Quantity(1), lw.Quantity)
    assert_type(fleet.spec.engine.power, int)
    assert_type(fleet.status.conditions, list[Condition])
    assert_type(fleet.motto, str | None)
    assert_type(fleet.copy(), Fleet)
    assert_type(Fleet.from_yaml(""), Fleet)
    Fleet(spec=fleet.spec, status=FleetStatus(ready=1), motto="forward")


async def clients(client: lw.ClientSet) -> None:
    fleets = client.resource(Fleet, namespace="sea")
    assert_type(fleets, lw.ResourceClient[Fleet])
    assert_type(await fleets.get("north"), Fleet)
    assert_type(await fleets.list(), ObjectList[Fleet])
    assert_type(await fleets.create(Fleet(spec=FleetSpec(region="eu", zone="a"))), Fleet)
    async for event in fleets.watch():
        assert_type(event, WatchEvent[Fleet])
    factory = lw.SharedInformerFactory(client)
    assert_type(factory.informer(Fleet).lister.get("sea/north").spec, FleetSpec)
    informer = lw.SharedIndexInformer(fleets, Fleet, indexers={"region": lambda fleet: [fleet.spec.region]})
    assert_type(informer, lw.SharedIndexInformer[Fleet])


async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[Fleet]) -> None:
    assert_type(context.get(), Fleet | None)
    assert_type(context.lister(Fleet).list(), list[Fleet])


def controllers() -> None:
    controller = lw.Controller(reconcile, for_=Fleet)
    assert_type(controller.get("sea/north"), Fleet | None)
    lw.Manager().add(controller)


def blocked(client: blocking.ClientSet) -> None:
    fleets = client.resource(Fleet, namespace="sea")
    assert_type(fleets.get("north"), Fleet)
    assert_type(blocking.SharedInformerFactory(client).informer(Fleet).lister.list(), list[Fleet])
