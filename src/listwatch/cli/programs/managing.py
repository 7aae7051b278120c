"""Runs the controllers of a program under a Manager."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from listwatch.cli.programs.loader import Program
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.manager import Manager

__all__ = ["PARENT_PIPE", "ManagerOptions", "end_with_parent", "manage"]

_log = logging.getLogger("listwatch.cli")

PARENT_PIPE = "LISTWATCH_PARENT_PIPE"
"""The environment variable with the descriptor of a pipe that closes when the supervising process ends."""
_LAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerOptions:
    """The options of `listwatch run` that become those of a Manager."""

    namespaces: Sequence[str] = ()
    leader_election: str = ""
    lease_namespace: str = ""
    health_port: int | None = None
    health_host: str = "127.0.0.1"
    resync: float = 0.0
    grace_period: float = 30.0
    inspect: bool = False


async def manage(program: Program, client: ClientSet, options: ManagerOptions) -> None:
    """Run the program until SIGINT or SIGTERM; raises the error that ends it earlier."""
    manager = Manager(
        client,
        namespaces=options.namespaces,
        leader_election=options.leader_election,
        lease_namespace=options.lease_namespace,
        health_port=options.health_port,
        health_host=options.health_host,
        resync=options.resync,
        grace_period=options.grace_period,
        inspect=options.inspect,
    )
    await program.add_to(manager, client)
    names = ", ".join(each.name for each in manager.controllers) or "webhooks"
    _log.info("Running %s of %s", names, program.file.name, extra={"file": str(program.file), "controller": names})
    if options.health_port:
        address = f"http://{options.health_host}:{options.health_port}"
        _log.info("Serving /healthz, /readyz and /metrics on %s", address, extra={"server": address})
    await manager.run()


def end_with_parent() -> None:
    """End this process as soon as the supervising process ends; without a supervisor, do nothing."""
    descriptor = os.environ.pop(PARENT_PIPE, "")
    if not descriptor.isdecimal():
        return

    def wait_for_end() -> None:
        os.read(int(descriptor), 1)  # nothing is ever written: it returns when the other end is closed
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(_LAST_SECONDS)
        os._exit(1)  # an import that never ends, for example, handles no signal

    threading.Thread(target=wait_for_end, name="end with parent", daemon=True).start()
