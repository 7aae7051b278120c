"""Metrics of all components, as Prometheus reads them; on the embedded server."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from tests.controller.worlds import HastyClock
from tests.leaderelection.memory_lock import MemoryLock, RecordStore

import listwatch as lw
from listwatch import blocking
from listwatch.clock import SystemClock
from listwatch.errors import ConfigError, NotFoundError, ServiceUnavailableError, UsageError
from listwatch.metrics import Collector
from listwatch.metrics.samples import metrics_text, samples_of
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.server.faults.faults import Fail, Fault
from listwatch.testing.api_server_thread import APIServerThread


class Scraped:
    """The metrics of a registry with one collector, or of a text: values by name and labels, and types."""

    def __init__(self, collector: Collector, *, text: str = "") -> None:
        registry = CollectorRegistry()
        registry.register(collector)
        families = [*text_string_to_metric_families(text or generate_latest(registry).decode())]
        self.types = {family.name: family.type for family in families}
        self._values = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
        }

    def value(self, metric: str, /, **labels: str) -> float | None:
        return self._values.get((metric, tuple(sorted(labels.items()))))

    def series(self, metric: str) -> list[tuple[tuple[str, str], ...]]:
        """The labels of each value, in the order of the exposition."""
        return [labels for name, labels in self._values if name == metric]

    def labels(self, metric: str) -> set[str]:
        return {name for labels in self.series(metric) for name, _ in labels}

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self._values}


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        yield client


def host_of(rest: lw.RESTClient | blocking.RESTClient) -> str:
    return rest.config.base_url.removeprefix("http://")


def collector_of(*parts: Any) -> Collector:
    collector = Collector()
    collector.add(*parts)
    return collector


async def test_a_work_queue_has_the_metrics_of_client_go():
    queue: lw.WorkQueue[str] = lw.WorkQueue(name="pods")
    queue.add("a")
    queue.add("b")
    queue.add("b")
    async with queue.take():
        scraped = Scraped(collector_of(queue))
    assert scraped.value("workqueue_depth", name="pods") == 1
    assert scraped.value("workqueue_adds_total", name="pods") == 2
    assert scraped.value("workqueue_retries_total", name="pods") == 0
    assert scraped.value("workqueue_queue_duration_seconds_count", name="pods") == 1
    assert scraped.value("workqueue_queue_duration_seconds_bucket", name="pods", le="+Inf") == 1
    assert scraped.value("workqueue_queue_duration_seconds_bucket", name="pods", le="1e-08") == 0
    assert scraped.value("workqueue_work_duration_seconds_count", name="pods") == 0
    assert scraped.names >= {"workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds"}
    assert scraped.types["workqueue_depth"] == "gauge"
    assert scraped.types["workqueue_adds"] == "counter"
    assert scraped.types["workqueue_work_duration_seconds"] == "histogram"


async def test_a_queue_without_a_name_has_no_metrics():
    queue: lw.WorkQueue[str] = lw.WorkQueue()
    assert Scraped(collector_of(queue)).names == set()


async def test_a_client_has_metrics_by_method_code_and_host(client: lw.ClientSet, server: APIServer):
    pods = client.core_v1.pods("default")
    await pods.list()
    with pytest.raises(NotFoundError):
        await pods.get("missing")
    collector = collector_of(client)
    await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
    scraped = Scraped(collector)
    host = host_of(client.rest)
    assert scraped.value("rest_client_requests_total", code="200", method="GET", host=host) == 1
    assert scraped.value("rest_client_requests_total", code="404", method="GET", host=host) == 1
    assert scraped.value("rest_client_requests_total", code="201", method="POST", host=host) == 1
    assert scraped.value("rest_client_request_duration_seconds_count", verb="GET", host=host) == 2
    seconds = scraped.value("rest_client_request_duration_seconds_sum", verb="GET", host=host)
    assert seconds is not None
    assert seconds > 0
    assert "rest_client_request_retries_total" not in scraped.names
    assert "rest_client_rate_limiter_duration_seconds_count" not in scraped.names


# What client-go 0.37 and controller-runtime 0.25 register: labels, and the upper bounds of the buckets.
SECONDS = "0.005 0.025 0.1 0.25 0.5 1.0 2.0 4.0 8.0 15.0 30.0 60.0"
BYTES = "64.0 256.0 512.0 1024.0 4096.0 16384.0 65536.0 262144.0 1.048576e+06 4.194304e+06 1.6777216e+07"
DECADES = "1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1.0 10.0"
HISTOGRAMS = {
    "rest_client_request_duration_seconds": ({"verb", "host"}, SECONDS),
    "rest_client_rate_limiter_duration_seconds": ({"verb", "host"}, SECONDS),
    "rest_client_request_size_bytes": ({"verb", "host"}, BYTES),
    "rest_client_response_size_bytes": ({"verb", "host"}, BYTES),
    "informer_processing_latency_seconds": (
        {"name", "group", "version", "resource"},
        "0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1.0 2.5 5.0 10.0",
    ),
    "workqueue_queue_duration_seconds": ({"name"}, DECADES),
    "workqueue_work_duration_seconds": ({"name"}, DECADES),
    "controller_runtime_reconcile_time_seconds": (
        {"controller"},
        "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1.0 1.25 1.5 1.75 2.0 2.5 3.0 "
        "3.5 4.0 4.5 5.0 6.0 7.0 8.0 9.0 10.0 15.0 20.0 25.0 30.0 40.0 50.0 60.0",
    ),
}


async def test_histograms_have_the_labels_and_buckets_of_client_go_and_controller_runtime(server: APIServer):
    reconciled = asyncio.Event()

    async def reconcile(key: lw.ObjectKey) -> None:
        reconciled.set()

    server.faults.add(Fault(Fail(ServiceUnavailableError("busy", retry_after=1)), verb="create", times=1))
    config = dataclasses.replace(server.config, qps=1000, burst=1)
    async with lw.RESTClient(config, clock=HastyClock()) as rest:
        client = lw.ClientSet(rest)
        manager = lw.Manager(client)
        manager.add(lw.Controller(reconcile, for_=ConfigMap, name="maps"))
        async with manager:
            item = ConfigMap(metadata=ObjectMeta(name="a"), data={"a": 100 * "x"})
            created = await client.core_v1.configmaps("default").create(item)
            await reconciled.wait()
            collector = collector_of(manager, client)
            text = metrics_text(
                [*samples_of(manager.statistics()), *samples_of(rest.statistics(), host=config.base_url)]
            )
            exposed = Scraped(collector), Scraped(collector, text=text)
    labels = {"verb": "POST", "host": host_of(rest)}
    for scraped in exposed:
        for name, (expected, bounds) in HISTOGRAMS.items():
            assert scraped.types[name] == "histogram"
            assert scraped.labels(f"{name}_bucket") == expected | {"le"}
            found = [dict(each)["le"] for each in scraped.series(f"{name}_bucket")]
            assert [float(each) for each in found][: len(bounds.split())] == [*map(float, bounds.split())]
            assert found[len(bounds.split())] == "+Inf"
            counts = [scraped.value(f"{name}_bucket", **dict(each)) for each in scraped.series(f"{name}_bucket")]
            assert counts[: len(bounds.split()) + 1] == sorted(counts[: len(bounds.split()) + 1])
        # A retry is part of its request; each attempt counts as a request.
        assert scraped.value("rest_client_request_duration_seconds_count", **labels) == 1
        assert scraped.value("rest_client_requests_total", code="503", method="POST", host=labels["host"]) == 1
        assert scraped.value("rest_client_request_retries_total", code="503", **labels) == 1
        assert scraped.value("rest_client_response_size_bytes_sum", **labels) == len(created.to_json())
        assert scraped.value("rest_client_request_size_bytes_bucket", le="64", **labels) == 0
        assert scraped.value("rest_client_request_size_bytes_bucket", le="1.6777216e+07", **labels) == 1
        assert scraped.value("controller_runtime_reconcile_errors_total", controller="maps") == 0
        assert scraped.value("controller_runtime_reconcile_timeouts_total", controller="maps") == 0


async def test_requests_without_a_response_are_counted_as_errors():
    async with lw.RESTClient(lw.ClientConfig(host="http://127.0.0.1:9")) as rest:
        with pytest.raises(lw.errors.TransportError):
            await rest.get().resource("pods").max_retries(0).do()
        labels = {"code": "<error>", "method": "GET", "host": host_of(rest)}
        assert Scraped(collector_of(rest)).value("rest_client_requests_total", **labels) == 1


async def test_the_metrics_of_informers_name_their_resource(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
    async with lw.SharedInformerFactory(client) as factory:
        factory.core_v1.configmaps.informer.add_handler(on_add=lambda _: None)
        assert factory.apps_v1.deployments.informer
        await factory.wait_for_sync()
        scraped = Scraped(collector_of(factory))
        labels = {"name": "configmaps", "group": "", "version": "v1", "resource": "configmaps"}
        held = factory.core_v1.configmaps.informer.indexer
        assert scraped.value("informer_queued_items", **labels) == 0
        assert scraped.value("informer_store_resource_version", **labels) == float(held.resource_version)
        assert scraped.value("listwatch_informer_objects", **labels) == len(held)
        assert scraped.value("listwatch_informer_handled_total", **labels) == len(held)
        assert scraped.value("listwatch_informer_synced", **labels) == 1
        assert scraped.value("listwatch_informer_watching", **labels) == 1
        assert scraped.value("listwatch_informer_skipped_total", **labels) == 0
        assert scraped.value("listwatch_informer_last_contact_timestamp_seconds", **labels) > 1.7e9
        assert scraped.value("reflector_watches_total", **labels)
        labels = {"name": "deployments.apps", "group": "apps", "version": "v1", "resource": "deployments"}
        assert scraped.value("listwatch_informer_objects", **labels) == 0


async def test_an_informer_that_has_not_listed_has_no_version_metric(client: lw.ClientSet):
    informer = lw.SharedIndexInformer(client.core_v1.pods(), Pod)
    scraped = Scraped(collector_of(informer))
    assert "informer_queued_items" in scraped.names
    assert "informer_store_resource_version" not in scraped.names


async def test_an_elector_has_a_metric_of_its_leadership():
    elector = lw.LeaderElector(MemoryLock(RecordStore()), identity="me")
    collector = collector_of(elector)
    assert Scraped(collector).value("leader_election_master_status", name="memory/lock") == 0
    async with elector.lead():
        assert Scraped(collector).value("leader_election_master_status", name="memory/lock") == 1
        assert Scraped(collector).value("leader_election_slowpath_total", name="memory/lock") == 0


async def test_a_manager_has_the_metrics_of_all_its_components(client: lw.ClientSet):
    reconciled = asyncio.Event()
    elector = lw.LeaderElector(client, name="one", namespace="default")
    manager = lw.Manager(client, leader_elector=elector)

    async def reconcile(key: lw.ObjectKey) -> None:
        reconciled.set()

    manager.add(lw.Controller(reconcile, for_=ConfigMap, name="settings"))
    collector = collector_of(manager)
    await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
    async with manager:
        await reconciled.wait()
        scraped = Scraped(collector)
    assert scraped.value("leader_election_master_status", name="default/one") == 1
    assert scraped.value("controller_runtime_max_concurrent_reconciles", controller="settings")
    assert scraped.value("workqueue_adds_total", name="settings")
    assert scraped.types["controller_runtime_reconcile_time_seconds"] == "histogram"
    labels = {"name": "configmaps", "group": "", "version": "v1", "resource": "configmaps"}
    assert scraped.value("listwatch_informer_objects", **labels)
    results = {
        result: Scraped(collector).value("controller_runtime_reconcile_total", controller="settings", result=result)
        for result in ("success", "requeue_after", "error")
    }
    assert results["success"]
    assert (results["requeue_after"], results["error"]) == (0, 0)


async def test_the_text_format_equals_what_prometheus_client_writes(client: lw.ClientSet):
    manager = lw.Manager(client, leader_election='a "quoted\\" name', namespace="default")
    manager.add(lw.Controller(lambda key: None, for_=ConfigMap, name="settings"))
    manager.add(lw.Controller(lambda key: None, for_=lw.Watch(ConfigMap, label_selector="a=b"), name="labelled"))
    collector = collector_of(manager, client)
    text = metrics_text(
        [*samples_of(manager.statistics()), *samples_of(client.rest.statistics(), host=client.rest.config.base_url)]
    )
    collected, written = Scraped(collector), Scraped(collector, text=text)
    assert written.types == collected.types
    assert written.names == collected.names
    assert written.value("leader_election_master_status", name='default/a "quoted\\" name') == 0


async def test_an_event_recorder_has_metrics_by_outcome(client: lw.ClientSet):
    recorder = lw.EventRecorder(client.core_v1.events(), component="test")
    item = await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
    async with recorder:
        recorder.event(item, "Normal", "Made", "it is there")
    scraped = Scraped(collector_of(recorder))
    assert scraped.value("listwatch_events_total", component="test", outcome="created") == 1
    assert scraped.value("listwatch_events_total", component="test", outcome="dropped") == 0
    assert scraped.value("listwatch_events_pending", component="test") == 0


async def test_of_two_components_with_the_same_name_the_first_counts():
    first: lw.WorkQueue[str] = lw.WorkQueue(name="pods")
    second: lw.WorkQueue[str] = lw.WorkQueue(name="pods")
    third: lw.WorkQueue[str] = lw.WorkQueue(name="nodes")
    second.add("a")
    third.add("a")
    scraped = Scraped(collector_of(first, second, third))
    assert scraped.value("workqueue_depth", name="pods") == 0
    assert scraped.value("workqueue_depth", name="nodes") == 1


async def test_nothing_is_kept_alive_by_its_metrics():
    queue: lw.WorkQueue[str] | None = lw.WorkQueue(name="pods")
    collector = collector_of(queue, queue)
    assert repr(collector) == "<Collector of 1 component>"
    assert Scraped(collector).names
    queue = None
    gc.collect()
    assert Scraped(collector).names == set()
    assert repr(collector) == "<Collector of 0 components>"


async def test_a_component_without_statistics_is_refused():
    with pytest.raises(UsageError, match=r"cannot collect metrics from 'pods': it has no statistics\(\)"):
        Collector().add("pods")  # type: ignore[arg-type]  # on purpose


class Counted:
    """Something with statistics of its own kind."""

    def statistics(self) -> object:
        return self


async def test_unknown_statistics_are_refused():
    with pytest.raises(UsageError, match="Counted cannot be converted to metrics"):
        Collector().add(Counted())


class Changing(lw.WorkQueue[str]):
    """A queue whose numbers cannot always be read, as when another thread changes them."""

    failures: list[Exception]

    def statistics(self) -> Any:
        if getattr(self, "failures", None):
            raise self.failures.pop()
        return super().statistics()


async def test_statistics_that_change_while_they_are_read_are_read_again():
    queue = Changing(name="pods")
    collector = collector_of(queue)
    queue.failures = [RuntimeError("dictionary changed size during iteration")] * 2
    assert Scraped(collector).value("workqueue_depth", name="pods") == 0


async def test_a_component_that_fails_is_omitted_and_others_are_not(caplog: pytest.LogCaptureFixture):
    broken, other = Changing(name="broken"), Changing(name="other")
    collector = collector_of(broken, other)
    broken.failures = [ValueError("a mistake")]
    scraped = Scraped(collector)
    assert scraped.value("workqueue_depth", name="broken") is None
    assert scraped.value("workqueue_depth", name="other") == 0
    assert "ValueError: a mistake" in caplog.text


def test_blocking_components_have_metrics(api_server: APIServerThread):
    with blocking.ClientSet(api_server.config) as client:
        client.core_v1.pods("default").list()
        elector = blocking.LeaderElector(client, name="one", namespace="default")
        collector = collector_of(client, client.rest, elector)
        assert repr(collector) == "<Collector of 2 components>"
        with elector.lead():
            scraped = Scraped(collector)
    assert scraped.value("leader_election_master_status", name="default/one") == 1
    assert scraped.value("rest_client_requests_total", code="200", method="GET", host=host_of(client.rest)) == 1


class CuriousClock(SystemClock):
    """Detects whether a queue could be changed while it reads the clock."""

    def __init__(self) -> None:
        self.found_open: list[bool] = []

    def look_at(self, queue: blocking.WorkQueue[Any]) -> None:
        self._queue = queue

    def monotonic(self) -> float:
        looking = threading.Thread(target=self._look)
        looking.start()
        looking.join()
        return super().monotonic()

    def _look(self) -> None:
        is_open = self._queue._changed.acquire(blocking=False)
        if is_open:
            self._queue._changed.release()
        self.found_open.append(is_open)


def test_a_blocking_queue_is_not_changed_while_it_is_read():
    clock = CuriousClock()
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="keys", clock=clock)
    clock.look_at(queue)
    queue.add("one")
    assert Scraped(collector_of(queue)).value("workqueue_depth", name="keys") == 1
    assert (len(queue), repr(queue)) == (1, "<blocking WorkQueue 'keys': 1 waiting, 0 in process, 0 delayed>")
    assert clock.found_open
    assert not any(clock.found_open)


async def test_metrics_can_be_collected_in_any_thread(client: lw.ClientSet):
    await client.core_v1.pods("default").list()
    collector, names = collector_of(client), []
    thread = threading.Thread(target=lambda: names.extend(Scraped(collector).names))
    thread.start()
    thread.join()
    assert "rest_client_requests_total" in names


def test_without_prometheus_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "listwatch.metrics.prometheus", raising=False)
    monkeypatch.delattr(sys.modules["listwatch.metrics"], "prometheus", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "prometheus_client"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r"install listwatch\[metrics\]"):
        Collector()
