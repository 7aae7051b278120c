"""A program with a persistent cache is killed with SIGKILL while objects change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.informer.persistence.kills import kill_rounds, next_report, running
from tests.informer.persistence.restarts import cache_files, fill, program

import listwatch as lw
from listwatch.server import APIServer


@pytest.mark.parametrize("form", ["plain", "compact"])
async def test_a_killed_program_continues_from_its_file_without_a_list(
    api_server: APIServer, tmp_path: Path, form: str
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    api_server.kubeconfig(kubeconfig)
    async with lw.ClientSet(api_server.config) as client:
        seen = await kill_rounds(client, kubeconfig, tmp_path / "caches", rounds=3, form=form)

    assert (seen.rounds, seen.lists) == (3, 1)
    assert seen.restored > 0


@pytest.mark.parametrize("form", ["plain", "compact"])
async def test_a_file_of_another_process_is_refused_until_that_is_killed(
    api_server: APIServer, tmp_path: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    kubeconfig, folder, compact = tmp_path / "kubeconfig", tmp_path / "caches", form == "compact"
    api_server.kubeconfig(kubeconfig)
    async with lw.ClientSet(lw.load_config(kubeconfig=kubeconfig)) as client:
        await fill(client)
        async with running(kubeconfig, folder, form) as other:
            await next_report(other)
            async with program(client, folder, compact=compact) as refused:
                assert not refused.informer.statistics().files[0].is_used
                assert len(refused.data()) == 10
        assert caplog.text.count("it is in use by another informer or process") == 1
        async with program(client, folder, compact=compact) as last:
            assert last.informer.statistics().files[0].is_used
            assert len(last.data()) == 10
    assert len(cache_files(folder)) == 1
