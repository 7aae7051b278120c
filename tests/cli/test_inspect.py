"""`listwatch inspect` as a process."""

from __future__ import annotations

import signal

import pytest
from tests.cli.test_process import Start
from tests.inspector.served import served_at

from listwatch.client import ClientSet


async def test_the_printed_url_shows_the_resources_until_ctrl_c(client: ClientSet, start: Start):
    await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}, "data": {"color": "blue"}})
    secret = {"metadata": {"name": "s"}, "stringData": {"password": "correct-horse"}}
    encoded = (await client.core_v1.secrets("default").create(secret)).to_dict()["data"]["password"]
    process = await start("inspect", "configmaps,secrets")
    names, _, url = (await process.line()).partition(": ")
    assert names == "configmaps, secrets"
    async with served_at(url) as page:
        while (await page.informer("secrets"))["state"] != "watching":
            pass
        assert "color: blue" in (await page.object("configmaps", "default/a"))["yaml"]
        view = await page.object("secrets", "default/s")
        assert view["hides_data"]
        assert encoded not in view["yaml"]
    process.process.send_signal(signal.SIGINT)
    assert (await process.end()).code == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["configmaps", "--address", "here"], "expected host:port"),
        (["configmap", "a", "b"], "Name one object"),
        (["podz"], "podz"),
    ],
)
async def test_wrong_arguments_are_explained(client: ClientSet, start: Start, arguments: list[str], message: str):
    done = await (await start("inspect", *arguments)).end()
    assert done.code != 0
    assert message in done.errors
    assert "Traceback" not in done.errors
