"""Second doors to objects: `status`, `scale`, and whatever else there is below the objects of a resource."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from listwatch.api.options import FieldValidation, query
from listwatch.api.patches import APPLY_PATCH, Patch, PatchType, encode_patch, patch_type
from listwatch.client.rest.byte_stream import ByteStream
from listwatch.client.rest.request import Request
from listwatch.client.rest.sender import Stream
from listwatch.objects.object import Object

__all__ = ["SubresourceClient"]

S = TypeVar("S", bound=Object)

Body = Object | Mapping[str, Any]


class SubresourceClient(Generic[S]):
    """One subresource of the objects of a resource, by the names of those objects; its kind is often another one."""

    def __init__(self, request: Callable[[str, str], Awaitable[Request]], kind: type[S]) -> None:
        self._request = request
        self._kind = kind

    async def get(self, name: str, **parameters: Any) -> S:
        """What is there; parameters are sent as they are."""
        request = await self._request("GET", name)
        return (await request.params(parameters).do()).into(self._kind)

    async def create(
        self,
        name: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> S:
        """Post something for that object, and return what the server answers."""
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        request = await self._request("POST", name)
        return (await request.params(options).body(body).do()).into(self._kind)

    async def update(
        self,
        name: str,
        body: Body,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> S:
        """Replace what is there."""
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        request = await self._request("PUT", name)
        return (await request.params(options).body(body).do()).into(self._kind)

    async def patch(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchType | str,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
        force: bool = False,
    ) -> S:
        """Change part of what is there."""
        chosen = patch_type(type)
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation, force=force)
        request = await self._request("PATCH", name)
        request.header("Content-Type", chosen.content_type).params(options).body(encode_patch(patch, chosen))
        return (await request.do()).into(self._kind)

    async def apply(self, name: str, body: Body, *, field_manager: str, force: bool = False, **options: Any) -> S:
        """Say what a manager wants it to be."""
        return await self.patch(name, body, type=APPLY_PATCH, field_manager=field_manager, force=force, **options)

    def stream(self, name: str, **parameters: Any) -> ByteStream:
        """The bytes of what is there as they come."""

        async def opened() -> Stream:
            request = await self._request("GET", name)
            return await request.params(parameters).header("Accept", "*/*").open_stream()

        return ByteStream(opened)
