"""Settings follow a ConfigMap or Secret, and keep the last valid value."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.errors import InformerStoppedError, SettingsError, SyncTimeoutError, UsageError, WaitTimeoutError
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.server import APIServer
from listwatch.testing import APIServerThread


@dataclass
class Limits:
    workers: int
    mode: Literal["fast", "safe"] = "safe"
    verbose: bool = False


@dataclass
class Login:
    password: str


@pytest.fixture
async def client() -> AsyncIterator[lw.ClientSet]:
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        yield client


def configmap(data: dict[str, str], **more: Any) -> ConfigMap:
    return ConfigMap.from_dict({"metadata": {"name": "limits"}, "data": data, **more})


async def write(client: lw.ClientSet, data: dict[str, str | None]) -> None:
    await client.core_v1.configmaps("default").patch("limits", {"data": data})


async def until_problem(settings: lw.Settings[Limits]) -> str:
    while settings.problem is None:  # noqa: ASYNC110  # there is no event for it
        await asyncio.sleep(0)
    return settings.problem


async def test_the_texts_of_a_configmap_become_typed_fields(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(configmap({"workers": "4", "verbose": "true", "unknown": "x"}))
    async with lw.Settings(client, "default/limits", Limits) as settings:
        assert settings.value == Limits(4, "safe", verbose=True)
        assert settings.version != ""
        await write(client, {"workers": "5"})
        assert await settings.wait_for_change(settings.value) == Limits(5, "safe", verbose=True)


async def test_a_change_since_the_used_value_is_never_missed(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(configmap({"workers": "4"}))
    async with lw.Settings(client, "limits", Limits) as settings:
        used = settings.value
        await write(client, {"workers": "6"})
        await settings.wait_for_change(used)
        assert await settings.wait_for_change(used) == Limits(6)  # returns at once


async def test_an_invalid_change_is_reported_and_the_last_valid_value_stays(
    client: lw.ClientSet, caplog: pytest.LogCaptureFixture
):
    await client.core_v1.configmaps("default").create(configmap({"workers": "4"}))
    async with lw.Settings(client, "limits", Limits) as settings:
        await write(client, {"workers": "many"})
        assert await until_problem(settings) == "Expected `int`, got `str` - at `$.workers`"
        assert settings.value == Limits(4)
        assert "Keeping the last valid settings: ConfigMap default/limits: Expected `int`" in caplog.text
        await write(client, {"workers": "7"})
        assert await settings.wait_for_change(Limits(4)) == Limits(7)
        assert settings.problem is None
        await client.core_v1.configmaps("default").delete("limits")
        assert await until_problem(settings) == "it was deleted"
    assert settings.value == Limits(7)


async def test_a_document_in_one_key_is_read_as_yaml(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(configmap({"app.yaml": "workers: 3\nmode: fast\n"}))
    async with lw.Settings(client, "limits", Limits, file="app.yaml") as settings:
        assert settings.value == Limits(3, "fast")
        await write(client, {"app.yaml": "workers: [\n"})
        assert (await until_problem(settings)).startswith("'app.yaml' is not valid YAML: while parsing")
    with pytest.raises(SettingsError, match=r"it has no key 'b\.yaml'; its keys are app\.yaml"):
        async with lw.Settings(client, "limits", Limits, file="b.yaml"):
            pass


async def test_a_function_may_read_the_texts(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(configmap({"a": "1"}, binaryData={"b": "Mg==", "c": "/w=="}))
    async with lw.Settings(client, "limits", parse=dict) as settings:
        assert settings.value == {"a": "1", "b": "2"}  # c is not text
    with pytest.raises(SettingsError, match=r"ConfigMap default/limits: reading it raised KeyError: 'workers'"):
        async with lw.Settings(client, "limits", parse=lambda texts: texts["workers"]):
            pass


async def test_a_missing_object_is_an_error_or_the_default(client: lw.ClientSet):
    with pytest.raises(SettingsError, match=r"^ConfigMap default/limits: it does not exist$"):
        async with lw.Settings(client, "limits", Limits):
            pass
    async with lw.Settings(client, "limits", Limits, default=Limits(1)) as settings:
        assert (settings.value, settings.version, settings.problem) == (Limits(1), "", "it does not exist")
        await client.core_v1.configmaps("default").create(configmap({"workers": "2"}))
        assert await settings.wait_for_change(Limits(1)) == Limits(2)


async def test_the_value_of_a_secret_is_never_shown(client: lw.ClientSet, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "listwatch.settings")
    secret = Secret.from_dict({"metadata": {"name": "limits"}, "stringData": {"workers": "4"}})
    await client.core_v1.secrets("default").create(secret)
    async with lw.Settings(client, "limits", Limits, secret=True) as settings:
        assert settings.value == Limits(4)
        for data in ({"mode": "hunter2"}, {"workers": "hunter2", "mode": "safe"}):
            version = settings.version
            await client.core_v1.secrets("default").patch("limits", {"stringData": data})
            field = "mode" if data == {"mode": "hunter2"} else "workers"
            while field not in (settings.problem or ""):  # noqa: ASYNC110  # there is no event for it
                await asyncio.sleep(0)
            assert settings.problem == f"the value at `$.{field}` is invalid"
            assert settings.version == version
        assert "hunter2" not in caplog.text + repr(settings)
        assert "4" not in repr(settings)

    def fail(texts: dict[str, str]) -> Limits:
        raise ValueError(texts)

    with pytest.raises(SettingsError) as caught:
        async with lw.Settings(client, "limits", parse=fail, secret=True):
            pass
    assert str(caught.value) == "Secret default/limits: reading it raised ValueError"
    with pytest.raises(SettingsError, match=r"^Secret default/limits: Object missing required field `password`$"):
        async with lw.Settings(client, "limits", Login, secret=True):
            pass


async def test_a_function_that_returns_nothing_is_an_error(client: lw.ClientSet):
    await client.core_v1.configmaps("default").create(configmap({"workers": "4"}))
    with pytest.raises(SettingsError, match=r"^ConfigMap default/limits: the function parse= returned None$"):
        async with lw.Settings(client, "limits", parse=lambda _: None):
            pass


async def test_waiting_ends_with_a_clear_error(client: lw.ClientSet):
    settings = lw.Settings(client, "limits", Limits, default=Limits(1))
    async with settings:
        with pytest.raises(WaitTimeoutError, match=r"ConfigMap default/limits did not change within 0 s"):
            await settings.wait_for_change(Limits(1), timeout=0)
        waiting = asyncio.create_task(settings.wait_for_change(Limits(1)))
        await asyncio.sleep(0)
    with pytest.raises(InformerStoppedError, match="the settings of ConfigMap default/limits are closed"):
        await waiting
    async with lw.ClientSet(lw.ClientConfig(host="http://127.0.0.1:1")) as nowhere:
        with pytest.raises(SyncTimeoutError):
            async with lw.Settings(nowhere, "limits", Limits, timeout=0.01):
                pass


async def test_wrong_arguments_are_explained(client: lw.ClientSet):
    with pytest.raises(UsageError, match="either the class of the settings or parse="):
        lw.Settings(client, "limits")
    with pytest.raises(UsageError, match="without file="):
        lw.Settings(client, "limits", parse=dict, file="app.yaml")
    with pytest.raises(UsageError, match="have no value yet"):
        _ = lw.Settings(client, "limits", Limits).value
    for name in ("", "default/", "a/b/c"):
        with pytest.raises(UsageError, match=f"name='{name}': expected the name of an object"):
            lw.Settings(client, name, Limits)


def test_a_blocking_program_reads_settings_too():
    with APIServerThread() as server, blocking.ClientSet(server.config) as client:
        client.core_v1.configmaps("default").create(configmap({"workers": "4"}))
        with blocking.Settings(client, "limits", Limits) as settings:
            client.core_v1.configmaps("default").patch("limits", {"data": {"workers": "5"}})
            assert settings.wait_for_change(Limits(4)) == Limits(5)
