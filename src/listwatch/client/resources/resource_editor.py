"""Patches and deletes the objects of one resource, by their names. `resource_client.py` has the rest."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from listwatch.api.options import FieldValidation, PropagationPolicy, delete_options, query
from listwatch.api.patches import Patch, PatchType, encode_patch, fitting_type, patch_type
from listwatch.client.resources.builtin_resources import is_builtin
from listwatch.client.resources.resource_reader import ResourceReader
from listwatch.client.rest.result import Result
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.wire import DECODE_FAILURES
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike

__all__ = ["ResourceEditor"]

T = TypeVar("T", bound=Object)


class ResourceEditor(ResourceReader[T]):
    """The objects of one resource, to read, to patch and to delete."""

    async def patch(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchType | str | None = None,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
        force: bool = False,
    ) -> T:
        """Change part of an object.

        Without a type, a list is a JSON patch; a mapping is a strategic merge patch for built-in kinds and a merge
        patch for custom ones. `force` is for patches of type "apply".
        """
        request = await self._request("PATCH", name, *filter(None, (subresource,)))
        chosen = fitting_type(patch, is_builtin=self._is_builtin) if type is None else patch_type(type)
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation, force=force)
        request.header("Content-Type", chosen.content_type).params(options).body(encode_patch(patch, chosen))
        return (await request.do()).into(self._kind)

    async def delete(
        self,
        name: str,
        *,
        propagation_policy: PropagationPolicy = "",
        grace_period_seconds: int | None = None,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
        ignore_store_read_error: bool = False,
    ) -> T | None:
        """Delete an object, and return what the server tells of it; None where that is just that it is gone.

        It may linger: while finalizers or its grace period hold it, it has a deletion timestamp. With a uid or a
        resource version, ConflictError if it is not that very object any more.
        """
        request = await self._request("DELETE", name)
        options = delete_options(
            propagation_policy=propagation_policy,
            grace_period_seconds=grace_period_seconds,
            uid=uid,
            resource_version=resource_version,
            dry_run=dry_run,
            ignore_store_read_error=ignore_store_read_error,
        )
        result = await request.body(options).do()
        return None if _is_status(result) else result.into(self._kind)

    async def delete_collection(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
        propagation_policy: PropagationPolicy = "",
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        limit: int | None = None,
        continue_token: str = "",
        resource_version: str = "",
        resource_version_match: str = "",
        timeout_seconds: int | None = None,
        ignore_store_read_error: bool = False,
    ) -> ObjectList[T]:
        """Delete all that are selected; without a selection, all of the namespace. The objects that were deleted."""
        request = await self._collection("DELETE", accept=self.accept_list)
        parameters = self._selected(label_selector, field_selector, shard_selector) | query(
            limit=limit,
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            timeout_seconds=timeout_seconds,
        )
        if timeout_seconds:
            request.timeout(timeout_seconds)
        options = delete_options(
            propagation_policy=propagation_policy,
            grace_period_seconds=grace_period_seconds,
            uid="",
            resource_version="",
            dry_run=dry_run,
            ignore_store_read_error=ignore_store_read_error,
        )
        result = await request.params(parameters).body(options).do()
        return ObjectList[T]() if _is_status(result) else result.into_list(self._kind)

    @property
    def _is_builtin(self) -> bool:
        return self._resource is not None and is_builtin(self._resource)


class _Answer(msgspec.Struct, gc=False):
    kind: str = ""


_answers = msgspec.json.Decoder(_Answer)


def _is_status(result: Result) -> bool:
    """Whether the answer is just a yes, instead of an object."""
    try:
        return not result.raw or _answers.decode(result.raw).kind == "Status"
    except DECODE_FAILURES:
        return False  # whoever reads it as an object says what is wrong with it
