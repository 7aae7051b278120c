"""A program with a persistent cache is killed with SIGKILL while objects change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.informer.persistence.kills import kill_rounds

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
