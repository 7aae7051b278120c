"""Reads write requests: their options (dry run, field manager, field validation, deletion) and their bodies.

`list_options` reads the options of get, list and watch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from listwatch.errors import InvalidError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import Decoded, decode_body, decode_options, media_type
from listwatch.server.crd.custom_decoding import decode_custom_body
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.field_errors import forbidden, invalid, not_supported, required, too_long
from listwatch.server.json_tree import texts_at, value_at
from listwatch.server.patch.patching import APPLY_PATCH, apply_patch
from listwatch.server.requests import APIRequest, Query
from listwatch.server.schema.schema import Schema

__all__ = [
    "DeleteOptions",
    "WriteOptions",
    "apply_request_patch",
    "decode_request_body",
    "delete_options",
    "delete_options_of",
    "is_apply",
    "read_delete_options",
    "read_write_options",
]

T = TypeVar("T")

_MAX_MANAGER = 128
_FIELD_VALIDATION = ("", "Ignore", "Strict", "Warn")
_POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a create, update or patch."""

    dry_run: bool = False
    field_validation: str = ""
    field_manager: str = ""
    force: bool | None = None


_NO_OPTIONS = WriteOptions()


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a deletion; the policy is empty if the request has none."""

    dry_run: bool = False
    grace: int | None = None
    policy: str = ""
    uid: str | None = None
    resource_version: str | None = None
    orphan: bool | None = None
    """The older form of the policy."""


def read_write_options(request: APIRequest) -> WriteOptions:
    """Raises InvalidError for invalid options, as kube-apiserver does before it reads the body."""
    if not request.query and request.verb != "patch":
        return _NO_OPTIONS
    kind = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}[request.verb]
    query = request.query
    options = WriteOptions(
        dry_run=bool(query.all("dryRun")),
        field_validation=query.text("fieldValidation"),
        field_manager=query.text("fieldManager"),
        force=query.optional_flag("force"),
    )
    problems = _manager_problems(options.field_manager) + _dry_run_problems(query.all("dryRun"))
    if options.field_validation not in _FIELD_VALIDATION:
        problems.append(not_supported("fieldValidation", options.field_validation, _FIELD_VALIDATION))
    if request.verb == "patch":
        problems = _patch_problems(request.content_type, options) + problems
    _check(kind, problems)
    return options


def read_delete_options(request: APIRequest, schema: Schema) -> DeleteOptions:
    """Read the options from the body, or else from the query."""
    if request.body:
        return delete_options(decode_options(request.body, request.content_type, "DeleteOptions", schema))
    return delete_options(delete_options_of(request.query))


def delete_options(tree: JSONObject, *, dry_run: bool = False) -> DeleteOptions:
    """Read a DeleteOptions object; `dry_run` overrides its own."""
    dry_runs = texts_at(tree, "dryRun")
    options = DeleteOptions(
        dry_run=dry_run or bool(dry_runs),
        grace=_optional(value_at(tree, "gracePeriodSeconds"), int),
        policy=_optional(value_at(tree, "propagationPolicy"), str) or "",
        uid=_optional(value_at(tree, "preconditions", "uid"), str),
        resource_version=_optional(value_at(tree, "preconditions", "resourceVersion"), str),
        orphan=_optional(value_at(tree, "orphanDependents"), bool),
    )
    problems = []
    if options.orphan is not None and options.policy:
        why = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(invalid("propagationPolicy", options.policy, why))
    if options.policy and options.policy not in _POLICIES:
        problems.append(not_supported("propagationPolicy", options.policy, (*_POLICIES, "nil")))
    _check("DeleteOptions", problems + _dry_run_problems(dry_runs))
    return options


def _optional(value: JSON, kind: type[T]) -> T | None:
    return value if isinstance(value, kind) else None


def delete_options_of(query: Query) -> JSONObject:
    """Return the DeleteOptions object of a query, without what is not set.

    As in kube-apiserver, `resourceVersion` is a precondition, also where it selects the version of a list.
    """
    required: JSONObject = {name: text for name in ("uid", "resourceVersion") if (text := query.text(name))}
    found: JSONObject = {
        "preconditions": required or None,
        "dryRun": [*query.all("dryRun")] or None,
        "gracePeriodSeconds": query.number("gracePeriodSeconds"),
        "propagationPolicy": query.text("propagationPolicy") or None,
        "orphanDependents": query.optional_flag("orphanDependents"),
    }
    return {name: value for name, value in found.items() if value is not None}


# --- Bodies -----------------------------------------------------------------------------------------------------------


def is_apply(request: APIRequest) -> bool:
    """Whether the request is a server-side apply."""
    return request.verb == "patch" and media_type(request.content_type) == APPLY_PATCH


def decode_request_body(
    request: APIRequest,
    options: WriteOptions,
    kind: GroupVersionKind,
    schema: Schema,
    custom: CustomVersion | None = None,
) -> Decoded:
    """Decode the body as an object of the kind, or of a custom resource; adds warnings to the request."""
    validation = options.field_validation or "Warn"
    if custom:
        found = decode_custom_body(request.body, request.content_type, custom, schema, field_validation=validation)
    else:
        found = decode_body(request.body, request.content_type, kind, schema, field_validation=validation)
    request.warnings += found.warnings
    return found


def apply_request_patch(
    request: APIRequest,
    options: WriteOptions,
    tree: JSONObject,
    schema: Schema,
    custom: CustomVersion | None = None,
    *,
    needs_version: bool = True,
) -> Decoded:
    """Apply the patch in the body to an object; adds warnings to the request."""
    found = apply_patch(
        request.content_type,
        request.body,
        tree,
        schema,
        field_validation=options.field_validation or "Warn",
        custom=custom,
        needs_version=needs_version,
    )
    request.warnings += found.warnings
    return found


# --- Problems ---------------------------------------------------------------------------------------------------------


def _manager_problems(manager: str) -> list[StatusCause]:
    problems = [too_long("fieldManager", _MAX_MANAGER)] if len(manager.encode()) > _MAX_MANAGER else []
    for place, character in enumerate(manager[:_MAX_MANAGER]):
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {place})"
            problems.append(invalid("fieldManager", manager[: 2 * _MAX_MANAGER], why))
    return problems


def _dry_run_problems(values: Sequence[str]) -> list[StatusCause]:
    if all(value == "All" for value in values):
        return []
    return [not_supported("dryRun", list(values[:_MAX_MANAGER]), ["All"])]


def _patch_problems(content_type: str, options: WriteOptions) -> list[StatusCause]:
    if content_type.partition(";")[0].strip() == APPLY_PATCH:
        return [] if options.field_manager else [required("fieldManager", "is required for apply patch")]
    return [] if options.force is None else [forbidden("force", "may not be specified for non-apply patch")]


def _check(kind: str, problems: list[StatusCause]) -> None:
    if problems:
        raise InvalidError.of(kind, "", problems, group="meta.k8s.io")
