"""Conversion webhooks over HTTPS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.controller.worlds import turns_until
from tests.webhooks.reviews import Caller, serving, write_certificate

import listwatch as lw
from listwatch.errors import DeniedError, UsageError
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.webhooks import CertificateFiles, Webhooks

Tree = dict[str, Any]
LOST = "example.com/flag"


class OldSpec(lw.Model):
    size: str = "1 ships"


class OldFleet(lw.CustomResource, group="example.com", version="v1alpha1", kind="Fleet"):
    spec: OldSpec = OldSpec()


class Spec(lw.Model):
    ships: int
    flag: str = ""


class Fleet(lw.CustomResource, group="example.com", version="v1beta1", kind="Fleet"):
    spec: Spec


class NewSpec(lw.Model):
    ship_count: int
    flag: str = ""


class NewFleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
    spec: NewSpec


def declared(folder: Path, *, is_async: bool = False) -> Webhooks:
    write_certificate(folder)
    hooks = Webhooks("fleets", certificates=CertificateFiles(folder), port=0, register=False)

    @hooks.convert(OldFleet, Fleet)
    def from_alpha(old: OldFleet) -> Fleet:
        if "many" in old.spec.size:
            raise DeniedError("many is no number")
        metadata = old.metadata
        flag = metadata.annotations.pop(LOST, "")
        return Fleet(metadata=metadata, spec=Spec(ships=int(old.spec.size.split()[0]), flag=flag))

    @hooks.convert(Fleet, OldFleet)
    def to_alpha(fleet: Fleet) -> OldFleet:
        converted = OldFleet(spec=OldSpec(size=f"{fleet.spec.ships} ships"))
        if fleet.spec.flag:
            converted.metadata.annotations = {**fleet.metadata.annotations, LOST: fleet.spec.flag}
        return converted

    if is_async:

        @hooks.convert(Fleet, NewFleet)
        async def to_v1_later(fleet: Fleet) -> NewFleet:
            return to_v1(fleet)
    else:

        @hooks.convert(Fleet, NewFleet)
        def to_v1_now(fleet: Fleet) -> NewFleet:
            return to_v1(fleet)

    @hooks.convert(NewFleet, Fleet)
    def from_v1(fleet: NewFleet) -> Fleet:
        return Fleet(spec=Spec(ships=fleet.spec.ship_count, flag=fleet.spec.flag))

    return hooks


def to_v1(fleet: Fleet) -> NewFleet:
    if fleet.spec.flag == "wrong":
        return fleet  # type: ignore[return-value]  # the mistake
    return NewFleet(spec=NewSpec(ship_count=fleet.spec.ships, flag=fleet.spec.flag))


@pytest.fixture(params=[False, True], ids=["plain", "async"])
async def caller(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Caller]:
    async with serving(declared(tmp_path, is_async=request.param)) as (_, caller):
        yield caller


def fleet(version: str, name: str, *, annotations: dict[str, str] | None = None, **spec: object) -> Tree:
    metadata: Tree = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "7",
        "labels": {"a": "b"},
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
        "unknown": {"kept": [1]},
    }
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": f"example.com/{version}", "kind": "Fleet", "metadata": metadata, "spec": spec}


def review(desired: str, *objects: object) -> Tree:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "0f1", "desiredAPIVersion": f"example.com/{desired}", "objects": [*objects]},
    }


async def converted(caller: Caller, desired: str, *objects: Tree) -> list[Tree]:
    response = await answer(caller, review(desired, *objects))
    assert response["result"] == {"status": "Success"}
    found: list[Tree] = response["convertedObjects"]
    return found


async def answer(caller: Caller, body: Tree) -> Tree:
    status, text = await caller.post("/convert", body)
    assert status == 200, text
    tree = json.loads(text)
    assert (tree["apiVersion"], tree["kind"]) == ("apiextensions.k8s.io/v1", "ConversionReview")
    assert tree["response"]["uid"] == "0f1"
    response: Tree = tree["response"]
    return response


async def test_objects_are_converted_through_the_hub_version_and_keep_their_metadata(caller: Caller):
    objects = [fleet("v1alpha1", f"f{n}", size=f"{n} ships") for n in range(20)]
    objects.append(fleet("v1", "same", shipCount=3))
    objects.append(fleet("v1beta1", "near", ships=4))
    expected = [fleet("v1", f"f{n}", shipCount=n, flag="") for n in range(20)]
    expected += [fleet("v1", "same", shipCount=3), fleet("v1", "near", shipCount=4, flag="")]
    assert await converted(caller, "v1", *objects) == expected


async def test_a_round_trip_keeps_what_a_version_lacks_in_an_annotation(caller: Caller):
    for others in (None, {"other": "1"}):
        sent = fleet("v1", "a", annotations=others, shipCount=3, flag="red")
        [old] = await converted(caller, "v1alpha1", sent)
        assert old["metadata"]["annotations"] == {**(others or {}), LOST: "red"}
        assert old["metadata"]["labels"] == {"a": "b"}
        assert await converted(caller, "v1", old) == [sent]


@pytest.mark.parametrize(
    ("desired", "objects", "why"),
    [
        (
            "v1",
            [fleet("v1alpha1", "a"), fleet("v1alpha1", "b", size="many")],
            "Fleet default/b cannot be converted to example.com/v1beta1: many is no number",
        ),
        (
            "v1",
            [fleet("v1alpha1", "a", size="three")],
            "Fleet default/a cannot be converted to example.com/v1beta1: from_alpha raised ValueError; see the log of "
            "the webhook",
        ),
        ("v1", [fleet("v1beta1", "a", ships="x")], "Fleet default/a: spec.ships: expected int, got str"),
        (
            "v2",
            [fleet("v1", "a", shipCount=1)],
            "there is no conversion of example.com/v1, Kind=Fleet to example.com/v2",
        ),
        ("v1", [{"apiVersion": "v1", "kind": "Pod"}], "there is no conversion of v1, Kind=Pod to example.com/v1"),
        ("v1", [3], "an object of the review cannot be read"),
        ("v1", [fleet("v1beta1", "a", ships=1, flag="wrong")], "returned a Fleet: expected a NewFleet"),
    ],
)
async def test_a_failure_names_the_object_and_fails_the_review(
    caller: Caller, desired: str, objects: list[object], why: str
):
    response = await answer(caller, review(desired, *objects))
    assert response["convertedObjects"] == []
    assert response["result"]["status"] == "Failure"
    assert why in response["result"]["message"]


async def test_the_timeout_is_that_of_all_objects_of_a_review_together(tmp_path: Path):
    write_certificate(tmp_path)
    hooks = Webhooks("fleets", certificates=CertificateFiles(tmp_path), port=0, register=False)
    clock, started = VirtualClock(), list[Fleet]()

    @hooks.convert(Fleet, NewFleet)
    async def to_v1_slowly(fleet: Fleet) -> NewFleet:
        started.append(fleet)
        await clock.sleep(20)
        return to_v1(fleet)

    @hooks.convert(NewFleet, Fleet)
    async def from_v1(fleet: NewFleet) -> Fleet:
        return Fleet(spec=Spec(ships=fleet.spec.ship_count))

    async with serving(hooks, clock=clock) as (_, caller):
        objects = [fleet("v1beta1", name, ships=1) for name in ("a", "b", "c")]
        asked = asyncio.create_task(answer(caller, review("v1", *objects)))
        await turns_until(lambda: len(started) == 1)
        await clock.advance(20)
        await turns_until(lambda: len(started) == 2)
        await clock.advance(10)
        assert (await asked)["result"]["message"] == "the conversion did not end within 30 s"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "the body is not a ConversionReview"),
        ({**review("v1"), "apiVersion": "apiextensions.k8s.io/v1beta1"}, "expected apiextensions.k8s.io/v1"),
        ({**review("v1"), "request": None}, "has no request"),
        ({**review("v1"), "request": {"uid": "1"}}, "the body is not a ConversionReview"),
    ],
)
async def test_bodies_that_are_no_reviews_are_refused(tmp_path: Path, body: object, why: str):
    async with serving(declared(tmp_path)) as (_, caller):
        status, text = await caller.post("/convert", body)
        assert (status, why in text) == (400, True)


def test_mistakes_in_a_declaration_are_errors(tmp_path: Path):
    hooks = Webhooks("fleets", certificates=CertificateFiles(tmp_path), register=False)

    @hooks.convert(OldFleet, NewFleet)
    def to_new(old: OldFleet) -> NewFleet:
        return NewFleet(spec=NewSpec(ship_count=1))

    class Other(lw.CustomResource, group="example.com", version="v2", kind="Other"): ...

    for mistake, why in (
        (lambda: hooks.convert(OldFleet, NewFleet)(to_new), "to_new already converts"),
        (lambda: hooks.convert(OldFleet, OldFleet)(to_new), "not two versions of one kind"),  # type: ignore[arg-type]  # the mistake
        (lambda: hooks.convert(OldFleet, Other)(to_new), "not two versions of one kind"),  # type: ignore[arg-type]  # the mistake
        (lambda: hooks.convert(Pod, NewFleet)(to_new), "expected a class of CustomResource"),  # type: ignore[type-var]  # the mistake
        (lambda: lw.Manager(None).add_webhooks(hooks), "cannot be converted from v1 to v1alpha1"),
    ):
        with pytest.raises(UsageError, match=why):
            mistake()
