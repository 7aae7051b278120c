"""The forms of reconcile functions, and what their context offers; on the embedded server."""

import asyncio
import functools
import logging
import threading
from typing import Any

import pytest
from tests.controller.worlds import Calls, Failures, config_map, key, pod, turns_until, world

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.controller import Controller, Manager, ReconcileContext, Watch
from listwatch.controller.reconcile.context import ReconcileForm
from listwatch.errors import UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.workqueue import ExponentialLimiter

# --- forms ------------------------------------------------------------------------------------------------------------


class WithKey:
    def reconcile(self, key: ObjectKey) -> None: ...


class WithContext:
    async def reconcile(self, key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None: ...


class Callable:
    async def __call__(self, key: ObjectKey) -> None: ...


def of_key(key: ObjectKey) -> None: ...
async def of_key_async(key: ObjectKey) -> None: ...
def of_both(key: ObjectKey, context: ReconcileContext) -> None: ...
async def of_both_async(key: ObjectKey, ctx: ReconcileContext) -> None: ...
def with_default(key: ObjectKey, context: ReconcileContext | None = None) -> None: ...
def with_another_default(key: ObjectKey, dry_run: bool = False) -> None: ...
def of_three(client: ClientSet, key: ObjectKey, context: ReconcileContext) -> None: ...
def of_any(*arguments: object) -> None: ...


@pytest.mark.parametrize(
    ("given", "name", "is_async", "takes_context"),
    [
        (of_key, "of_key", False, False),
        (of_key_async, "of_key_async", True, False),
        (of_both, "of_both", False, True),
        (of_both_async, "of_both_async", True, True),
        (with_default, "with_default", False, True),
        (with_another_default, "with_another_default", False, False),
        (of_any, "of_any", False, False),
        (functools.partial(of_three, None), "partial", False, True),
        (functools.partial(of_key_async), "partial", True, False),
        (WithKey(), "WithKey.reconcile", False, False),
        (WithContext(), "WithContext.reconcile", True, True),
        (WithContext().reconcile, "WithContext.reconcile", True, True),
        (Callable(), "Callable", True, False),
        (print, "print", False, False),
    ],
)
def test_a_reconciler_takes_a_key_or_a_key_and_a_context(given: Any, name: str, is_async: bool, takes_context: bool):
    form = ReconcileForm.of(given)
    assert (form.name, form.is_async, form.takes_context) == (name, is_async, takes_context)


def no_arguments() -> None: ...
def keyword_only(key: ObjectKey, *, client: ClientSet) -> None: ...


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (no_arguments, r"cannot reconcile with no_arguments\(\) -> None: expected a function of \(key\)"),
        (
            of_three,
            r"of_three\(client.*: expected a function of \(key\) or \(key, context\), or an object with",
        ),
        (keyword_only, r"keyword_only\(key.*client"),
        (WithContext, "cannot reconcile with the class WithContext: pass an instance of it"),
        (object(), "cannot reconcile with <object"),
    ],
)
def test_a_function_of_other_arguments_is_refused_when_the_controller_is_created(given: Any, complaint: str):
    with pytest.raises(UsageError, match=complaint):
        Controller(given, for_=ConfigMap)


# --- context ----------------------------------------------------------------------------------------------------------


async def test_a_context_reads_the_caches_and_has_the_client_of_the_manager():
    async with world() as (_, client):
        await client.core_v1.pods("default").create(pod("p"))
        await client.core_v1.configmaps("default").create(config_map("other", x="1"))
        seen: dict[str, Any] = {}
        done = asyncio.Event()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            if key.name != "a":
                return
            seen.update(key=context.key, attempt=context.attempt, client=context.client, mine=context.get())
            seen["other"] = context.get("default/other")
            seen["missing"] = context.get(ObjectKey("default", "missing"))
            seen["pod"] = context.lister(Pod).namespace("default").get("p")
            seen["same"] = context.indexer(Pod) is controller.indexer(Pod)
            done.set()

        manager = Manager(client)
        watch = Watch(Pod, keys=lambda _: [])
        controller = manager.add(Controller(reconcile, for_=ConfigMap, watches=[watch]))
        async with manager:
            await controller.wait_for_sync()
            await client.core_v1.configmaps("default").create(config_map("a", x="2"))
            await done.wait()
    assert (seen["key"], seen["attempt"], seen["client"], seen["missing"]) == (key("a"), 1, client, None)
    assert (seen["mine"].data, seen["other"].data) == ({"x": "2"}, {"x": "1"})
    assert (seen["pod"].name, seen["same"]) == ("p", True)


async def test_a_context_of_a_dynamic_client_has_typed_and_dynamic_access():
    async with world() as (server, _), DynamicClient(server.config) as dynamic:
        created = asyncio.Event()

        class Creator:
            async def reconcile(self, key: ObjectKey, context: ReconcileContext) -> None:
                if key.name == "a":
                    await context.client.core_v1.configmaps("default").create(config_map("b"))
                    await context.client.dynamic.resource("v1", "ConfigMap", namespace="default").get("b")
                    created.set()

        controller = Controller(Creator(), for_=("v1", "ConfigMap"), client=dynamic)
        async with controller:
            controller.enqueue("default/a")
            await created.wait()


async def test_events_that_a_reconcile_records_are_written_when_the_controller_stops():
    async with world() as (_, client):
        item = await client.core_v1.configmaps("default").create(config_map("a"))
        done = threading.Event()

        def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            if not done.is_set():
                context.record_event(context.get(), "Normal", "Seen", "the map was seen", action="Looking")
                done.set()

        controller = Controller(reconcile, for_=ConfigMap, client=client, namespace="default", name="maps")
        async with controller:
            await asyncio.to_thread(done.wait)
        [event] = await client.core_v1.events("default").list()
        assert (event.reason, event.involved_object.uid, event.source.component) == ("Seen", item.uid, "maps")
        events = controller.statistics().events
        assert events is not None
        assert (events.component, events.created) == ("maps", 1)


async def test_a_function_of_the_key_alone_opens_no_event_recorder():
    async with world() as (_, client), Controller(Calls(), for_=ConfigMap, client=client) as controller:
        await controller.wait_for_sync()
        assert controller.statistics().events is None


async def test_the_logger_adds_controller_key_and_attempt_to_each_record(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch.controller.reconcile")

    async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
        context.logger.info("Scaling to %d", 3, extra={"replicas": 3})
        if context.attempt < 3:
            raise OSError("not yet")

    async with world() as (_, client):
        failures = Failures()
        limiter = ExponentialLimiter[ObjectKey](initial=0.001, cap=0.01)
        controller = Controller(reconcile, for_=ConfigMap, client=client, limiter=limiter, on_failure=failures)
        async with controller:
            controller.enqueue("default/a")
            await turns_until(lambda: controller.statistics().succeeded)
    records = [each for each in caplog.records if each.name == "listwatch.controller.reconcile"]
    fields = [(each.controller, each.key, each.attempt, each.replicas) for each in records]
    assert fields == [("ConfigMap", "default/a", attempt, 3) for attempt in (1, 2, 3)]
    assert [each.attempt for each in failures.seen] == [1, 2]


async def test_a_failure_is_logged_with_its_fields(caplog: pytest.LogCaptureFixture):
    async def reconcile(key: ObjectKey) -> None:
        raise OSError("no route")

    async with world() as (_, client), Controller(reconcile, for_=ConfigMap, client=client) as controller:
        controller.enqueue("default/a")
        await turns_until(lambda: controller.statistics().failed)
    record = next(each for each in caplog.records if "no route" in each.getMessage())
    assert record.levelno == logging.WARNING  # it is retried
    assert (record.controller, record.key, record.attempt) == ("ConfigMap", "default/a", 1)
    assert record.getMessage().endswith(
        f"reconcile of default/a failed: no route; attempt 1 failed, retrying in {record.delay:.3g} s"
    )


async def test_a_context_without_a_client_names_what_is_missing():
    errors: list[str] = []

    async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
        for use in (lambda: context.client, lambda: context.record_event(key, "Normal", "Seen", "")):
            try:
                use()
            except UsageError as error:
                errors.append(str(error))

    async with world() as (_, client), SharedInformerFactory(client) as factory:
        controller = Controller(reconcile, for_=factory.informer(ConfigMap).informer, name="maps")
        async with controller:
            controller.enqueue("default/a")
            await turns_until(lambda: controller.statistics().succeeded)
    assert [each.partition(" needs a client: run controller maps in a Manager")[0] for each in errors] == [
        "context.client",
        "context.record_event",
    ]


# --- what users see ---------------------------------------------------------------------------------------------------


def test_a_controller_and_a_manager_show_only_what_users_call():
    shown = {name for name in dir(Controller) if not name.startswith("_")}
    assert shown == {
        *("enqueue", "get", "informer", "lister", "indexer", "is_working", "is_ready", "why_not_ready"),
        *("wait_for_sync", "statistics", "run", "start", "stop"),
    }
    shown = {name for name in dir(Manager) if not name.startswith("_")}
    assert shown == {
        *("add", "add_health_check", "add_ready_check", "factory", "controllers", "is_leading", "is_ready"),
        *("health_port", "inspector_url", "statistics", "run", "start", "stop", "stop_soon", "wait_stopped"),
        *("add_webhooks", "webhook_port", "wait_ready", "cluster", "clusters", "add_cluster", "remove_cluster"),
    }
