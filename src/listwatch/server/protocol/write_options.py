"""How a write is to be done: for real or not, by whom, how strictly its body is read; and how a deletion is.

`list_options` is the same for reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from listwatch.errors import InvalidError, StatusCause
from listwatch.server.codec.decoding import decode_options
from listwatch.server.field_errors import forbidden, invalid, not_supported, required, too_long
from listwatch.server.json_tree import Tree, child
from listwatch.server.patch.patching import APPLY_PATCH
from listwatch.server.requests import APIRequest, Query
from listwatch.server.schema.schema import Schema

__all__ = ["DeleteOptions", "WriteOptions", "delete_options", "read_delete_options", "read_write_options"]

_MAX_MANAGER = 128
_STRICTNESS = ("", "Ignore", "Strict", "Warn")
_POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Of a create, update or patch."""

    dry_run: bool = False
    field_validation: str = ""
    field_manager: str = ""
    force: bool | None = None


_NO_OPTIONS = WriteOptions()


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Of a deletion; the policy is empty where none was asked for."""

    dry_run: bool = False
    grace: int | None = None
    policy: str = ""
    uid: str | None = None
    resource_version: str | None = None
    orphan: bool | None = None
    """The older way to ask for a policy."""


def read_write_options(request: APIRequest) -> WriteOptions:
    """Raises InvalidError for what is not supported, as the real server does before it looks at the body."""
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
    problems = _problems_of_manager(options.field_manager) + _problems_of_dry_run(query.all("dryRun"))
    if options.field_validation not in _STRICTNESS:
        problems.append(not_supported("fieldValidation", options.field_validation, _STRICTNESS))
    if request.verb == "patch":
        problems = _problems_of_patch(request.content_type, options) + problems
    _check(kind, problems)
    return options


def read_delete_options(request: APIRequest, schema: Schema) -> DeleteOptions:
    """From the body, or else from the query."""
    if request.body:
        return delete_options(decode_options(request.body, request.content_type, "DeleteOptions", schema))
    return delete_options(_from_query(request.query))


def delete_options(tree: Tree, *, dry_run: bool = False) -> DeleteOptions:
    """From a DeleteOptions object; with `dry_run` it is dry even if that does not say so."""
    options = DeleteOptions(
        dry_run=dry_run or bool(tree.get("dryRun")),
        grace=tree.get("gracePeriodSeconds"),
        policy=tree.get("propagationPolicy") or "",
        uid=child(tree, "preconditions", "uid"),
        resource_version=child(tree, "preconditions", "resourceVersion"),
        orphan=tree.get("orphanDependents"),
    )
    problems = []
    if options.orphan is not None and options.policy:
        why = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(invalid("propagationPolicy", options.policy, why))
    if options.policy and options.policy not in _POLICIES:
        problems.append(not_supported("propagationPolicy", options.policy, (*_POLICIES, "nil")))
    _check("DeleteOptions", problems + _problems_of_dry_run(tree.get("dryRun") or ()))
    return options


def _from_query(query: Query) -> Tree:
    return {
        "dryRun": list(query.all("dryRun")),
        "gracePeriodSeconds": query.number("gracePeriodSeconds"),
        "propagationPolicy": query.text("propagationPolicy"),
        "orphanDependents": query.optional_flag("orphanDependents"),
    }


def _problems_of_manager(manager: str) -> list[StatusCause]:
    problems = [too_long("fieldManager", _MAX_MANAGER)] if len(manager.encode()) > _MAX_MANAGER else []
    for place, character in enumerate(manager):
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {place})"
            problems.append(invalid("fieldManager", manager, why))
    return problems


def _problems_of_dry_run(values: Sequence[str]) -> list[StatusCause]:
    if all(value == "All" for value in values):
        return []
    supported = not_supported("dryRun", list(values), ["All"])
    return [supported]


def _problems_of_patch(content_type: str, options: WriteOptions) -> list[StatusCause]:
    if content_type.partition(";")[0].strip() == APPLY_PATCH:
        return [] if options.field_manager else [required("fieldManager", "is required for apply patch")]
    return [] if options.force is None else [forbidden("force", "may not be specified for non-apply patch")]


def _check(kind: str, problems: list[StatusCause]) -> None:
    if problems:
        raise InvalidError.of(kind, "", problems, group="meta.k8s.io")
