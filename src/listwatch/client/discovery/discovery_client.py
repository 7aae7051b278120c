"""The discovery client: groups, versions, resources and schemas of an API server.

    /api and /apis, aggregated                            servers since 1.26
    /api, /apis, and /apis/GROUP/VERSION for each one     older servers, and some proxies

`discovery_cache.py` caches the result, `rest_mapper.py` finds resources in it.
"""

from __future__ import annotations

import asyncio
from functools import reduce
from operator import add

from listwatch.api.discovery import (
    DISCOVERY_ACCEPT,
    APIGroup,
    DiscoveryResult,
    ServerVersion,
    is_aggregated,
    read_aggregated,
    read_core_versions,
    read_groups,
    read_resources,
    read_schema_index,
    read_version,
)
from listwatch.api.http_messages import api_path
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ListWatchError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource, join_api_version

__all__ = ["DiscoveryClient"]

_JSON = "application/json"
_ATTEMPTS = 2
_TIMEOUT = 32.0
_MAX_PARALLEL = 16


class DiscoveryClient(BaseClient):
    """Discovers what a server serves, with new requests on each call.

    `aggregated=False` disables aggregated discovery. Without a configuration, `load_config()` provides it.
    """

    def __init__(self, config: ClientConfig | RESTClient | None = None, *, aggregated: bool = True) -> None:
        super().__init__(config)
        self._accept = DISCOVERY_ACCEPT if aggregated else _JSON

    async def server_groups_and_resources(self) -> DiscoveryResult:
        """Discover all groups and resources; DiscoveryError if some failed, with the others in its `found`."""
        for attempt in range(1, _ATTEMPTS + 1):
            discovered = await self._discover()
            if not discovered.failures or attempt == _ATTEMPTS:
                break
        return discovered.checked()

    async def server_groups(self) -> tuple[APIGroup, ...]:
        """Discover all groups and their versions, the core group first."""
        return (await self._overview())[0].groups

    async def server_resources(self, group_version: str) -> tuple[Resource, ...]:
        """Discover the resources of one group-version, such as `apps/v1`; NotFoundError if it is not served."""
        return read_resources(await self._get(api_path(group_version)))

    async def preferred_resources(self) -> tuple[Resource, ...]:
        """Discover each resource once, in the server's preferred version; raises as `server_groups_and_resources`."""
        return (await self.server_groups_and_resources()).preferred()

    async def server_version(self) -> ServerVersion:
        """Get the version of the server."""
        return read_version(await self._get("/version"))

    async def openapi_paths(self) -> dict[str, str]:
        """Get the URLs of the OpenAPI v3 documents, by paths such as `apis/apps/v1`; see `openapi_schema`."""
        return read_schema_index(await self._get("/openapi/v3"))

    async def openapi_schema(self, group_version: str) -> JSONObject:
        """Get the OpenAPI v3 document of one group-version, such as `apps/v1`; NotFoundError if there is none."""
        path = api_path(group_version).removeprefix("/")
        paths = await self.openapi_paths()
        if path not in paths:
            raise NotFoundError(f"the server has no OpenAPI v3 document of {group_version}", doing="GET /openapi/v3")
        schema: JSONObject = (await self._rest.get().request_uri(paths[path]).timeout(_TIMEOUT).do()).into(dict)
        return schema

    # --- documents ---------------------------------------------------------------------------------------------------

    async def _discover(self) -> DiscoveryResult:
        overview, is_complete = await self._overview()
        if is_complete:
            return overview
        permits = asyncio.Semaphore(_MAX_PARALLEL)
        versions = [(group.name, version) for group in overview.groups for version in group.versions]
        parts = await asyncio.gather(*(self._version(permits, *each) for each in versions))
        return reduce(add, parts, DiscoveryResult(overview.groups))

    async def _overview(self) -> tuple[DiscoveryResult, bool]:
        """Get the groups, and whether their resources are included: both responses must be aggregated."""
        core, others = await self._core(), await self._get("/apis", self._accept)
        if is_aggregated(others) and (not core or is_aggregated(core)):
            return (read_aggregated(core) if core else DiscoveryResult()) + read_aggregated(others), True
        return DiscoveryResult(_groups(core) + _groups(others)), False

    async def _core(self) -> bytes:
        try:
            return await self._get("/api", self._accept)
        except NotFoundError:
            return b""  # some servers have no core group

    async def _version(self, permits: asyncio.Semaphore, group: str, version: str) -> DiscoveryResult:
        group_version = join_api_version(group, version)
        async with permits:
            try:
                return DiscoveryResult(resources=await self.server_resources(group_version))
            except NotFoundError as error:
                # Some servers have no core group. Another group may be announced shortly before it is served.
                return DiscoveryResult() if group_version == "v1" else DiscoveryResult(failures={group_version: error})
            except ListWatchError as error:
                return DiscoveryResult(failures={group_version: error})

    async def _get(self, path: str, accept: str = _JSON) -> bytes:
        return await self._rest.get().abs_path(path).header("Accept", accept).timeout(_TIMEOUT).do_raw()


def _groups(body: bytes) -> tuple[APIGroup, ...]:
    """Read the groups of a response, aggregated or not."""
    if not body:
        return ()
    if is_aggregated(body):
        return read_aggregated(body).groups
    core = read_core_versions(body)
    return (core,) if core else read_groups(body)
