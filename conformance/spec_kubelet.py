"""What commands that specs execute in containers do: they remove and restore the page of a web server."""

from __future__ import annotations

import re

import listwatch as lw
from listwatch.server import ExecSession, Kubelet
from listwatch.simulation import Stage

__all__ = ["STAGES", "SpecKubelet"]

_LABEL = "page"
_REMOVE, _RESTORE = re.compile(r"mv -v /\S+ /tmp/ "), re.compile(r"mv -v /tmp/\S+ / ")

STAGES = (
    Stage("fail the probe", "ready", "unready", label_selector=f"{_LABEL}=removed"),
    Stage("cannot be pulled", "waiting", "image-error", image="webserver:404", delay=2.0),
    Stage("keep failing it", "running", "unready", label_selector=f"{_LABEL}=removed", delay=3600.0),
)
"""A pod whose page was removed does not pass its readiness probe, and an image of the specs does not exist."""


class SpecKubelet(Kubelet):
    """Marks pods whose page was removed with a label, for the stages. Other commands are not served."""

    def __init__(self) -> None:
        self.client: lw.ClientSet | None = None

    async def exec(self, session: ExecSession) -> int | None:
        command = " ".join(session.command)
        if _REMOVE.search(command):
            await self._set_label(session, "removed")
        elif _RESTORE.search(command):
            await self._set_label(session, None)
        else:
            return await super().exec(session)
        return 0

    async def _set_label(self, session: ExecSession, value: str | None) -> None:
        assert self.client is not None
        pods = self.client.core_v1.pods(session.pod.namespace)
        await pods.patch(session.pod.name, {"metadata": {"labels": {_LABEL: value}}}, type="merge")
