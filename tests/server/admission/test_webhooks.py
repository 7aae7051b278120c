"""Admission webhooks: what the server sends them, and what it makes of their responses."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

import listwatch as lw
from listwatch.errors import APIError, BadRequestError, ForbiddenError, InternalServerError, NotFoundError
from listwatch.server import APIServer

Tree = dict[str, Any]
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}


class Hooks:
    """A web server that answers each path with a function of the AdmissionRequest."""

    def __init__(self) -> None:
        self.requests: list[Tree] = []
        self.answers: dict[str, Callable[[Tree], Any]] = {}
        self.url = ""
        self.released = asyncio.Event()

    async def handle(self, request: web.Request) -> web.Response:
        review = json.loads(await request.read())
        self.requests.append(review["request"])
        answer = self.answers[request.path.strip("/")](review["request"])
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="application/json")
        if isinstance(answer, int):
            return web.Response(status=answer, text="broken")
        kind = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response({**kind, "response": {"uid": review["request"]["uid"], "allowed": True, **answer}})


@asynccontextmanager
async def hook_server() -> AsyncIterator[Hooks]:
    hooks = Hooks()
    app = web.Application()
    app.router.add_post("/{name}", hooks.handle)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    hooks.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield hooks
    finally:
        hooks.released.set()
        await runner.cleanup()


class Setup:
    """A server whose webhooks are those of `hooks`."""

    def __init__(self, client: lw.ClientSet, hooks: Hooks) -> None:
        self.client = client
        self.hooks = hooks
        self.configmaps = client.core_v1.configmaps("default")

    async def add(self, kind: str, name: str, answer: Callable[[Tree], Any], **spec: Any) -> None:
        self.hooks.answers[name] = answer
        service = {"namespace": "default", "name": "hooks", "path": f"/{name}"}
        webhook = {
            "name": f"{name}.example.com",
            "clientConfig": {"service": service},
            "rules": [RULE],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **spec,
        }
        api = self.client.admissionregistration_v1
        resource = api.mutatingwebhookconfigurations() if kind == "mutating" else api.validatingwebhookconfigurations()
        await resource.create({"metadata": {"name": name}, "webhooks": [webhook]})  # type: ignore[arg-type]  # as JSON

    async def create(self, name: str = "a", *, dry_run: bool = False, **data: str) -> Any:
        return await self.configmaps.create({"metadata": {"name": name}, "data": data}, dry_run=dry_run)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    async with (
        hook_server() as hooks,
        APIServer(webhook_services={"default/hooks": hooks.url}) as server,
        lw.ClientSet(server.config) as client,
    ):
        yield Setup(client, hooks)


def patch(*operations: Tree) -> Tree:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


async def test_a_validating_webhook_gets_the_request_and_allows_it(setup: Setup):
    await setup.add("validating", "check", lambda _: {})
    made = await setup.create(a="1")
    [request] = setup.hooks.requests
    assert request["operation"] == "CREATE"
    assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert request["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    assert request["object"]["data"] == {"a": "1"}
    assert request["oldObject"] is None
    assert request["object"]["metadata"]["uid"] == made.uid


async def test_a_webhook_rejects_a_request_with_its_status(setup: Setup):
    status = {"code": 403, "reason": "Forbidden", "message": "not today"}
    await setup.add("validating", "check", lambda _: {"allowed": False, "status": status})
    with pytest.raises(ForbiddenError) as caught:
        await setup.create()
    assert caught.value.message == 'admission webhook "check.example.com" denied the request: not today'


async def test_a_rejection_without_a_status_has_no_explanation(setup: Setup):
    await setup.add("validating", "check", lambda _: {"allowed": False})
    with pytest.raises(BadRequestError, match="denied the request without explanation"):
        await setup.create()


@pytest.mark.parametrize("code", [0, 399, 1000, 99999])
async def test_a_rejection_with_a_code_that_is_no_failure_of_http_is_a_bad_request(setup: Setup, code: int):
    await setup.add("validating", "check", lambda _: {"allowed": False, "status": {"code": code, "message": "no"}})
    with pytest.raises(BadRequestError, match="denied the request: no"):
        await setup.create()


async def test_mutating_webhooks_change_the_object_in_order_of_their_names(setup: Setup):
    def add(name: str) -> Callable[[Tree], Tree]:
        return lambda request: patch(
            {"op": "add", "path": f"/data/{name}", "value": str(len(request["object"]["data"]))}
        )

    await setup.add("mutating", "b-second", add("second"))
    await setup.add("mutating", "a-first", add("first"))
    await setup.add("validating", "check", lambda _: {})
    made = await setup.create(a="1")
    assert made.data == {"a": "1", "first": "1", "second": "2"}
    assert setup.hooks.requests[-1]["object"]["data"] == made.data


async def test_a_webhook_is_called_again_if_another_one_changed_the_object(setup: Setup):
    def count(request: Tree) -> Tree:
        calls = int(request["object"]["data"].get("calls", "0")) + 1
        return patch({"op": "add", "path": "/data/calls", "value": str(calls)})

    await setup.add("mutating", "a-counts", count, reinvocationPolicy="IfNeeded")
    await setup.add("mutating", "b-changes", lambda _: patch({"op": "add", "path": "/data/b", "value": "2"}))
    assert (await setup.create(a="1")).data == {"a": "1", "b": "2", "calls": "2"}


async def test_generated_names_and_uids_stay_the_same_while_webhooks_are_called(setup: Setup):
    await setup.add("validating", "check", lambda _: {})
    made = await setup.configmaps.create({"metadata": {"generateName": "a-"}})
    seen = setup.hooks.requests[-1]["object"]["metadata"]
    assert (seen["name"], seen["uid"]) == (made.name, made.uid)


async def test_updates_and_deletions_have_the_old_object(setup: Setup):
    await setup.create(a="1")
    await setup.add("validating", "check", lambda _: {})
    await setup.configmaps.patch("a", {"data": {"a": "2"}})
    await setup.configmaps.delete("a")
    update, deletion = setup.hooks.requests
    assert (update["operation"], update["oldObject"]["data"], update["object"]["data"]) == (
        "UPDATE",
        {"a": "1"},
        {"a": "2"},
    )
    assert (deletion["operation"], deletion["oldObject"]["data"], deletion["object"]) == ("DELETE", {"a": "2"}, None)


async def test_only_what_matches_is_sent(setup: Setup):
    await setup.add("validating", "labels", lambda _: {}, objectSelector={"matchLabels": {"checked": "yes"}})
    condition = {"name": "checked", "expression": "object.metadata.name == 'checked'"}
    await setup.add("validating", "condition", lambda _: {}, matchConditions=[condition])
    await setup.client.core_v1.secrets("default").create({"metadata": {"name": "checked"}})
    await setup.create("other")
    assert setup.hooks.requests == []
    await setup.create("checked")
    assert len(setup.hooks.requests) == 1


async def test_a_dry_run_needs_webhooks_without_side_effects(setup: Setup):
    await setup.add("validating", "check", lambda _: {}, sideEffects="NoneOnDryRun")
    await setup.create(dry_run=True)
    assert setup.hooks.requests[0]["dryRun"] is True


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda _: 500, 'an error on the server ("broken") has prevented the request from succeeding'),
        (lambda _: b"<html>", "failed to call webhook"),
        (lambda _: b"{}", "received invalid webhook response: webhook response was absent"),
        (lambda _: {"uid": "another"}, "received invalid webhook response: expected response.uid="),
        (lambda _: {"patch": "e30="}, "webhook returned response.patch but not response.patchType"),
        (lambda _: {"patch": "!!!", "patchType": "JSONPatch"}, "illegal base64 data at input byte 0"),
        (lambda _: patch({"op": "remove", "path": "/data/missing"}), "Unable to remove nonexistent key: missing"),
        (
            lambda _: patch({"op": "replace", "path": "/kind", "value": "Pod"}),
            "(core.ConfigMap): unknown conversion",
        ),
    ],
)
async def test_a_webhook_that_answers_badly_fails_the_request(setup: Setup, answer: Any, problem: str):
    await setup.add("mutating", "bad", answer)
    with pytest.raises(InternalServerError) as caught:
        await setup.create(a="1")
    assert problem in caught.value.message
    with pytest.raises(NotFoundError):
        await setup.configmaps.get("a")


async def test_a_patch_that_breaks_the_object_is_found_by_validation(setup: Setup):
    await setup.add(
        "mutating", "bad", lambda _: patch({"op": "add", "path": "/metadata/labels", "value": {"a b": "c"}})
    )
    with pytest.raises(APIError, match=r"metadata\.labels"):
        await setup.create()


async def test_failures_are_ignored_if_the_policy_says_so(setup: Setup):
    await setup.add("validating", "bad", lambda _: b"<html>", failurePolicy="Ignore")
    assert (await setup.create()).name == "a"


async def test_a_webhook_that_hangs_is_given_up_after_its_timeout(setup: Setup):
    async def hang() -> Tree:
        await setup.hooks.released.wait()
        return {}

    await setup.add("validating", "hangs", lambda _: hang(), timeoutSeconds=1)
    with pytest.raises(InternalServerError, match="context deadline exceeded"):
        await setup.create()


async def test_a_service_that_is_not_mapped_is_named(setup: Setup):
    service = {"namespace": "default", "name": "unknown"}
    await setup.add("validating", "lost", lambda _: {}, clientConfig={"service": service})
    with pytest.raises(InternalServerError, match=r'webhook_services=.*"default/unknown"'):
        await setup.create()


async def test_webhooks_can_be_disabled():
    plugins = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"]
    async with (
        hook_server() as hooks,
        APIServer(webhook_services={"default/hooks": hooks.url}, disable_admission_plugins=plugins) as server,
        lw.ClientSet(server.config) as client,
    ):
        setup = Setup(client, hooks)
        await setup.add("validating", "check", lambda _: {"allowed": False})
        assert (await setup.create()).name == "a"


def deleted_name(request: Tree) -> str:
    name: str = request["oldObject"]["metadata"]["name"]
    return name


async def test_a_collection_with_a_limit_is_deleted_up_to_the_limit_and_each_deletion_is_reviewed_once(setup: Setup):
    for name in "abcde":
        await setup.create(name)
    await setup.add("validating", "check", lambda request: {"warnings": [deleted_name(request)]})
    deleted = await setup.configmaps.delete_collection(limit=2)
    assert [each.name for each in deleted.items] == ["a", "b"]
    assert [deleted_name(each) for each in setup.hooks.requests] == ["a", "b"]
    assert [each.name for each in (await setup.configmaps.list()).items] == ["c", "d", "e"]


@pytest.mark.parametrize("bundle", ["no PEM", "kein PEM für Menschen"])
async def test_a_webhook_with_an_unusable_ca_bundle_fails_by_its_failure_policy(setup: Setup, bundle: str):
    config = {"url": "https://127.0.0.1:1/x", "caBundle": base64.b64encode(bundle.encode()).decode()}
    await setup.add("validating", "ignored", lambda _: {}, clientConfig=config, failurePolicy="Ignore")
    await setup.create("a")
    await setup.add("validating", "needed", lambda _: {}, clientConfig=config)
    with pytest.raises(InternalServerError, match="unable to load root certificates"):
        await setup.create("b")


async def test_an_object_that_is_changed_while_a_webhook_is_called_is_reviewed_again(setup: Setup):
    await setup.create("a", limit="9", number="1")
    called, go_on = asyncio.Event(), asyncio.Event()

    async def answer(request: Tree) -> Tree:
        data = request["object"]["data"]
        if data["number"] == "8":
            called.set()
            await go_on.wait()
        return {"allowed": data["number"] <= data["limit"]}

    await setup.add("validating", "check", answer)
    patching = asyncio.ensure_future(setup.configmaps.patch("a", {"data": {"number": "8"}}))
    await called.wait()
    await setup.configmaps.patch("a", {"data": {"limit": "5"}})
    go_on.set()
    with pytest.raises(APIError, match="denied the request"):
        await patching
    assert (await setup.configmaps.get("a")).data == {"limit": "5", "number": "1"}


async def test_an_eviction_that_waits_for_a_webhook_takes_from_its_budget_once(setup: Setup):
    pods, budgets = setup.client.core_v1.pods("default"), setup.client.policy_v1.poddisruptionbudgets("default")
    container = {"name": "main", "image": "busybox"}
    metadata = {"name": "a", "labels": {"app": "web"}}
    pod = await pods.create({"metadata": metadata, "spec": {"nodeName": "one", "containers": [container]}})
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await pods.update_status({**pod.to_dict(), "status": ready})  # type: ignore[arg-type]  # as JSON
    spec = {"minAvailable": 0, "selector": {"matchLabels": {"app": "web"}}}
    budget = await budgets.create({"metadata": {"name": "web"}, "spec": spec})
    status = {"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1}
    await budgets.update_status({**budget.to_dict(), "status": {**status, "observedGeneration": 1}})  # type: ignore[arg-type]  # as JSON
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}
    await setup.add("validating", "check", lambda _: {}, rules=[rule])
    await pods.evict("a")
    assert (await budgets.get("web")).status.disruptions_allowed == 0
    assert len(setup.hooks.requests) == 1
