"""Spans of requests, lists, watches and reconciles, as the SDK of OpenTelemetry records them."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode
from tests.client.scripted import scripted
from tests.controller.worlds import HastyClock, config_map
from tests.tracing.recorded_spans import Spans, attributes, context_of, is_child, links, recorded

import listwatch as lw
from listwatch import blocking
from listwatch.api.request_paths import parse_path
from listwatch.errors import (
    ConfigError,
    ConflictError,
    ConnectError,
    InternalServerError,
    NotFoundError,
    ServiceUnavailableError,
)
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer
from listwatch.server.faults.faults import Fail, Fault
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.scripted_server import respond
from listwatch.tracing.causes import ItemCauses, ReceivedChange, WriteSpans
from listwatch.tracing.spans import Tracing

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
TIMEOUT = 30.0


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as spans:
        yield spans


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[lw.ClientSet]:
    async with lw.ClientSet(server.config) as client:
        yield client


def is_error(span: ReadableSpan, kind: str) -> bool:
    return span.status.status_code is StatusCode.ERROR and attributes(span)["error.type"] == kind


# --- requests ---


async def test_a_request_is_a_client_span_below_the_current_one(server: APIServer, client: lw.ClientSet, spans: Spans):
    maps = client.core_v1.configmaps("default")
    with spans.tracer.start_as_current_span("program"):
        await maps.create(config_map("a"))
        with pytest.raises(NotFoundError):
            await maps.get("missing")
    await maps.list(label_selector="app=secret-selector", limit=5)

    created, missing, listed = (spans.one(name) for name in (f"POST {MAPS}", f"GET {MAPS}/{{name}}", f"GET {MAPS}"))
    assert is_child(created, spans.one("program"))
    assert is_child(missing, spans.one("program"))
    assert listed.parent is None
    assert created.kind is SpanKind.CLIENT
    host, _, port = server.url.removeprefix("http://").partition(":")
    found = attributes(missing)
    assert found.pop("http.response.body.size")
    assert found == {
        "http.request.method": "GET",
        "url.full": f"{server.url}/api/v1/namespaces/default/configmaps/missing",
        "url.template": f"{MAPS}/{{name}}",
        "server.address": host,
        "server.port": int(port),
        "http.response.status_code": 404,
        "error.type": "404",
        "k8s.namespace.name": "default",
        "listwatch.verb": "get",
        "listwatch.resource": "configmaps",
        "listwatch.object.name": "missing",
    }
    assert created.status.status_code is StatusCode.UNSET
    assert missing.status.status_code is StatusCode.ERROR
    assert attributes(listed)["listwatch.verb"] == "list"
    assert attributes(created)["http.request.body.size"]


async def test_a_request_carries_the_context_of_its_own_span(spans: Spans):
    async with scripted(respond(404)) as (server, client):
        with pytest.raises(lw.errors.ListWatchError):
            await client.core_v1.pods("default").get("web-0")
        (request,) = server.requests
    span = context_of(spans.ended[-1])
    expected = f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
    assert request.headers["traceparent"] == expected


async def test_each_attempt_of_a_request_has_a_span(server: APIServer, spans: Spans):
    server.faults.add(Fault(Fail(ServiceUnavailableError("busy", retry_after=1)), verb="get", times=2))
    async with lw.RESTClient(server.config, clock=HastyClock()) as rest:
        await rest.get().resource("namespaces").name("default").do()
    attempts = spans.named("GET /api/v1/namespaces/{name}")
    assert [attributes(each).get("http.request.resend_count", 0) for each in attempts] == [0, 1, 2]
    assert [attributes(each)["http.response.status_code"] for each in attempts] == [503, 503, 200]


async def test_a_request_without_a_response_is_a_failed_span(spans: Spans):
    async with lw.ClientSet(lw.ClientConfig(host="http://127.0.0.1:1")) as client:
        with pytest.raises(ConnectError) as raised:
            await client.core_v1.pods("default").list()
    assert is_error(spans.ended[-1], type(raised.value).__name__)


async def test_spans_show_no_query_header_or_body(server: APIServer, spans: Spans):
    config = server.config_for_token(server.issue_token("spy-on-token"))
    async with lw.ClientSet(config) as client:
        with pytest.raises(lw.errors.APIError):
            await client.core_v1.pods("default").exec("web-0", ["login", "--password=hunter2"])
        with spans.tracer.start_as_current_span("program"):
            await client.core_v1.configmaps("default").create(config_map("a", key="hunter2"))
    recorded = json.dumps([json.loads(each.to_json()) for each in spans.ended])
    assert "/exec" in recorded
    assert "hunter2" not in recorded
    assert config.token not in recorded


@pytest.mark.parametrize(
    ("path", "template"),
    [
        (
            "/apis/apps/v1/namespaces/a/deployments/web/scale",
            "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
        ),
        ("/api/v1/nodes/n1/proxy/metrics/cadvisor", "/api/v1/nodes/{name}/proxy/{path}"),
        ("/api/v1/namespaces/a/finalize", "/api/v1/namespaces/{name}/finalize"),
        ("/apis/apps/v1", "/apis/apps/v1"),
        ("/version", "/version"),
        ("/openapi/v3/apis/apps/v1", ""),
    ],
)
def test_a_template_has_no_names_of_objects(path: str, template: str):
    assert parse_path(path).template == template


# --- lists and watches ---


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_informer_has_a_span_for_its_list_and_for_each_watch_that_it_starts(
    client: lw.ClientSet, spans: Spans, streaming: bool
):
    await client.core_v1.configmaps("default").create(config_map("a"))
    source = client.core_v1.configmaps("default")
    with spans.tracer.start_as_current_span("program"):
        informer = lw.SharedIndexInformer(source, ConfigMap, streaming=streaming, page_size=1)
        async with informer:
            await informer.wait_for_sync(TIMEOUT)
            while not informer.statistics().is_watching:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0)
    listed = spans.one("list configmaps")
    assert listed.parent is None
    found = attributes(listed)
    assert found["listwatch.list.by"] == ("stream" if streaming else "list")
    assert found["listwatch.list.objects"] == 1
    requests = [each for each in spans.named(f"GET {MAPS}") if is_child(each, listed)]
    assert [attributes(each)["listwatch.verb"] for each in requests] == ["watch" if streaming else "list"]
    if not streaming:
        watch = spans.one("watch configmaps")
        assert attributes(watch)["listwatch.resource_version"] == informer.indexer.resource_version
        assert spans.one(f"GET {MAPS}", lambda each: is_child(each, watch))


async def test_the_span_of_a_list_has_its_failed_attempts(server: APIServer, client: lw.ClientSet, spans: Spans):
    server.faults.add(Fault(Fail(InternalServerError("broken")), resource="configmaps", times=1))
    source = client.core_v1.configmaps("default")
    informer = lw.SharedIndexInformer(source, ConfigMap, clock=HastyClock(), on_problem=lambda _: None)
    async with informer:
        await informer.wait_for_sync(TIMEOUT)
    (event,) = spans.one("list configmaps").events
    assert event.attributes is not None
    assert event.attributes["exception.type"] == "listwatch.errors.InternalServerError"


# --- reconciles ---


class Reconciles:
    """Waits for the calls of a reconcile function. Each of them waits until the test lets it continue."""

    def __init__(self) -> None:
        self.started: asyncio.Queue[str] = asyncio.Queue()
        self.may_end = asyncio.Semaphore(0)

    async def __call__(self, key: lw.ObjectKey) -> None:
        self.started.put_nowait(key.name)
        await self.may_end.acquire()

    async def finish_one(self) -> None:
        """Let the next reconcile run to its end."""
        await self.started.get()
        self.may_end.release()


async def test_a_reconcile_has_links_to_the_writes_that_caused_it(client: lw.ClientSet, spans: Spans):
    maps, reconciles = client.core_v1.configmaps("default"), Reconciles()
    async with lw.Controller(reconciles, for_=ConfigMap, client=client, name="maps") as controller:
        await controller.wait_for_sync(TIMEOUT)
        written = await maps.create(config_map("a"))
        await reconciles.finish_one()
        written.data["x"] = "1"
        await maps.update(written)
        await reconciles.finish_one()
        await maps.delete("a")
        await reconciles.finish_one()
    first, second, third = spans.named("reconcile maps")
    assert links(first) == {context_of(spans.one(f"POST {MAPS}")).span_id}
    assert links(second) == {context_of(spans.one(f"PUT {MAPS}/{{name}}")).span_id}
    assert links(third) == {context_of(spans.one(f"DELETE {MAPS}/{{name}}")).span_id}
    assert first.parent is None
    assert attributes(first) == {
        "listwatch.controller.name": "maps",
        "listwatch.object.name": "a",
        "k8s.namespace.name": "default",
        "listwatch.reconcile.attempt": 1,
        "listwatch.reconcile.result": "succeeded",
    }


async def test_a_reconcile_in_one_of_several_clusters_names_it(client: lw.ClientSet, spans: Spans):
    reconciles = Reconciles()
    manager = lw.Manager({"eu": client})
    manager.add(lw.Controller(reconciles, for_=ConfigMap, name="maps"))
    async with manager:
        await manager.wait_ready(timeout=TIMEOUT)
        await client.core_v1.configmaps("default").create(config_map("a"))
        await reconciles.finish_one()
    reconcile = spans.one("reconcile maps")
    assert attributes(reconcile)["k8s.cluster.name"] == "eu"
    assert links(reconcile) == {context_of(spans.one(f"POST {MAPS}")).span_id}


async def test_a_retry_has_a_link_to_the_attempt_before_and_requests_are_children(client: lw.ClientSet, spans: Spans):
    done = asyncio.Event()

    async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext) -> None:
        await client.core_v1.namespaces().get("default")
        if context.attempt == 1:
            raise ConflictError("changed meanwhile")
        done.set()

    controller = lw.Controller(
        reconcile, for_=ConfigMap, client=client, name="maps", clock=HastyClock(), on_failure=lambda _: None
    )
    async with controller:
        await controller.wait_for_sync(TIMEOUT)
        with spans.tracer.start_as_current_span("program"):
            controller.enqueue("default/a")
        await done.wait()
    first, second = spans.named("reconcile maps")
    assert links(first) == {context_of(spans.one("program")).span_id}
    assert links(second) == {context_of(first).span_id}
    assert is_error(first, "ConflictError")
    assert [event.name for event in first.events] == ["exception"]
    requests = spans.named("GET /api/v1/namespaces/{name}")
    assert [is_child(*pair) for pair in zip(requests, (first, second), strict=True)] == [True, True]


async def test_a_reconcile_that_a_stop_cancels_has_not_failed(client: lw.ClientSet, spans: Spans):
    reconciles = Reconciles()
    async with lw.Controller(reconciles, for_=ConfigMap, client=client, name="maps", grace_period=0) as controller:
        await controller.wait_for_sync(TIMEOUT)
        controller.enqueue("default/a")
        await reconciles.started.get()
    span = spans.one("reconcile maps")
    assert (span.status.status_code, span.events) == (StatusCode.UNSET, ())
    assert attributes(span)["listwatch.reconcile.result"] == "interrupted"


def test_a_plain_function_in_a_thread_and_a_blocking_client_have_the_same_spans(
    api_server: APIServerThread, spans: Spans
):
    written, done = threading.Event(), threading.Event()
    with blocking.ClientSet(api_server.config) as client:

        def reconcile(key: lw.ObjectKey) -> None:
            client.core_v1.namespaces().get("default")
            written.wait(TIMEOUT)  # its event may arrive before the response to the create
            done.set()

        with blocking.Controller(reconcile, for_=ConfigMap, client=client, name="maps") as controller:
            controller.wait_for_sync(TIMEOUT)
            with spans.tracer.start_as_current_span("program"):
                client.core_v1.configmaps("default").create(config_map("a"))
            written.set()
            assert done.wait(TIMEOUT)
    created, reconciled = spans.one(f"POST {MAPS}"), spans.one("reconcile maps")
    assert is_child(created, spans.one("program"))
    assert links(reconciled) == {context_of(created).span_id}
    assert is_child(spans.one("GET /api/v1/namespaces/{name}"), reconciled)


# --- queues ---


async def test_an_item_of_a_queue_has_links_to_all_that_added_it(spans: Spans):
    queue: lw.WorkQueue[str] = lw.WorkQueue(name="pods")
    with spans.tracer.start_as_current_span("first"):
        queue.add("a")
    with spans.tracer.start_as_current_span("second"):
        queue.add("a")
        queue.add("a")
    async with queue.take():
        with spans.tracer.start_as_current_span("third"):
            queue.add("a")
    with pytest.raises(ZeroDivisionError):
        async with queue.take():
            raise ZeroDivisionError
    names = {context_of(each).span_id: each.name for each in spans.ended}
    done, failed = spans.named("process pods")
    assert {names[each] for each in links(done)} == {"first", "second"}
    assert {names[each] for each in links(failed)} == {"third"}
    assert is_child(spans.one("third"), done)
    assert attributes(done) == {"listwatch.queue.name": "pods", "listwatch.item": "a"}
    assert is_error(failed, "ZeroDivisionError")


def test_a_blocking_queue_passes_contexts_between_threads(spans: Spans):
    queue: blocking.WorkQueue[str] = blocking.WorkQueue(name="pods")

    def produce() -> None:
        with spans.tracer.start_as_current_span("producer"):
            queue.add("a")

    thread = threading.Thread(target=produce)
    thread.start()
    with queue.take() as item:
        assert item == "a"
    thread.join()
    assert links(spans.one("process pods")) == {context_of(spans.one("producer")).span_id}


async def test_a_handler_that_adds_to_a_queue_passes_the_write_on(client: lw.ClientSet, spans: Spans):
    queue: lw.WorkQueue[str] = lw.WorkQueue(name="maps")
    informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap)
    informer.add_handler(on_add=lambda item: queue.add(item.cache_key))
    async with informer:
        await informer.wait_for_sync(TIMEOUT)
        await client.core_v1.configmaps("default").create(config_map("a"))
        async with queue.take():
            pass
    assert links(spans.one("process maps")) == {context_of(spans.one(f"POST {MAPS}")).span_id}


def test_a_write_whose_response_arrives_after_its_event_is_linked_at_the_end_of_the_work(spans: Spans):
    tracing = Tracing(spans.provider)
    with tracing.handling("uid", "7", is_deletion=False):
        causes = tracing.causes()
    with tracing.work("reconcile", {}, causes), spans.tracer.start_as_current_span("write") as write:
        tracing.remember_write(write, "uid", "7", deletes=False)
    assert links(spans.one("reconcile")) == {context_of(spans.one("write")).span_id}


# --- bounds ---


def test_only_the_last_writes_are_remembered():
    writes: WriteSpans[int] = WriteSpans(limit=3)
    for number in range(5):
        writes.remember(f"uid-{number}", "1", number, deletes=False)
    assert len(writes) == 3
    assert [writes.find(ReceivedChange(f"uid-{number}", "1", False)) for number in (0, 4)] == [None, 4]
    writes.remember("uid-4", "2", 9, deletes=True)
    assert writes.find(ReceivedChange("uid-4", "3", is_deletion=True)) == 9
    assert writes.find(ReceivedChange("uid-4", "3", is_deletion=False)) is None


def test_only_the_last_causes_of_an_item_are_kept():
    causes: ItemCauses[str, int] = ItemCauses()
    for number in range(100):
        causes.add("a", [number])
    causes.take("a")
    assert causes.of("a") == list(range(68, 100))
    causes.done("a")
    assert causes.of("a") == []


# --- the switch ---


def test_tracing_without_opentelemetry_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "listwatch.tracing.spans", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigError, match=r"install listwatch\[otel\]"):
        lw.tracing.enable()
    assert not lw.tracing.is_enabled()


async def test_without_the_switch_nothing_is_recorded(client: lw.ClientSet):
    with recorded() as spans:
        lw.tracing.disable()
        await client.core_v1.namespaces().list()
        assert spans.ended == []
