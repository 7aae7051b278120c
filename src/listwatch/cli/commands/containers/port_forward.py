"""`listwatch port-forward`: local ports that lead to ports of a pod."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from typing import NamedTuple

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import find_owner, selected_labels
from listwatch.cli.cluster.session import Session
from listwatch.client.pods.pod_facts import port_number
from listwatch.client.pods.port_forward import PortForward
from listwatch.errors import UsageError
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_PORT = re.compile(r"(?:(\d*):)?([a-z0-9-]+)")


class _Ports(NamedTuple):
    local: int
    remote: int | str


def _parse_ports(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[_Ports]:
    return [_parse(value, ctx, param) for value in values]


def _parse(value: str, ctx: click.Context, param: click.Parameter) -> _Ports:
    found = _PORT.fullmatch(value)
    remote = int(found[2]) if found and found[2].isdigit() else found[2] if found else 0
    local = found[1] if found else None
    if local is None:
        chosen = remote if isinstance(remote, int) else 0
    else:
        chosen = int(local or 0)
    if not remote or (isinstance(remote, int) and remote >= 2**16) or chosen >= 2**16:
        raise click.BadParameter(f"{value!r} is not a port, as in 8080, 8080:80, :80 or 8080:http", ctx, param)
    return _Ports(chosen, remote)


@click.command()
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_pods)
@click.argument("ports", metavar="[LOCAL:]REMOTE...", nargs=-1, required=True, callback=_parse_ports)
@click.option("--address", default="127.0.0.1", metavar="ADDRESS", show_default=True, help="The local address.")
@connected(all_namespaces=False)
async def command(session: Session, *, pod: str, ports: list[_Ports], address: str) -> None:
    """Forward local ports to ports of a pod until Ctrl-C. Ports of the pod are numbers or names of container ports.

    For a workload or a Service, each connection leads to a pod that is ready at that time; ports of a Service are those
    of the Service.

    \b
      listwatch port-forward web-0 8080:80
      listwatch port-forward svc/web :http
    """
    async with AsyncExitStack() as stack:
        for local, remote in ports:
            forward = await _forward(session, pod, local, remote, address)
            await stack.enter_async_context(forward)
            print(f"Forwarding from {address}:{forward.local_port} -> {remote}", flush=True)
        await asyncio.Event().wait()


async def _forward(session: Session, text: str, local: int, remote: int | str, address: str) -> PortForward:
    pods = session.client.core_v1.pods(session.namespace)
    owner = await find_owner(session, text)
    if owner is None:
        pod = await pods.get(text.rpartition("/")[2])  # reports now that it is missing, not with the first connection
        return pods.port_forward(pod.name, port_number(pod, remote), local_port=local, address=address)
    labels = selected_labels(owner, text)
    target = _target_port(owner, remote) if owner.kind == "Service" else remote
    return pods.port_forward(port=target, label_selector=labels, local_port=local, address=address)


def _target_port(service: Unstructured, port: int | str) -> int | str:
    """Return the port of the pods behind a port of a Service."""
    ports = (service.get("spec") or {}).get("ports") or []
    for each in ports:
        if port in (each.get("port"), each.get("name")):
            target = each.get("targetPort") or each.get("port")
            return target if isinstance(target, int | str) else port
    known = ", ".join(str(each.get("port")) for each in ports) or "none"
    raise UsageError(f"service {service.name} has no port {port}; it has {known}")
