"""The Service `default/kubernetes`, through which programs in a cluster reach the server, and what belongs to it."""

from __future__ import annotations

from listwatch.server.bootstrap.bootstrap_data import OWN_SERVICE
from listwatch.server.bootstrap.initial_objects import create_or_restore
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.service_addresses import SERVICE_RANGE
from listwatch.server.lifecycle.strategy import Environment

__all__ = ["publish_own_service"]


def publish_own_service(objects: ObjectStore, environment: Environment, address: str, port: int) -> None:
    """Create the Service, its Endpoints and EndpointSlice, or update them if the server has another address."""
    values = {
        "address": address,
        "port": str(port),
        "family": "IPv6" if ":" in address else "IPv4",
        "range": str(SERVICE_RANGE),
        "cluster_ip": str(SERVICE_RANGE[1]),
    }
    create_or_restore(objects, environment, OWN_SERVICE, values)
