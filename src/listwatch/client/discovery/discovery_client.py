"""Asks a server what it offers: groups, versions, resources, schemas.

    /api and /apis, all at once ──▶ Discovered            servers since 1.26
    /api, /apis, and /apis/GROUP/VERSION for each one     older servers, and some that stand between

`discovery_cache.py` remembers the answers, `rest_mapper.py` finds things in them.
"""

from __future__ import annotations

import asyncio
from functools import reduce
from operator import add
from typing import Any

from listwatch.api.discovery import APIGroup, Discovered
from listwatch.api.discovery_documents import (
    DISCOVERY_ACCEPT,
    ServerVersion,
    is_aggregated,
    read_aggregated,
    read_core_versions,
    read_groups,
    read_resources,
    read_schema_index,
    read_version,
)
from listwatch.api.requests import api_path
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.base_client import Connected
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ListWatchError, NotFoundError
from listwatch.meta import Resource, join_api_version

__all__ = ["DiscoveryClient", "ServerVersion"]

_JSON = "application/json"
_ATTEMPTS = 2
_TIMEOUT = 32.0
_AT_ONCE = 16


class DiscoveryClient(Connected):
    """What a server offers now; it is asked each time. `aggregated=False` never asks for all groups at once."""

    def __init__(self, config: ClientConfig | RESTClient, *, aggregated: bool = True) -> None:
        super().__init__(config)
        self._accept = DISCOVERY_ACCEPT if aggregated else _JSON

    async def server_groups_and_resources(self) -> Discovered:
        """All groups and resources; DiscoveryError if some could not be learnt, with the others in its `found`."""
        for attempt in range(1, _ATTEMPTS + 1):
            discovered = await self._discover()
            if not discovered.failures or attempt == _ATTEMPTS:
                break
        return discovered.checked()

    async def server_groups(self) -> tuple[APIGroup, ...]:
        """All groups and their versions, the core group first."""
        return (await self._overview())[0].groups

    async def server_resources(self, group_version: str) -> tuple[Resource, ...]:
        """The resources of one group-version, as `apps/v1`; NotFoundError if it is not served."""
        return read_resources(await self._get(api_path(group_version)))

    async def preferred_resources(self) -> tuple[Resource, ...]:
        """Each resource once, in the version that the server prefers; raises as `server_groups_and_resources`."""
        return (await self.server_groups_and_resources()).preferred()

    async def server_version(self) -> ServerVersion:
        """Which Kubernetes it is."""
        return read_version(await self._get("/version"))

    async def openapi_paths(self) -> dict[str, str]:
        """Where the schemas of each group-version are, by its path as `apis/apps/v1`; see `openapi_schema`."""
        return read_schema_index(await self._get("/openapi/v3"))

    async def openapi_schema(self, group_version: str) -> dict[str, Any]:
        """The OpenAPI v3 document of one group-version, as `apps/v1`; NotFoundError if there is none."""
        path = api_path(group_version).removeprefix("/")
        paths = await self.openapi_paths()
        if path not in paths:
            raise NotFoundError(f"the server has no OpenAPI v3 document of {group_version}", doing="GET /openapi/v3")
        schema: dict[str, Any] = (await self._rest.get().request_uri(paths[path]).timeout(_TIMEOUT).do()).into(dict)
        return schema

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _discover(self) -> Discovered:
        overview, has_resources = await self._overview()
        if has_resources:
            return overview
        permits = asyncio.Semaphore(_AT_ONCE)
        versions = [(group.name, version) for group in overview.groups for version in group.versions]
        parts = await asyncio.gather(*(self._version(permits, *each) for each in versions))
        return reduce(add, parts, Discovered(overview.groups))

    async def _overview(self) -> tuple[Discovered, bool]:
        """The groups, and all their resources if both answers have them."""
        core, others = await self._core(), await self._get("/apis", self._accept)
        if is_aggregated(others) and (not core or is_aggregated(core)):
            return (read_aggregated(core) if core else Discovered()) + read_aggregated(others), True
        return Discovered(_groups(core) + _groups(others)), False

    async def _core(self) -> bytes:
        try:
            return await self._get("/api", self._accept)
        except NotFoundError:
            return b""  # there are servers that have only groups with names

    async def _version(self, permits: asyncio.Semaphore, group: str, version: str) -> Discovered:
        group_version = join_api_version(group, version)
        async with permits:
            try:
                return Discovered(resources=await self.server_resources(group_version))
            except NotFoundError as error:
                # A group may be announced by a server that is just about to serve it; the core group may be missing.
                return Discovered() if group_version == "v1" else Discovered(failures={group_version: error})
            except ListWatchError as error:
                return Discovered(failures={group_version: error})

    async def _get(self, path: str, accept: str = _JSON) -> bytes:
        return await self._rest.get().abs_path(path).header("Accept", accept).timeout(_TIMEOUT).do_raw()


def _groups(body: bytes) -> tuple[APIGroup, ...]:
    """The groups that an answer names, in any of its forms."""
    if not body:
        return ()
    if is_aggregated(body):
        return read_aggregated(body).groups
    core = read_core_versions(body)
    return (core,) if core else read_groups(body)
