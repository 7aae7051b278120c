"""Knows, of each resource that is served, how its objects merge, and so who manages their fields after a write.

`managed_fields` has the rules; `verbs` and `applying` ask here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from listwatch.meta import Resource
from listwatch.server.apply.apply_walks import Misfit
from listwatch.server.apply.managed_fields import (
    UPDATE,
    Manager,
    after_update,
    is_reset,
    managed_at_birth,
    manager_name,
    read_managed,
    write_managed,
)
from listwatch.server.crd.definitions import Definitions
from listwatch.server.crd.merge_shapes import MergeShape, builtin_shape, custom_shape, empty_object
from listwatch.server.crd.structural_schema import PRESERVES_UNKNOWN
from listwatch.server.json_tree import Tree, child
from listwatch.server.lifecycle.semantics import timestamp
from listwatch.server.protocol.write_options import WriteOptions
from listwatch.server.requests import APIRequest
from listwatch.server.schema.schema import Schema

__all__ = ["FieldManagers"]


class FieldManagers:
    """Says what the managedFields of an object are after it was created or updated."""

    def __init__(self, schema: Schema, definitions: Definitions, now: Callable[[], datetime]) -> None:
        self._schema = schema
        self._definitions = definitions
        self._now = now
        self._undefined = custom_shape({PRESERVES_UNKNOWN: True}, schema)

    def now(self) -> str:
        return timestamp(self._now())

    def shape(self, resource: Resource) -> MergeShape:
        """How objects of a resource merge."""
        if version := self._definitions.version(resource):
            return version.shape
        known = self._schema.type_of(resource.api_version, resource.kind)
        return builtin_shape(known.name, self._schema) if known else self._undefined

    def empty(self, resource: Resource) -> Tree:
        """An object of which nothing was said yet; only to be read."""
        known = self._schema.type_of(resource.api_version, resource.kind)
        return empty_object(known.name, self._schema) if known else {"metadata": {}}

    def at_birth(self, request: APIRequest, options: WriteOptions, new: Tree, form: Resource) -> Tree:
        by = self._writer(request, options)
        try:
            born = new["metadata"]["creationTimestamp"]
            return managed_at_birth(new, self.empty(form), by, self.shape(form), now=born)
        except Misfit:
            return []  # a list whose elements cannot be told apart has no managers, and is no reason to refuse it

    def after_update(
        self, request: APIRequest, options: WriteOptions, *, old: Tree, new: Tree, told: Tree, form: Resource
    ) -> Tree:
        """`told` is what the client says of it, or None."""
        if told is not None and is_reset(told):
            return []
        managed = read_managed(told) or read_managed(child(old, "metadata", "managedFields"))
        if not managed:
            return []  # nobody has managed it until now, and only who applies begins to
        # The real server forgets to tell the time when something is scaled.
        now = "" if request.subresource == "scale" else self.now()
        by = self._writer(request, options)
        try:
            return write_managed(after_update(old, new, managed, by, self.shape(form), now=now))
        except Misfit:
            return write_managed(managed)

    def _writer(self, request: APIRequest, options: WriteOptions) -> Manager:
        name = manager_name(options.field_manager, request.headers.get("User-Agent", ""))
        return Manager(name, UPDATE, request.resource.api_version, request.subresource)
