"""What a program finds in the log: the lines of each component, their fields, and no secrets."""

from __future__ import annotations

import ast
import asyncio
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import listwatch as lw
from listwatch.backoff import Backoff
from listwatch.controller import Manager
from listwatch.errors import ExpiredError
from listwatch.informer import HandlerFunctions
from listwatch.leaderelection import LeaderElector
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.testing.scripted_server import ScriptedServer, respond

SOURCE = Path(lw.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
SECRET = "c4n4ry"
NUMBER = re.compile(r"\d+\.\d+")


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def lines(caplog: pytest.LogCaptureFixture, logger: str, level: int = logging.INFO) -> list[str]:
    """The messages of a logger, with all durations as 0.0."""
    found = [each for each in caplog.records if each.name == logger and each.levelno >= level]
    return [f"{each.levelname} {NUMBER.sub('0.0', each.getMessage())}" for each in found]


def record(caplog: pytest.LogCaptureFixture, text: str) -> dict[str, Any]:
    return next(vars(each) for each in caplog.records if text in each.getMessage())


# --- Informers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("streaming", "by"), [(True, "stream"), (False, "list")])
async def test_an_informer_logs_when_it_was_started_has_synced_and_has_stopped(
    caplog: pytest.LogCaptureFixture, *, streaming: bool, by: str
):
    caplog.set_level(logging.INFO, "listwatch")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        for name in ("a", "b"):
            await client.core_v1.configmaps("default").create(config_map(name))
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap, streaming=streaming)
        async with informer:
            await informer.wait_for_sync(timeout=30)

    assert lines(caplog, "listwatch.informer") == [
        "INFO The informer of configmaps was started",
        f"INFO The informer of configmaps has synced: 2 objects in 0.0 s by {by}",
        "INFO The informer of configmaps has stopped; its cache keeps 2 objects",
    ]
    synced = record(caplog, "has synced")
    assert (synced["resource"], synced["objects"], synced["by"]) == ("configmaps", 2, by)
    assert synced["seconds"] >= 0


async def test_a_plain_informer_logs_the_same_lines(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        handler = HandlerFunctions[ConfigMap](on_add=lambda _: None)
        informer = lw.Informer(client.core_v1.configmaps("default"), ConfigMap, handler)
        async with informer:
            await informer.wait_for_sync(timeout=30)

    assert lines(caplog, "listwatch.informer") == [
        "INFO The informer of ConfigMap was started",
        "INFO The informer of ConfigMap has synced: 0 objects in 0.0 s by stream",
        "INFO The informer of ConfigMap has stopped; its cache keeps 0 objects",
    ]


async def test_a_relist_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create(config_map("a"))
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap, on_problem=lambda _: None)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            informer._pipelines[0].relist(ExpiredError("too old"))
            while not any("relisted" in each.getMessage() for each in caplog.records):  # noqa: ASYNC110  # no event
                await asyncio.sleep(0.01)

    relisted = record(caplog, "relisted")
    assert NUMBER.sub("0.0", relisted["message"]) == (
        "configmaps: relisted 1 object in 0.0 s by stream, because: too old (Expired, 410)"
    )
    assert (relisted["resource"], relisted["objects"], relisted["by"]) == ("configmaps", 1, "stream")
    assert relisted["reason"] == "too old (Expired, 410)"


async def test_requests_watches_and_versions_are_logged_at_debug(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "listwatch")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap, streaming=False)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            while not informer.statistics().is_watching:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.01)
            version = informer.indexer.resource_version

    debug = [each for each in lines(caplog, "listwatch.informer", logging.DEBUG) if each.startswith("DEBUG")]
    assert debug == [
        "DEBUG configmaps: list 500 objects at version 0",
        "DEBUG configmaps: listed 0 objects in 0.0 s by list",
        f"DEBUG configmaps: watch from version {version}",
    ]
    assert record(caplog, "watch from version")["resource_version"] == version
    path = "/api/v1/namespaces/default/configmaps"
    assert lines(caplog, "listwatch.client", logging.DEBUG) == [f"DEBUG GET {path}: 200 in 0.0 ms"] * 2
    request = record(caplog, "200 in")
    assert (request["method"], request["path"], request["status"]) == ("GET", path, 200)
    assert len(request["request_id"]) == 36
    assert request["ms"] > 0


async def test_an_outage_is_a_warning_with_cause_attempt_and_delay_and_then_a_recovery(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.INFO, "listwatch")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        backoff, server_url = Backoff(initial=0.01, cap=0.05), server.url
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap, backoff=backoff)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            await server.stop()
            while informer.failed_attempts < 3:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.01)
            await server.start()
            while informer.failed_attempts:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.05)

    warnings = [each for each in caplog.records if each.levelname == "WARNING" and each.name == "listwatch.informer"]
    assert 1 <= len(warnings) <= 3  # one per cause, however many attempts
    host = server_url.removeprefix("http://")
    refused = vars(next(each for each in warnings if "refused" in each.getMessage()))
    assert refused["message"].startswith(
        f"configmaps: GET /api/v1/namespaces/default/configmaps: {host}: connection refused; "
        "check that the server is running and that host and port are right; attempt "
    )
    assert refused["attempt"] >= 1
    assert refused["delay"] > 0
    assert any(re.fullmatch(r"configmaps: recovered after \d+ failed attempts?", m) for m in caplog.messages)


# --- Controllers and leaders ------------------------------------------------------------------------------------------


async def test_a_manager_logs_its_life(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "listwatch.controller")

    async def reconcile(key: lw.ObjectKey) -> None:
        pass

    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create(config_map("a"))
        manager = Manager(client, namespace="default")
        controller = manager.add(lw.Controller(reconcile, for_=ConfigMap, name="maps"))
        async with manager:
            while not controller.statistics().succeeded:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.01)

    found = lines(caplog, "listwatch.controller", logging.DEBUG)
    name = "test_a_manager_logs_its_life.<locals>.reconcile"
    assert found == [
        "INFO The manager of maps was started",
        "INFO Controller maps was started and waits for its caches",
        "INFO Controller maps reconciles with 4 workers",
        f"DEBUG {name} of default/a succeeded in 0.0 s",
        "INFO The manager of maps is stopping; running reconciles have 30 s to end",
        "INFO Controller maps is stopping: 0 reconciles in progress",
        "INFO Controller maps has stopped: 1 reconcile succeeded, 0 failed",
        "INFO The manager of maps has stopped",
    ]
    assert record(caplog, "succeeded in")["key"] == "default/a"


async def test_a_reconcile_that_always_fails_does_not_flood_the_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch.controller")

    async def reconcile(key: lw.ObjectKey) -> None:
        raise OSError("no route")

    async with APIServer() as server, lw.ClientSet(server.config) as client:
        controller = lw.Controller(reconcile, for_=ConfigMap, name="maps", client=client, namespace="default")
        async with controller:
            for number in range(100):
                controller.enqueue(f"default/{number}")
            while controller.statistics().failed < 100:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.01)
    records = [each for each in caplog.records if each.name == "listwatch.controller"]
    failures = [each for each in records if each.levelname == "WARNING"]
    assert len(failures) == 11  # ten one by one, and the count of the others when the controller stops
    assert re.search(r"failed: no route; attempt 1 failed, retrying in 0\.\d+ s$", failures[0].getMessage())
    assert failures[0].exc_info
    assert sum(vars(each)["count"] for each in failures) >= 100
    assert failures[-1].getMessage().endswith("times since the last line)")


async def test_leadership_is_logged_when_it_is_won_and_released(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "listwatch")
    async with (
        APIServer() as server,
        lw.ClientSet(server.config) as client,
        LeaderElector(client, name="lock", identity="me").lead(),
    ):
        pass

    assert lines(caplog, "listwatch.leaderelection") == [
        "INFO The leader for default/lock is me",
        "INFO me became the leader: it holds the lease default/lock",
        "INFO me has released the lease default/lock",
    ]


# --- Fields -----------------------------------------------------------------------------------------------------------

RECORD_ATTRIBUTES = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


def logged_fields() -> set[str]:
    """The names of all fields in `extra`: keys of dicts that are called extra or fields in modules with a logger."""
    names: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "_log = logging.getLogger" not in text and "logging.getLogger(logger)" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.keyword(arg="extra" | "fields", value=value):
                    names |= keys_in(value)
                case ast.Assign(targets=[target], value=value) if ast.unparse(target).endswith(("extra", "fields")):
                    names |= keys_in(value)
                case ast.FunctionDef(name="_fields"):
                    names |= keys_in(node)
    return names


def keys_in(node: ast.AST) -> set[str]:
    dicts = [each for each in ast.walk(node) if isinstance(each, ast.Dict)]
    return {str(key.value) for each in dicts for key in each.keys if isinstance(key, ast.Constant)}


def test_every_field_is_documented():
    page = (DOCS / "logging.md").read_text()
    table = page.partition("## Fields")[2].partition("```")[0]
    first_column = "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `"))
    assert logged_fields() == set(re.findall(r"`(\w+)`", first_column))


def test_no_field_replaces_an_attribute_of_a_record():
    assert not logged_fields() & RECORD_ATTRIBUTES


def test_loggers_are_named_by_package():
    names = set()
    for path in SOURCE.rglob("*.py"):
        names |= set(re.findall(r"logging\.getLogger\((.*?)\)", path.read_text()))
    literal = {name.strip('"') for name in names if name.startswith('"')} - {"asyncio"}
    packages = {each.name for each in SOURCE.iterdir() if each.is_dir()}
    assert names - {f'"{each}"' for each in (*literal, "asyncio")} == {"", "logger"}
    assert {each.split(".")[1] for each in literal - {"listwatch"}} <= packages
    page = (DOCS / "logging.md").read_text()
    assert {each for each in literal if f"`{each}`" not in page} == set()


# --- Secrets ----------------------------------------------------------------------------------------------------------


async def test_no_secret_of_a_url_a_header_or_a_kubeconfig_is_logged(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level(logging.DEBUG, "listwatch")
    async with APIServer(tls=True, token=f"{SECRET}-token") as server:
        server.kubeconfig(tmp_path / "config")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        async with lw.ClientSet() as client:
            await client.rest.get().request_uri(f"/version?token={SECRET}&command={SECRET}").do()
            await client.core_v1.secrets("default").create(
                {"metadata": {"name": "s"}, "stringData": {"password": SECRET}}
            )
            with pytest.raises(lw.errors.UnauthorizedError):
                await client.rest.get().abs_path("/version").header("Authorization", f"Bearer {SECRET}").do()
            async with lw.SharedIndexInformer(client.core_v1.secrets("default"), Secret) as informer:
                await informer.wait_for_sync(timeout=30)
    async with (
        ScriptedServer(otherwise=respond(503, SECRET.encode(), headers={"Retry-After": "0"})) as broken,
        lw.RESTClient(lw.ClientConfig(host=broken.url, token=SECRET)) as rest,
    ):
        with pytest.raises(lw.errors.APIError):
            await rest.get().abs_path("/version").param("token", SECRET).max_retries(2).do()

    assert len(caplog.records) > 5
    assert [each for each in caplog.records if SECRET in f"{vars(each)}"] == []


# --- LISTWATCH_LOG ----------------------------------------------------------------------------------------------------


def output_of(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr


LOGS = "logging.getLogger('listwatch.client').debug('hello')"


def test_the_variable_shows_the_log_of_a_program_without_logging():
    shown = output_of(f"import logging, listwatch; {LOGS}", LISTWATCH_LOG="debug")
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} DEBUG   listwatch\.client: hello\n", shown)


def test_without_the_variable_nothing_is_shown():
    assert output_of(f"import logging, listwatch; {LOGS}", LISTWATCH_LOG="") == ""


@pytest.mark.parametrize(
    "program",
    [
        "import logging; logging.basicConfig(format='own %(message)s'); import listwatch; ",
        "import logging, listwatch; logging.basicConfig(format='own %(message)s'); ",
    ],
    ids=["before", "after"],
)
def test_a_program_with_logging_gets_no_second_handler(program: str):
    assert output_of(program + LOGS, LISTWATCH_LOG="debug") == "own hello\n"


def test_an_unknown_level_is_reported():
    shown = output_of("import listwatch", LISTWATCH_LOG="loud")
    assert shown.endswith(
        "WARNING listwatch: LISTWATCH_LOG=loud is not a level; info is used. Levels are: debug, info, warning, error\n"
    )
