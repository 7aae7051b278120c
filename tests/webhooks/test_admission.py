"""Admission webhooks: what functions get, what the API server gets, and what happens when either misbehaves."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.controller.worlds import turns_until
from tests.webhooks.reviews import Caller, Fleet, FleetSpec, fleet, review, serving, write_certificate

from listwatch.controller.manager import Manager
from listwatch.errors import DeniedError, ForbiddenError, InvalidError, NotFoundError, StatusCause, UsageError
from listwatch.metrics.samples import metrics_text, samples_of
from listwatch.models.autoscaling_v1 import Scale
from listwatch.models.core_v1 import Pod
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.clocks import VirtualClock
from listwatch.webhooks import AdmissionRequest, CertificateFiles, UserInfo, Webhooks, WebhookStatistics

SEEN: list[tuple[object, AdmissionRequest[Any]]] = []
STARTED: list[Fleet] = []
RELEASE = threading.Event()


def declared(folder: Path, **options: Any) -> Webhooks:
    write_certificate(folder)
    options = {"port": 0, "register": False, **options}
    hooks = Webhooks("fleets", certificates=CertificateFiles(folder), **options)

    @hooks.mutate(Fleet, name="mutate.fleets.example.com")
    def default_region(obj: Fleet, request: AdmissionRequest[Fleet]) -> None:
        obj.spec.region = obj.spec.region or "eu"
        obj.metadata.labels["seen"] = request.user.name

    @hooks.mutate(Fleet)
    def another(obj: Fleet) -> Fleet:
        changed = obj.copy()
        changed.spec.ships += 1
        return changed

    @hooks.validate(Fleet, operations=["CREATE", "UPDATE", "DELETE"])
    async def look(obj: Fleet, request: AdmissionRequest[Fleet]) -> None:
        SEEN.append((obj, request))
        request.warn("ships rust")
        request.annotate("ships", str(obj.spec.ships))

    errors: dict[str, BaseException] = {
        "denied": DeniedError("too many ships"),
        "special": DeniedError("full", reason="Full", code=409, causes=[StatusCause(message="no", field="spec.ships")]),
        "invalid": InvalidError.of("Fleet", "north", [StatusCause(message="no", field="spec.region")]),
        "forbidden": ForbiddenError("not you"),
        "request": NotFoundError("secrets top-secret not found", doing="GET /api/v1/secrets"),
        "bug": ValueError("the password is 1234"),
        "slow": TimeoutError("of a request of its own"),
        "exit": SystemExit(3),
    }

    @hooks.validate(Fleet)
    def fail(obj: Fleet) -> None:
        raise errors[obj.spec.region]

    @hooks.validate(Fleet)
    async def fail_async(obj: Fleet) -> None:
        raise errors[obj.spec.region]

    @hooks.validate(Fleet)
    def wrong(obj: Fleet) -> bool:
        return obj.spec.region == "eu"

    @hooks.validate(Fleet, timeout=2)
    async def hang(obj: Fleet) -> None:
        STARTED.append(obj)
        await asyncio.Event().wait()

    @hooks.validate(Fleet, timeout=3)
    def hang_in_thread(obj: Fleet) -> None:
        STARTED.append(obj)
        RELEASE.wait()

    @hooks.validate("pods/exec", operations=["CONNECT"])
    def commands(obj: Unstructured, request: AdmissionRequest[Unstructured]) -> None:
        raise DeniedError(f"{obj['command']} {request.operation} {request.subresource}")

    @hooks.validate(Scale, resource="fleets.example.com/scale", name="scales.example.com.hooks")
    def scales(obj: Scale) -> None:
        raise DeniedError(str(obj.spec.replicas))

    return hooks


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    SEEN.clear()
    async with serving(declared(tmp_path, max_body=200_000)) as (_, caller):
        yield caller


def path(function: str, action: str = "validate") -> str:
    return f"/{action}/{function}.fleets.example.com"


async def test_a_mutating_function_changes_the_object_in_place_or_returns_another(caller: Caller):
    sent = {**fleet(ships=3, unknown={"kept": True}), "other": 1}
    assert (await caller.post(path("mutate", "mutate"), review(sent))).patch == [
        {"op": "add", "path": "/metadata/labels", "value": {"seen": "jane"}},
        {"op": "add", "path": "/spec/region", "value": "eu"},
    ]
    changed = await caller.post(path("another", "mutate"), review(sent))
    assert changed.patch == [{"op": "replace", "path": "/spec/ships", "value": 4}]
    unchanged = fleet(region="us")
    unchanged["metadata"]["labels"] = {"seen": "jane"}
    assert (await caller.post(path("mutate", "mutate"), review(unchanged))).patch == []


async def test_a_function_gets_the_typed_object_the_old_one_and_the_request(caller: Caller):
    new, old = fleet(ships=3), fleet(ships=2)
    reply = await caller.post(path("look"), review(new, old, dryRun=True, subResource="status"))
    assert reply.response == {
        "uid": "0f1",
        "allowed": True,
        "warnings": ["ships rust"],
        "auditAnnotations": {"ships": "3"},
    }
    [(obj, request)] = SEEN
    assert isinstance(obj, Fleet)
    assert obj.spec == FleetSpec(ships=3)
    assert request.old is not None
    assert request.old.spec.ships == 2
    assert (request.operation, request.dry_run, request.subresource) == ("UPDATE", True, "status")
    assert request.user == UserInfo("jane", "", ("sailors",), {"scopes": ("all",)})
    assert request.options["kind"] == "CreateOptions"
    assert (str(request.kind), request.resource.resource) == ("example.com/v1, Kind=Fleet", "fleets")


async def test_the_object_of_a_deletion_is_the_stored_one(caller: Caller):
    assert (await caller.post(path("look"), review(None, fleet(ships=2)))).response["allowed"] is True
    [(obj, request)] = SEEN
    assert (obj, request.operation) == (request.old, "DELETE")
    assert (await caller.post(path("another", "mutate"), review(None, fleet(ships=2)))).patch == []


@pytest.mark.parametrize("function", ["fail", "fail-async"])
async def test_errors_of_functions_become_rejections_or_failures(caller: Caller, function: str):
    async def status_of(region: str) -> Any:
        response = (await caller.post(path(function), review(fleet(region=region)))).response
        assert response["allowed"] is False
        return response["status"]

    denied = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure"}
    assert await status_of("denied") == {**denied, "message": "too many ships", "reason": "Forbidden", "code": 403}
    causes = {"causes": [{"message": "no", "field": "spec.ships"}]}
    assert await status_of("special") == {**denied, "message": "full", "reason": "Full", "code": 409, "details": causes}
    assert (await status_of("invalid"))["message"] == 'Fleet "north" is invalid: spec.region: no'
    assert (await status_of("forbidden"))["code"] == 403
    # A bug, and a failed request of the function itself: the failure policy decides.
    raised = {"request": "NotFoundError", "bug": "ValueError", "slow": "TimeoutError", "exit": "RuntimeError"}
    for region, error in raised.items():
        reply = await caller.post(path(function), review(fleet(region=region)))
        name = function.replace("-", "_")
        why = f"{name} raised {error}; see the log of the webhook"
        assert reply == (500, f"webhook {function}.fleets.example.com, review 0f1: {why}\n")


async def test_an_object_that_does_not_fit_its_class_is_rejected_and_may_be_the_old_one(caller: Caller):
    reply = await caller.post(path("look"), review(fleet(ships="many")))
    assert reply.response["allowed"] is False
    status = reply.response["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["message"] == 'Fleet.example.com "north" is invalid: spec.ships: expected int, got str'
    assert SEEN == []
    assert (await caller.post(path("look"), review(fleet(), fleet(ships="many")))).response["allowed"] is True


async def test_a_result_that_a_function_must_not_return_is_a_failure(caller: Caller):
    status, text = await caller.post(path("wrong"), review(fleet(region="eu")))
    assert status == 500
    assert "wrong returned True: expected None; raise DeniedError to reject" in text


async def test_other_resources_and_subresources_are_reviewed(caller: Caller):
    options = {"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]}
    request = review(options, operation="CONNECT", subResource="exec")
    reply = await caller.post("/validate/commands.pods.exec.core", request)
    assert reply.response["status"]["message"] == "['sh'] CONNECT exec"
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 3}}
    reply = await caller.post("/validate/scales.example.com.hooks", review(scale))
    assert reply.response["status"]["message"] == "3"


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"{", 400, "the body is not an AdmissionReview"),
        (b"\xff\x00", 400, "the body is not an AdmissionReview"),
        (b"[" * 100_000, 400, "the body is not an AdmissionReview"),
        (b"{}", 400, "expected admission.k8s.io/v1 AdmissionReview, got no apiVersion"),
        ({**review(fleet()), "apiVersion": "admission.k8s.io/v1beta1"}, 400, "got admission.k8s.io/v1beta1"),
        ({**review(fleet()), "request": None}, 400, "the AdmissionReview has no request"),
        ({**review(fleet()), "request": {"uid": 3}}, 400, "the request of the AdmissionReview"),
        (review({**fleet(), "apiVersion": "example.com/v2"}), 400, "got example.com/v2, Kind=Fleet"),
        (review(fleet(), object=None), 400, "neither an object nor an old object"),
        (review(fleet(region="x" * 300_000)), 413, "the body is larger than 200000 bytes"),
    ],
)
async def test_bodies_that_are_no_reviews_are_refused(caller: Caller, body: object, status: int, why: str):
    reply = await caller.post(path("look"), body)
    assert reply.status == status
    assert why in reply.text
    assert len(reply.text) < 400
    assert SEEN == []


async def test_other_requests_are_refused(caller: Caller):
    assert (await caller.post(path("look"), review(fleet()), "application/yaml")).status == 415
    assert (await caller.post("/other", review(fleet()))).status == 404
    assert await caller.get(path("look")) == 405


async def test_functions_that_hang_time_out(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    clock = VirtualClock()
    RELEASE.clear()
    async with serving(declared(tmp_path, max_requests=2), clock=clock) as (manager, caller):
        for function in ("hang", "hang-in-thread", "hang-in-thread"):
            STARTED.clear()
            asked = asyncio.create_task(caller.post(path(function), review(fleet())))
            await turns_until(lambda: bool(STARTED))
            await clock.advance(3)
            reply = await asked
            assert reply.status == 504
            assert f"{function.replace('-', '_')} did not end within" in reply.text
        status, text = await caller.post(path("fail"), review(fleet(region="denied")))
        assert (status, "2 functions of webhooks are still running" in text) == (503, True)
        assert counted(manager).threads == 2
        RELEASE.set()
        await turns_until(lambda: counted(manager).threads == 0)
        assert (await caller.post(path("fail"), review(fleet(region="denied")))).response["allowed"] is False
    assert [record.uid for record in caplog.records if record.levelno == logging.ERROR] == ["0f1"] * 4  # type: ignore[attr-defined]  # an extra field


async def test_a_function_that_is_slower_than_the_api_server_waits_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    STARTED.clear()
    async with serving(declared(tmp_path)) as (_, caller):
        asked = asyncio.create_task(caller.post(path("hang"), review(fleet())))
        await turns_until(lambda: bool(STARTED))
        asked.cancel()
        expected = (
            "Webhook hang.fleets.example.com did not respond for Fleet default/north before the connection was closed"
        )
        await turns_until(lambda: expected in caplog.text)


async def test_a_manager_stops_with_unfinished_handshakes_and_answers_running_reviews(tmp_path: Path):
    RELEASE.clear()
    STARTED.clear()
    async with serving(declared(tmp_path)) as (manager, caller):
        port = manager.webhook_port
        _, silent = await asyncio.open_connection("127.0.0.1", port)
        asked = asyncio.create_task(caller.post(path("hang-in-thread"), review(fleet())))
        await turns_until(lambda: bool(STARTED))
        manager.stop_soon()
        await turns_until(lambda: not manager._webhooks._listener._listener._sockets)  # type: ignore[union-attr]  # it has webhooks
        RELEASE.set()
        assert (await asked).response["allowed"] is True
        await manager.wait_stopped()
        silent.close()
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", port)


async def test_an_address_that_cannot_be_used_is_an_error(tmp_path: Path):
    async with serving(declared(tmp_path)) as (manager, _):
        other = Manager(None)
        other.add_webhooks(declared(tmp_path, port=manager.webhook_port))
        with pytest.raises(UsageError, match=f"cannot serve webhooks at 127.0.0.1:{manager.webhook_port}: "):
            await other.run(handle_signals=False)


def counted(manager: Manager) -> WebhookStatistics:
    statistics = manager.statistics().webhooks
    assert statistics is not None
    return statistics


async def test_reviews_beyond_the_limit_are_refused_and_everything_is_counted(tmp_path: Path):
    STARTED.clear()
    async with serving(declared(tmp_path, max_requests=1)) as (manager, caller):
        hanging = asyncio.create_task(caller.post(path("hang"), review(fleet())))
        await turns_until(lambda: bool(STARTED))
        assert (await caller.post(path("look"), review(fleet()))).status == 503
        hanging.cancel()
        await asyncio.wait([hanging])
        await turns_until(lambda: not any(each.running for each in counted(manager).webhooks))
        await caller.post(path("look"), review(fleet()))
        await caller.post(path("fail"), review(fleet(region="denied")))
        await caller.post(path("fail"), review(fleet(region="bug")))
        text = metrics_text(samples_of(manager.statistics()))
    for line in (
        f'controller_runtime_webhook_requests_total{{webhook="{path("look")}",code="200"}} 1',
        f'controller_runtime_webhook_requests_total{{webhook="{path("fail")}",code="500"}} 1',
        f'controller_runtime_webhook_latency_seconds_count{{webhook="{path("fail")}"}} 2',
        f'controller_runtime_webhook_requests_in_flight{{webhook="{path("hang")}"}} 0',
        f'listwatch_webhook_rejected_total{{webhook="{path("fail")}"}} 1',
        "listwatch_webhook_refused_total 1",
    ):
        assert line in text.splitlines(), text
    assert "listwatch_webhook_certificate_expiration_timestamp_seconds" in text


def test_mistakes_in_a_declaration_are_errors(tmp_path: Path):
    files = CertificateFiles(tmp_path)
    hooks = Webhooks("fleets", certificates=files, register=False)

    def check(obj: Any) -> None: ...
    def three(obj: Any, request: Any, more: Any) -> None: ...

    hooks.validate(Fleet)(check)
    for mistake, why in (
        (lambda: hooks.mutate(Fleet)(check), "there is already a webhook check.fleets.example.com"),
        (lambda: hooks.validate(Pod)(three), r"expected a function of \(object\) or \(object, request\)"),
        (lambda: hooks.validate(Fleet, name="short")(check), "'short' is not a name of a webhook"),
        (lambda: hooks.validate(Fleet, operations=["PATCH"]), "expected a list of CREATE, UPDATE"),  # type: ignore[list-item]  # the mistake
        (lambda: hooks.validate(Fleet, timeout=60), "between 1 and 30 seconds"),
        (lambda: hooks.validate(FleetSpec)(check), "expected a class of objects"),  # type: ignore[type-var]  # the mistake
        (lambda: hooks.validate(Unstructured)(check), "pass resource="),
        (lambda: Webhooks("a", service="b", certificates=files), "namespace and name of a Service"),
        (lambda: Webhooks("a", url="http://b", certificates=files), "over HTTPS only"),
        (lambda: Webhooks("a", url="https://b", service="a/b", certificates=files), "not both"),
        (lambda: Webhooks("a", port=70_000, certificates=files), "expected a port"),
    ):
        with pytest.raises(UsageError, match=why):
            mistake()  # type: ignore[no-untyped-call]  # a lambda
    manager = Manager(None)
    for others, why in (
        (Webhooks("other", certificates=files), "applied with a client"),
        (Webhooks("other", register=False), "kept in a Secret"),
        (Webhooks("other", certificates=files, register=False), "declares no webhook"),
    ):
        with pytest.raises(UsageError, match=why):
            manager.add_webhooks(others)
    manager.add_webhooks(hooks)
    with pytest.raises(UsageError, match="has webhooks already"):
        manager.add_webhooks(hooks)


def test_a_function_stays_callable():
    hooks = Webhooks("fleets", certificates=CertificateFiles("x"))

    @hooks.validate(Fleet)
    def fixed(obj: Fleet, request: AdmissionRequest[Fleet]) -> None:
        if request.old is not None and obj.spec.region != request.old.spec.region:
            raise DeniedError("spec.region cannot be changed")

    before, after = Fleet(spec=FleetSpec(region="eu")), Fleet(spec=FleetSpec(region="us"))
    fixed(after, AdmissionRequest())
    with pytest.raises(DeniedError, match="cannot be changed"):
        fixed(after, AdmissionRequest(operation="UPDATE", old=before))
