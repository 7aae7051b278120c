"""A program with a persistent cache is killed on a real kube-apiserver, `LISTWATCH_KILLS` times in each form."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.informer.persistence.kills import kill_rounds

from listwatch.client.resources.client_set import ClientSet
from listwatch.testing import RealAPIServer

ROUNDS = int(os.environ.get("LISTWATCH_KILLS", "25"))
HANGS_AFTER = 30.0
"""Seconds of a round."""


@pytest.mark.hangs_after(HANGS_AFTER * ROUNDS)
@pytest.mark.parametrize("form", ["plain", "compact"])
async def test_a_killed_program_continues_from_its_file_without_a_list(
    cluster: RealAPIServer, client: ClientSet, tmp_path: Path, form: str
):
    kubeconfig = tmp_path / "kubeconfig"
    cluster.kubeconfig(kubeconfig)

    seen = await kill_rounds(client, kubeconfig, tmp_path / "caches", rounds=ROUNDS, form=form)

    assert (seen.rounds, seen.lists) == (ROUNDS, 1)
    assert seen.restored > 0
