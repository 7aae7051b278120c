"""The client of a subresource, such as `status` or `scale`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

from listwatch.api.options import FieldValidation, QueryValue, query_parameters
from listwatch.api.patches import APPLY_PATCH, Patch, PatchTypeLike, encode_patch, parse_patch_type
from listwatch.client.rest.request import Request
from listwatch.client.rest.streams import ByteStream
from listwatch.client.rest.transport_protocols import ResponseStream
from listwatch.objects.object import Object

__all__ = ["SubresourceClient"]

S = TypeVar("S", bound=Object)

Body = Object | Mapping[str, object]


class SubresourceClient(Generic[S]):
    """One subresource of the objects of a resource. `name` is always the name of the object."""

    def __init__(self, request: Callable[[str, str], Awaitable[Request]], kind: type[S]) -> None:
        self._request = request
        self._kind = kind

    async def get(self, name: str, **parameters: QueryValue) -> S:
        """Get the subresource. Query parameters have the names of the API, in camelCase."""
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
        """Create (POST) the subresource, and return the response."""
        options = query_parameters(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
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
        """Replace the subresource."""
        options = query_parameters(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        request = await self._request("PUT", name)
        return (await request.params(options).body(body).do()).into(self._kind)

    async def patch(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchTypeLike,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
        force: bool = False,
    ) -> S:
        """Patch the subresource."""
        chosen = parse_patch_type(type)
        options = query_parameters(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation, force=force
        )
        request = await self._request("PATCH", name)
        request.header("Content-Type", chosen.content_type).params(options).body(encode_patch(patch, chosen))
        return (await request.do()).into(self._kind)

    async def apply(
        self,
        name: str,
        body: Body,
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
    ) -> S:
        """Apply the fields of the body server-side."""
        return await self.patch(
            name,
            body,
            type=APPLY_PATCH,
            field_manager=field_manager,
            force=force,
            dry_run=dry_run,
            field_validation=field_validation,
        )

    def stream(self, name: str, **parameters: QueryValue) -> ByteStream:
        """Stream the bytes of the subresource. Query parameters have the names of the API, in camelCase."""

        async def open_stream() -> ResponseStream:
            request = await self._request("GET", name)
            return await request.params(parameters).header("Accept", "*/*")._open_stream()

        return ByteStream(open_stream)
