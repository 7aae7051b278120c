"""A transport of httpx for a pod, for programs that have httpx; it is no dependency."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from listwatch.client.pod_http.port_sockets import PortSockets
from listwatch.client.pods.port_opener import PodPorts, PortOpener
from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.selectors import LabelSelectorLike

if TYPE_CHECKING:
    from listwatch.client.pod_http.httpx_transport import PodTransport

__all__ = ["pod_transport"]


def pod_transport(
    pods: PodPorts,
    name: str = "",
    *,
    label_selector: LabelSelectorLike = None,
    verify: ssl.SSLContext | None = None,
    clock: Clock | None = None,
) -> PodTransport:
    """Return a transport that connects an `httpx.AsyncClient` to a pod.

        transport = pod_transport(client.core_v1.pods("default"), "web-0")
        async with httpx.AsyncClient(transport=transport) as http:
            response = await http.get("http://web-0:8080/healthz")

    The port of a URL is a port of the pod, its host is ignored. With `label_selector` instead of a name, each new
    connection leads to a pod that is ready at that time. `verify` checks the certificate of an https URL. The client of
    httpx closes the transport.
    """
    try:
        from listwatch.client.pod_http.httpx_transport import PodTransport
    except ModuleNotFoundError as error:
        raise UsageError(f"pod_transport needs httpx, which is not installed: {error}") from error
    clock = clock or SystemClock()
    return PodTransport(PortSockets(PortOpener(pods, name, label_selector, clock=clock), clock), verify, clock)
