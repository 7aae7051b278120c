"""Which changes are reconciled, and how each reconcile ends; on the embedded server."""

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from tests.controller.worlds import Calls, Failures, config_map, deployment, key, pod, world

from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.object_fields.owners import set_controller
from listwatch.controller.watching.predicates import generation_changed, labels_changed
from listwatch.controller.watching.watches import Every, Watch
from listwatch.errors import InformerStoppedError, PermanentError, SelectorError, SyncTimeoutError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.objects.metadata import ObjectMeta, OwnerReference
from listwatch.testing.clocks import VirtualClock
from listwatch.workqueue.rate_limiters import ExponentialLimiter


def fast() -> ExponentialLimiter[ObjectKey]:
    return ExponentialLimiter(initial=0.001, cap=0.01)


async def passing(gate: asyncio.Event) -> None:
    await gate.wait()


# --- watches ----------------------------------------------------------------------------------------------------------


async def test_existing_and_changed_objects_are_reconciled():
    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        await maps.create(config_map("old"))
        calls = Calls()
        async with Controller(calls, for_=ConfigMap, client=client) as controller:
            await calls.wait_for(key("old"))
            await maps.create(config_map("new"))
            await calls.wait_for(key("new"))
            await maps.patch("old", {"data": {"a": "1"}})
            await calls.wait_for(key("old"), 2)
            assert controller.get("default/old").data == {"a": "1"}
            await maps.delete("old")
            await calls.wait_for(key("old"), 3)
            assert controller.get(key("old")) is None


async def test_a_change_of_an_owned_object_reconciles_its_owner():
    async with world() as (_, client):
        owner = await client.apps_v1.deployments("default").create(deployment("web"))
        calls = Calls()
        async with Controller(calls, for_=Deployment, owns=[Pod], client=client):
            await calls.wait_for(key("web"))
            pods = client.core_v1.pods("default")
            await pods.create(pod("stray"))
            of_another_kind = pod("of-another-kind")
            of_another_kind.metadata.owner_references = [
                OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="other", uid="1", controller=True)
            ]
            await pods.create(of_another_kind)
            owned = pod("web-0")
            set_controller(owned, owner)
            await pods.create(owned)
            await calls.wait_for(key("web"), 2)
            assert set(calls.seen) == {key("web")}


async def test_the_owner_may_be_cluster_scoped():
    async with world() as (_, client):
        node = await client.core_v1.nodes().create(Node(metadata=ObjectMeta(name="n1")))
        calls = Calls()
        async with Controller(calls, for_=Node, owns=[Pod], client=client):
            await calls.wait_for(ObjectKey("", "n1"))
            owned = pod("p")
            set_controller(owned, node)
            await client.core_v1.pods("default").create(owned)
            await calls.wait_for(ObjectKey("", "n1"), 2)


async def test_a_change_of_the_owner_reconciles_both_owners():
    async with world() as (_, client):
        deployments, pods = client.apps_v1.deployments("default"), client.core_v1.pods("default")
        first, second = [await deployments.create(deployment(name)) for name in ("first", "second")]
        owned = pod("p")
        set_controller(owned, first)
        owned = await pods.create(owned)
        calls = Calls()
        async with Controller(calls, for_=Deployment, owns=[Pod], client=client) as controller:
            await controller.wait_for_sync()
            await calls.wait_until(lambda: set(calls.seen) == {key("first"), key("second")})
            calls.seen.clear()
            owned = owned.copy()
            owned.metadata.owner_references = []
            set_controller(owned, second)
            await pods.update(owned)
            await calls.wait_until(lambda: set(calls.seen) == {key("first"), key("second")})


async def test_a_key_function_maps_other_objects_to_keys():
    async with world() as (_, client):
        calls = Calls()
        to_users = Watch(ConfigMap, keys=lambda item: [f"default/{user}" for user in item.data.values()])
        async with Controller(calls, for_=Deployment, watches=[to_users], client=client) as controller:
            await controller.wait_for_sync()
            await client.core_v1.configmaps("default").create(config_map("settings", a="web", b="api"))
            await calls.wait_until(lambda: set(calls.seen) == {key("web"), key("api")})


async def test_a_cache_is_found_by_its_kind_or_its_watch():
    async with world() as (_, client):
        watch = Watch(
            ConfigMap, keys=lambda _: [], namespace="default", indexers={"size": lambda m: [str(len(m.data))]}
        )
        await client.core_v1.configmaps("default").create(config_map("a", x="1", y="2"))
        async with Controller(Calls(), watches=[watch], name="cached", client=client) as controller:
            await controller.wait_for_sync()
            assert controller.is_ready
            assert controller.why_not_ready() is None
            assert controller.indexer(ConfigMap) is controller.indexer(watch)
            assert [item.name for item in controller.indexer(ConfigMap).by_index("size", "2")] == ["a"]
            with pytest.raises(UsageError, match="does not watch Pod; it watches ConfigMap"):
                controller.lister(Pod)
            with pytest.raises(UsageError, match="has no for_="):
                controller.get("default/a")


async def test_reading_before_the_start_is_an_error_that_says_so():
    async with world() as (_, client):
        controller = Controller(Calls(), for_=ConfigMap, client=client)
        assert not controller.is_ready
        assert controller.why_not_ready() == "ConfigMap: the controller was not started"
        with pytest.raises(UsageError, match="start the controller first"):
            controller.get("default/a")
        with pytest.raises(SyncTimeoutError, match="was not started"):
            await controller.wait_for_sync(0.01)


async def test_dynamic_kinds_and_existing_informers_can_be_watched():
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        owner = await client.apps_v1.deployments("default").create(deployment("web"))
        calls = Calls()
        informer = factory.informer(Pod).informer
        async with Controller(calls, for_=("apps/v1", "Deployment"), owns=[informer], client=client) as controller:
            await calls.wait_for(key("web"))
            owned = pod("web-0")
            set_controller(owned, owner)
            await client.core_v1.pods("default").create(owned)
            await calls.wait_for(key("web"), 2)
            assert controller.get("default/web").kind == "Deployment"
            assert controller.lister(informer).namespace("default").get("web-0").name == "web-0"
        assert not informer.is_stopped


async def test_changes_that_the_predicate_rejects_are_not_reconciled():
    async with world() as (_, client):
        deployments = client.apps_v1.deployments("default")
        await deployments.create(deployment("web"))
        calls = Calls()
        watch = Watch(Deployment, when=generation_changed | labels_changed)
        async with Controller(calls, for_=watch, client=client) as controller:
            await calls.wait_for(key("web"))
            last = await deployments.patch("web", {"status": {"replicas": 3}}, subresource="status")
            await controller.informer(Deployment).wait_until(last.resource_version)
            assert calls.seen == [key("web")]
            await deployments.patch("web", {"spec": {"replicas": 2}})
            await calls.wait_for(key("web"), 2)
            await deployments.patch("web", {"metadata": {"labels": {"tier": "front"}}})
            await calls.wait_for(key("web"), 3)


async def test_keys_can_be_enqueued_from_any_thread():
    async with world() as (_, client):
        calls = Calls()
        controller = Controller(calls, for_=ConfigMap, client=client)
        controller.enqueue("default/early")
        async with controller:
            await calls.wait_for(key("early"))
            await asyncio.to_thread(controller.enqueue, key("from-a-thread"))
            await calls.wait_for(key("from-a-thread"))
            controller.enqueue(config_map("an-object"), after=0.001)
            await calls.wait_for(key("an-object"))


@pytest.mark.parametrize("triggers", [{}, {"for_": ConfigMap}, {"watches": [Every(60.0, keys=list)]}])
async def test_a_controller_that_watches_nothing_is_warned_of(
    triggers: dict[str, Any], caplog: pytest.LogCaptureFixture
):
    async with world() as (_, client):
        calls = Calls()
        async with Controller(calls, name="idle", client=client, **triggers) as controller:
            controller.enqueue("default/a")
            await calls.wait_for(key("a"))
    assert ("Controller idle watches nothing" in caplog.text) == (not triggers)


@pytest.mark.parametrize("selectors", [{"label_selector": "a=(b"}, {"field_selector": "a"}])
def test_an_invalid_selector_of_a_watch_is_an_error_at_once(selectors: dict[str, str]):
    with pytest.raises(SelectorError):
        Watch(Pod, **selectors)


async def test_a_timer_enqueues_its_keys_periodically():
    clock = VirtualClock()
    async with world() as (_, client):
        await client.core_v1.configmaps("default").create(config_map("a"))
        calls = Calls()
        timers = [Every(60.0), Every(25.0, keys=lambda: ["default/other"])]
        watch = Watch(ConfigMap, namespace="default")
        async with Controller(calls, for_=watch, watches=timers, client=client, clock=clock, timeout=None):
            await calls.wait_for(key("a"))
            while calls.seen.count(key("a")) < 3 or calls.seen.count(key("other")) < 4:
                await clock.advance(1.0)
    assert 120.0 <= clock.monotonic() < 130.0


# --- results of a reconcile -------------------------------------------------------------------------------------------


async def test_a_key_is_requeued_after_the_returned_delay():
    clock = VirtualClock()
    times: list[float] = []

    def again(_: ObjectKey, count: int) -> Any:
        times.append(clock.monotonic())
        return [40.0, timedelta(minutes=5), None][count - 1]

    async with world() as (_, client):
        calls = Calls(again)
        controller = Controller(calls, for_=ConfigMap, client=client, clock=clock, timeout=None)
        async with controller:
            controller.enqueue("default/a")
            await calls.wait_for(key("a"))
            while len(times) < 3:
                await clock.advance(5.0)
            await clock.advance(1000.0)
        assert [later - times[0] for later in times] == [0.0, 40.0, 340.0]
        assert controller.statistics().requeued == 2
        assert controller.statistics().succeeded == 3


async def test_a_failed_reconcile_is_retried_and_reported_each_time():
    def fail(key: ObjectKey, count: int) -> None:
        if count < 4:
            raise OSError(f"no. {count}")

    async with world() as (_, client):
        calls, failures, limiter = Calls(fail), Failures(), fast()
        controller = Controller(calls, for_=ConfigMap, client=client, limiter=limiter, on_failure=failures)
        async with controller:
            controller.enqueue("default/a")
            await calls.wait_for(key("a"), 4)
        assert limiter.requeues(key("a")) == 0
        assert [str(each.error) for each in failures.seen] == ["no. 1", "no. 2", "no. 3"]
        assert all(each.will_retry and each.key == key("a") for each in failures.seen)
        now = controller.statistics()
        assert (now.failed, now.succeeded, now.durations.count) == (3, 1, 4)
        assert now.last_failure == failures.seen[-1]


async def test_a_permanent_error_is_not_retried_until_the_object_changes():
    def fail(key: ObjectKey, count: int) -> None:
        raise PermanentError("the spec makes no sense")

    async with world() as (_, client):
        maps = client.core_v1.configmaps("default")
        await maps.create(config_map("a"))
        calls, failures = Calls(fail), Failures()
        controller = Controller(calls, for_=ConfigMap, client=client, limiter=fast(), on_failure=failures)
        async with controller:
            await failures.wait()
            assert not failures.seen[0].will_retry
            await maps.patch("a", {"data": {"x": "1"}})
            await failures.wait(2)
        assert calls.seen == [key("a")] * 2
        assert controller.statistics().gave_up == 2


@pytest.mark.parametrize("result", ["soon", True, float("nan"), {"requeue": 1}])
async def test_an_invalid_return_value_is_reported(result: object):
    async with world() as (_, client):
        failures = Failures()
        controller = Controller(Calls(lambda *_: result), for_=ConfigMap, client=client, on_failure=failures)
        async with controller:
            controller.enqueue("default/a")
            failure = await failures.wait()
        assert "expected None, or a number of seconds" in str(failure)


async def test_a_key_is_never_reconciled_concurrently():
    async def slow() -> None:
        await asyncio.sleep(0)

    async with world() as (_, client):
        calls = Calls(lambda *_: slow())
        async with Controller(calls, for_=ConfigMap, client=client, concurrency=8) as controller:
            for turn in range(300):
                controller.enqueue(f"default/{turn % 3}")
                await asyncio.sleep(0)
            await calls.wait_until(lambda: len(calls.seen) > 50)
        assert calls.most_at_once == 1


async def test_initial_objects_have_a_lower_priority_than_changes():
    async with world() as (_, client):
        for number in range(30):
            await client.core_v1.configmaps("default").create(config_map(f"old-{number:02}"))
        gate = asyncio.Event()
        calls = Calls(lambda *_: passing(gate))
        async with Controller(calls, for_=ConfigMap, client=client, concurrency=1) as controller:
            await calls.wait_until(lambda: len(calls.seen) == 1)
            controller.enqueue("default/urgent")
            gate.set()
            await calls.wait_until(lambda: len(calls.seen) == 31)
        assert key("urgent") in calls.seen[1:3]


async def test_a_plain_function_runs_in_a_thread_and_may_block():
    import threading

    entered, leave = asyncio.Event(), threading.Event()
    threads: list[threading.Thread] = []

    async with world() as (_, client):
        loop = asyncio.get_running_loop()

        def reconcile(key: ObjectKey) -> float | None:
            threads.append(threading.current_thread())
            loop.call_soon_threadsafe(entered.set)
            leave.wait()
            return None

        controller = Controller(reconcile, for_=ConfigMap, client=client)
        async with controller:
            controller.enqueue("default/a")
            await entered.wait()
            leave.set()
            await asyncio.to_thread(threads[0].join)
        assert threads[0] is not threading.current_thread()
        assert controller.statistics().succeeded == 1


# --- start and stop ---------------------------------------------------------------------------------------------------


async def test_a_controller_whose_caches_do_not_sync_fails():
    async with world() as (_, client):
        controller = Controller(Calls(), for_=("example.com/v1", "Nothing"), client=client, sync_timeout=0.05)
        with pytest.raises(SyncTimeoutError, match="Nothing"):
            await controller.run()


async def test_stop_waits_for_running_reconciles_and_starts_no_others():
    async with world() as (_, client):
        gate = asyncio.Event()
        calls = Calls(lambda *_: passing(gate))
        controller = Controller(calls, for_=ConfigMap, client=client, concurrency=1)
        controller.start()
        controller.enqueue("default/a")
        controller.enqueue("default/b")
        await calls.wait_for(key("a"))
        stopping = asyncio.create_task(controller.stop())
        await asyncio.sleep(0)
        assert not stopping.done()
        gate.set()
        await stopping
        assert calls.seen == [key("a")]
        assert controller.statistics().succeeded == 1


async def test_a_reconcile_that_exceeds_the_grace_period_is_cancelled_and_counted_as_interrupted():
    async with world() as (_, client):
        calls = Calls(lambda *_: asyncio.Event().wait())
        controller = Controller(calls, for_=ConfigMap, client=client, grace_period=0.01)
        async with controller:
            controller.enqueue("default/a")
            await calls.wait_for(key("a"))
        now = controller.statistics()
        assert (now.interrupted, now.succeeded, now.running) == (1, 0, 0)


async def test_a_reconcile_that_stops_its_controller_gets_an_error_at_once():
    async with world() as (_, client):
        failures = Failures()

        async def reconcile(_: ObjectKey) -> None:
            await controller.stop()

        controller = Controller(reconcile, for_=ConfigMap, client=client, on_failure=failures, limiter=fast())
        async with controller:
            controller.enqueue("default/a")
            failure = await failures.wait()
            assert "called stop(), which waits until the reconcile ends" in str(failure.error)
            assert isinstance(failure.error, UsageError)
            assert controller.is_working


async def test_a_task_that_a_reconcile_starts_can_stop_its_controller():
    async with world() as (_, client):
        stopping: list[asyncio.Task[None]] = []

        async def reconcile(_: ObjectKey) -> None:
            stopping.append(asyncio.create_task(controller.stop()))

        controller = Controller(reconcile, for_=ConfigMap, client=client)
        controller.enqueue("default/a")
        await controller.run()
        await stopping[0]


@pytest.mark.parametrize("method", ["stop", "wait_stopped"])
async def test_a_reconcile_that_waits_for_its_manager_gets_an_error_at_once(method: str):
    async with world() as (_, client):
        failures = Failures()

        async def reconcile(_: ObjectKey) -> None:
            await getattr(manager, method)()

        manager = Manager(client)
        controller = manager.add(Controller(reconcile, for_=ConfigMap, on_failure=failures, limiter=fast()))
        async with manager:
            controller.enqueue("default/a")
            failure = await failures.wait()
            assert f"called {method}() of its manager, which waits until the reconcile ends" in str(failure.error)
            assert not manager.statistics().is_stopping


async def test_the_factory_of_a_manager_that_starts_can_be_waited_for():
    async with world() as (_, client):
        manager = Manager(client)
        manager.add(Controller(Calls(), for_=ConfigMap))
        _ = manager.factory.core_v1.pods
        async with manager:
            await manager.factory.wait_for_sync(timeout=30)


async def test_stop_ends_a_run_of_another_task():
    async with world() as (_, client):
        calls = Calls()
        controller = Controller(calls, for_=ConfigMap, client=client)
        controller.enqueue("default/a")
        running = asyncio.create_task(controller.run())
        await calls.wait_for(key("a"))
        await controller.stop()
        await running
        with pytest.raises(InformerStoppedError):
            await controller.informer(ConfigMap).wait_until("9999")


async def test_a_controller_can_be_stopped_before_it_has_started():
    async with world() as (_, client):
        controller = Controller(Calls(), for_=ConfigMap, client=client)
        controller.start()
        await controller.stop()
        unused = Controller(Calls(), for_=ConfigMap, client=client)
        await unused.stop()
        assert "not working" in repr(unused)


async def test_wait_for_sync_fails_if_the_controller_cannot_start():
    controller = Controller(Calls(), for_=ConfigMap)
    controller.start()
    with pytest.raises(InformerStoppedError, match="stopped before its watches opened"):
        await controller.wait_for_sync()
    with pytest.raises(UsageError, match="client="):
        await controller.stop()


async def test_a_shared_informer_stops_with_its_last_user():
    async with world() as (_, client), SharedInformerFactory(client) as factory:
        first, second = Controller(Calls(), for_=ConfigMap), Controller(Calls(), for_=ConfigMap, name="second")
        async with first._opened(factory, ("",)):
            async with second._opened(factory, ("",)):
                await first.wait_for_sync()
                await second.wait_for_sync()
                assert len(factory.statistics()) == 1
            assert len(factory.statistics()) == 1
        assert factory.statistics() == ()


# --- invalid input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"for_": ConfigMap, "concurrency": 0}, "expected a positive number of workers"),
        ({"for_": ConfigMap, "concurrency": "4"}, "expected a positive number of workers"),
        ({"for_": ConfigMap, "owns": Pod}, r"owns=<class .*Pod'>: expected a list, as owns=\[\.\.\.\]"),
        ({"for_": ConfigMap, "watches": "pods"}, "expected a list"),
        ({"for_": ConfigMap, "limiter": 5}, "limiter=5 is not a limiter"),
        ({"for_": ConfigMap, "timeout": 0}, "timeout=0: expected a positive number of seconds"),
        ({"owns": [Pod]}, "needs the kind of the owner"),
        ({"for_": "deployments", "owns": [Pod]}, "needs the kind of the owner"),
        ({"for_": ConfigMap, "watches": [Pod]}, "has no key function"),
        ({"for_": 5}, "for_=5: expected a model class"),
        ({"for_": Watch(5)}, "for_=Watch.of=5.*: expected a model class"),
        ({"for_": "Deploymnt"}, r"for_='Deploymnt' is not a built-in kind; did you mean 'Deployment'\?"),
        ({"for_": Pod, "owns": ["deploymets"]}, "owns='deploymets' is not a built-in kind; did you mean 'deployments'"),
        ({"for_": Watch("qqq")}, "'qqq' is not a built-in kind; a custom kind needs its group, as in 'widgets.example"),
        ({"for_": Pod, "namespace": "a", "namespaces": ["b"]}, "not both"),
        ({"for_": Pod, "namespaces": "dev"}, "for one namespace, pass namespace='dev'"),
        ({"for_": Pod, "timeout": "3"}, "timeout='3': expected a positive number"),
    ],
)
def test_invalid_options_of_a_controller_are_refused(options: dict[str, Any], complaint: str):
    with pytest.raises(UsageError, match=complaint):
        Controller(Calls(), **options)


def test_a_reconciler_that_is_not_callable_is_refused():
    with pytest.raises(UsageError, match="cannot reconcile with 'reconcile'"):
        Controller("reconcile", for_=ConfigMap)


def test_an_async_key_function_is_refused():
    async def keys(item: object) -> list[str]:
        return []

    with pytest.raises(UsageError, match="plain function"):
        Watch(Pod, keys=keys)


@pytest.mark.parametrize("interval", [0, -1.0, "60", math.nan, math.inf, None])
def test_a_timer_with_an_invalid_interval_is_refused(interval: Any):
    with pytest.raises(UsageError, match="interval"):
        Every(interval)


@pytest.mark.parametrize("after", ["3", math.nan, None])
async def test_an_invalid_delay_is_refused_by_enqueue(after: Any):
    controller = Controller(Calls(), for_=ConfigMap)
    with pytest.raises(UsageError, match="pass a finite number"):
        controller.enqueue("default/a", after=after)


def test_a_single_namespace_passed_as_namespaces_is_refused():
    with pytest.raises(UsageError, match="for one namespace, pass namespace='dev'"):
        Watch(Pod, namespaces="dev")
    with pytest.raises(UsageError, match="not both"):
        Watch(Pod, namespace="dev", namespaces=["prod"])


@pytest.mark.parametrize(
    "option",
    [
        {"namespace": ""},
        {"namespaces": ["dev"]},
        {"label_selector": "app=web"},
        {"field_selector": "spec.nodeName=n1"},
        {"transform": lambda item: item},
        {"indexers": {"by node": lambda item: [item.spec.node_name]}},
    ],
)
async def test_selection_options_for_an_existing_informer_are_refused(option: dict[str, Any]):
    async with world() as (_, client):
        informer = SharedInformerFactory(client).informer(Pod).informer
        assert str(Watch(informer, keys=lambda item: item.key, when=labels_changed)) == "pods"
        with pytest.raises(UsageError, match=rf"Watch\(pods, {next(iter(option))}=.*its own selection"):
            Watch(informer, **option)


async def test_a_controller_without_a_client_cannot_watch_a_kind():
    with pytest.raises(UsageError, match="client="):
        await Controller(Calls(), for_=ConfigMap).run()


async def test_a_controller_runs_once_and_a_second_run_does_not_disturb_the_first():
    async with world() as (_, client):
        calls = Calls()
        controller = Controller(calls, for_=ConfigMap, client=client)
        async with controller:
            await controller.wait_for_sync()
            with pytest.raises(UsageError, match="runs only once"):
                await controller.run()
            manager = Manager(client)
            manager.add(controller)
            with pytest.raises(UsageError, match="runs only once"):
                await manager.run(handle_signals=False)
            await client.core_v1.configmaps("default").create(config_map("still-received"))
            await calls.wait_for(key("still-received"))


@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_stopped_controller_or_manager_cannot_be_started_again(has_begun: bool):
    async with world() as (_, client):
        controller = Controller(Calls(), for_=ConfigMap, client=client)
        async with controller:
            if has_begun:
                await controller.wait_for_sync()
        with pytest.raises(UsageError, match="create a new one"):
            async with controller:
                pass
        manager = Manager(client)
        async with manager:
            if has_begun:
                await asyncio.sleep(0)
        with pytest.raises(UsageError, match="create a new one"):
            async with manager:
                pass
