"""The clients of a command, for the cluster and the namespace that its options select."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.kubeconfig import load_config
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient, MetadataResource
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.clock import Clock, SystemClock
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["REQUEST_TIMEOUT", "ConnectionOptions", "Session", "open_session"]

REQUEST_TIMEOUT = 20.0
_LOOPBACK = ("://127.", "://localhost", "://[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """The cluster and the namespace that a command uses."""

    namespace: str = ""
    all_namespaces: bool = False
    kubeconfig: str = ""
    context: str = ""
    embedded: bool = False
    request_timeout: float = REQUEST_TIMEOUT
    verbose: int = 0


class Session:
    """The clients of a command, and the namespace that its options select."""

    def __init__(self, client: ClientSet, mapper: RESTMapper, *, namespace: str, all_namespaces: bool) -> None:
        self.client = client
        self.mapper = mapper
        self.dynamic = DynamicClient(client.rest, mapper=mapper)
        self.namespace = namespace
        self.all_namespaces = all_namespaces
        self.clock: Clock = SystemClock()

    def namespace_of(self, resource: Resource) -> str:
        """Return the namespace to read a resource in; empty for cluster-scoped resources and for all namespaces."""
        return "" if self.all_namespaces or not resource.namespaced else self.namespace

    def resource_client(self, resource: Resource) -> ResourceClient[Unstructured]:
        """Return the client of a resource in the selected namespace, or in all."""
        return self.dynamic.resource(resource, namespace=self.namespace_of(resource))

    async def checked_source(
        self, resource: Resource, *, metadata_only: bool, label_selector: str, field_selector: str
    ) -> MetadataResource | ResourceClient[Unstructured]:
        """Return a source for an informer; raises the error of a first list, which the informer would retry."""
        metadata = MetadataClient(self.client.rest, mapper=self.mapper)
        client = (
            metadata.resource(resource, namespace=self.namespace_of(resource))
            if metadata_only
            else self.resource_client(resource)
        )
        source = client.selecting(label_selector=label_selector, field_selector=field_selector)
        await source.list(limit=1)
        return source


@asynccontextmanager
async def open_session(options: ConnectionOptions) -> AsyncIterator[Session]:
    """Open the clients that the options select; with `embedded`, on an embedded server with sample objects."""
    if options.embedded:
        # Imported here: most commands need no server.
        from listwatch.cli.cluster.embedded import embedded_server

        async with embedded_server() as config, _session(config, options) as session:
            yield session
        return
    config = load_config(
        options.kubeconfig or None,
        options.context or None,
        namespace=options.namespace or None,
        timeout=options.request_timeout,
    )
    async with _session(config, options) as session:
        yield session


@asynccontextmanager
async def _session(config: ClientConfig, options: ConnectionOptions) -> AsyncIterator[Session]:
    async with ClientSet(config) as client:
        mapper = RESTMapper(DiscoveryCache(client.discovery, folder=_cache_folder(config)))
        namespace = options.namespace or config.namespace
        yield Session(client, mapper, namespace=namespace, all_namespaces=options.all_namespaces)


def _cache_folder(config: ClientConfig) -> Path | None:
    if any(each in config.base_url for each in _LOOPBACK):
        return None  # the next server at this port may be another one
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "listwatch")
