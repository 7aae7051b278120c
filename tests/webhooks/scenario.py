"""A manager with webhooks on any API server: admission of two versions of a kind, and conversion between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import listwatch as lw
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import APIError, DeniedError, ForbiddenError, InternalServerError
from listwatch.generate import custom_resource_definitions
from listwatch.webhooks import AdmissionRequest, Webhooks


class FleetSpec(lw.Model):
    region: str | None = None
    ships: int = 1


@lw.crd(storage=True)
class Fleet(lw.CustomResource, group="webhooks.example.com", version="v1", kind="Fleet"):
    spec: FleetSpec


class OldSpec(lw.Model):
    region: str | None = None
    size: str = "1 ships"


@lw.crd(storage=False)
class OldFleet(lw.CustomResource, group="webhooks.example.com", version="v1beta1", kind="Fleet"):
    spec: OldSpec


def declared(*, only_v1: bool = False, **options: Any) -> Webhooks:
    """Declare webhooks; with `only_v1`, those of admission are not called for requests in v1beta1."""
    hooks = Webhooks("fleets", **{"port": 0, **options})
    conditions = {"v1": "request.requestKind.version == 'v1'"} if only_v1 else {}

    @hooks.mutate(Fleet, match_conditions=conditions)
    def default_region(fleet: Fleet, request: AdmissionRequest[Fleet]) -> None:
        fleet.spec.region = fleet.spec.region or "eu"
        fleet.metadata.annotations["example.com/created-by"] = request.user.name

    @hooks.validate(Fleet, operations=["CREATE", "UPDATE", "DELETE"], match_conditions=conditions)
    async def fixed_region(fleet: Fleet, request: AdmissionRequest[Fleet]) -> None:
        if request.operation == "DELETE" and "keep" in fleet.metadata.labels:
            raise DeniedError("it has the label keep", reason="Conflict", code=409)
        if request.operation == "UPDATE" and request.old and request.old.spec.region != fleet.spec.region:
            raise DeniedError("spec.region cannot be changed")
        if fleet.name == "probe":
            raise DeniedError("enforced")
        if fleet.name == "bug":
            raise ValueError("a secret")
        request.annotate("ships", str(fleet.spec.ships))

    @hooks.convert(OldFleet, Fleet)
    def to_v1(old: OldFleet) -> Fleet:
        return Fleet(spec=FleetSpec(region=old.spec.region, ships=int(old.spec.size.split()[0])))

    @hooks.convert(Fleet, OldFleet)
    def to_v1beta1(fleet: Fleet) -> OldFleet:
        return OldFleet(spec=OldSpec(region=fleet.spec.region, size=f"{fleet.spec.ships} ships"))

    return hooks


@asynccontextmanager
async def managed(client: ClientSet, hooks: Webhooks) -> AsyncIterator[lw.Manager]:
    """Run a manager, and yield when the API server calls its webhooks."""
    manager = lw.Manager(client)
    manager.add_webhooks(hooks)
    async with manager:
        await manager.wait_ready(timeout=60)
        await enforced(client)
        yield manager


async def enforced(client: ClientSet) -> None:
    """Wait until the API server has read the configurations."""
    fleets = client.resource(Fleet, namespace="default")
    async with asyncio.timeout(60):
        while True:
            try:
                await fleets.create(fleet("probe"), dry_run=True)
            except ForbiddenError:
                return
            except APIError:
                pass
            await asyncio.sleep(0.01)


def fleet(name: str, **spec: Any) -> Fleet:
    return Fleet(metadata=lw.ObjectMeta(name=name, namespace="default"), spec=FleetSpec(**spec))


async def define(client: ClientSet) -> None:
    definitions = client.apiextensions_v1.customresourcedefinitions()
    [definition] = custom_resource_definitions(OldFleet, Fleet)
    await definitions.create(definition)
    await lw.wait_for(definitions, definition.name, "condition=Established", timeout=30)


async def check_admission(client: ClientSet) -> None:
    """Check that requests are changed, rejected and failed as the functions say."""
    fleets = client.resource(Fleet, namespace="default")
    made = await fleets.create({**fleet("north", ships=3).to_dict(), "unknown": 1}, field_validation="Ignore")
    assert made.spec.region == "eu"
    assert made.metadata.annotations["example.com/created-by"]
    assert (await fleets.patch("north", {"spec": {"ships": 4}})).spec.ships == 4
    rejection = 'admission webhook "fixed-region.fleets.webhooks.example.com" denied the request: '
    with pytest.raises(ForbiddenError, match=f"{rejection}spec.region cannot be changed"):
        await fleets.patch("north", {"spec": {"region": "us"}})
    kept = await fleets.create({"metadata": {"name": "kept", "labels": {"keep": ""}}, "spec": {}})
    with pytest.raises(APIError, match=f"{rejection}it has the label keep") as raised:
        await fleets.delete(kept.name)
    assert (raised.value.status_code, raised.value.reason) == (409, "Conflict")
    await fleets.delete("north")
    with pytest.raises(InternalServerError, match="fixed_region raised ValueError; see the log of the webhook") as bug:
        await fleets.create(fleet("bug"))
    assert "a secret" not in str(bug.value)


async def check_conversion(client: ClientSet, *, admits_v1beta1: bool) -> None:
    """Check that objects can be read and written in both versions, and admitted in v1 whichever was requested."""
    fleets, old = client.resource(Fleet, namespace="default"), client.resource(OldFleet, namespace="default")
    await fleets.create(fleet("a", region="us", ships=5))
    found = await old.get("a")
    assert (found.spec.size, found.spec.region) == ("5 ships", "us")
    found.spec.size = "7 ships"
    await old.update(found)
    assert (await fleets.get("a")).spec.ships == 7
    for number in range(20):
        await old.create({"metadata": {"name": f"b-{number}"}, "spec": {"size": f"{number} ships"}})
    listed = {each.name: each for each in await fleets.list()}
    assert [listed[f"b-{number}"].spec.ships for number in range(20)] == [*range(20)]
    regions = {each.spec.region for name, each in listed.items() if name.startswith("b-")}
    assert regions == {"eu" if admits_v1beta1 else None}
    with pytest.raises(APIError, match="to_v1 raised ValueError"):
        await old.create({"metadata": {"name": "c"}, "spec": {"size": "many"}})
