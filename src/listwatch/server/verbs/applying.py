"""Server-side apply: PATCH with what somebody wants of an object, and nothing else.

    config ─▶ merged into what is there ─▶ without what they wanted before and nobody wants now ─▶ as an update

`managed_fields` knows who wants what; `patching` has the other kinds of patches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from listwatch.errors import APIError, BadRequestError, DecodeError, InternalServerError, NotFoundError
from listwatch.meta import GroupVersionKind
from listwatch.server.apply.field_sets import ElementKeyError
from listwatch.server.apply.managed_fields import (
    APPLY,
    BEFORE_FIRST_APPLY,
    UPDATE,
    ApplyConfiguration,
    ManagedFields,
    Manager,
    after_apply,
    after_update,
    decode_managed,
    encode_managed,
)
from listwatch.server.apply.merging import validate_applied
from listwatch.server.codec.decoding import YAML_MEDIA_TYPE, Decoded, decode_tree, media_type, parse_body
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.json_tree import Tree, child
from listwatch.server.lifecycle.semantics import check_name, check_namespace, metadata_of
from listwatch.server.patch.patching import APPLY_PATCH
from listwatch.server.protocol.write_options import WriteOptions
from listwatch.server.requests import APIRequest, Response

if TYPE_CHECKING:
    from listwatch.server.verbs.verbs import Change, Verbs

__all__ = ["apply", "is_apply"]


def is_apply(request: APIRequest) -> bool:
    return request.verb == "patch" and media_type(request.content_type) == APPLY_PATCH


def apply(verbs: Verbs, request: APIRequest, options: WriteOptions, *, change: Change | None = None) -> Response:
    """Make these fields so, and no others; without an object there, make it."""
    config = _read_config(verbs, request, options)
    existing = verbs.storage.get(verbs.target(request.resource).storage_id, request.key)
    if existing is None:
        return _create(verbs, request, options, config)
    live = msgspec.json.decode(verbs.sent(existing, request.resource))
    managed = _managed(verbs, request, live)
    new, entries = _applied(verbs, request, options, config, live, managed)
    return verbs.replace(request, existing, new, options, change=change, managed=entries)


def _create(verbs: Verbs, request: APIRequest, options: WriteOptions, config: Decoded) -> Response:
    if request.subresource:
        raise NotFoundError.of(request.resource.plural, request.name, group=request.resource.group)
    check_name(request, config.tree)
    metadata_of(config.tree).pop("resourceVersion", None)
    new, entries = _applied(verbs, request, options, config, {}, {})
    return verbs.create_object(request, new, options, entries)


def _applied(
    verbs: Verbs, request: APIRequest, options: WriteOptions, config: Decoded, live: Tree, managed: ManagedFields
) -> tuple[Decoded, list[Tree]]:
    """What becomes of the live object, and its managedFields; raises ConflictError."""
    applied = ApplyConfiguration(
        config.tree,
        Manager(options.field_manager, APPLY, subresource=request.subresource),
        request.resource.api_version,
        is_forced=bool(options.force),
        ignored=_ignored(request),
    )
    managers = verbs.managers
    try:
        new, managed = after_apply(live, applied, managed, managers.shape(request.resource), now=managers.now())
    except ElementKeyError as error:
        raise _untyped(live, str(error), what="live") from None
    return _read_merged(verbs, request, new, config), encode_managed(managed)


def _ignored(request: APIRequest) -> tuple[str, ...]:
    if request.subresource == "status":
        return ("spec",)
    return ("status",) if request.resource.subresource("status") else ()


def _managed(verbs: Verbs, request: APIRequest, live: Tree) -> ManagedFields:
    """Who manages what of the live object, from which that is taken; all of it is of before, where nobody knows."""
    entries = live["metadata"].pop("managedFields", None)
    managed = decode_managed(entries) or {}
    if managed:
        return managed
    before = Manager(BEFORE_FIRST_APPLY, UPDATE, request.resource.api_version)
    shape, empty = verbs.managers.shape(request.resource), verbs.managers.empty(request.resource)
    try:
        return after_update(empty, live, {}, before, shape, now=verbs.managers.now())
    except ElementKeyError as error:
        raise _untyped(live, str(error), what="live") from None


# --- What is applied --------------------------------------------------------------------------------------------------


def _read_config(verbs: Verbs, request: APIRequest, options: WriteOptions) -> Decoded:
    """What somebody wants, as they wrote it; raises the APIError that says why that cannot be wanted."""
    tree, warnings = _read_tree(request.body, options.field_validation or "Warn")
    request.warnings += warnings
    api_version, kind = (each if isinstance(each := tree.get(name), str) else "" for name in ("apiVersion", "kind"))
    expected = request.resource.gvk
    if (api_version, kind) != (expected.api_version, expected.kind):
        group, _, version = api_version.rpartition("/")
        raise BadRequestError(f"invalid object type: {group}/{version}, Kind={kind}")
    metadata = tree.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise _untyped(tree, _all(validate_applied(tree, verbs.managers.shape(request.resource))))
    if metadata.get("managedFields") is not None:
        raise BadRequestError("metadata.managedFields must be nil")
    if problems := validate_applied(tree, verbs.managers.shape(request.resource)):
        if request.resource.kind == "Secret":
            # The real server shows it; a secret has no place in an error.
            problems = [each.partition(", got ")[0] for each in problems]
        raise _untyped(tree, _all(problems))
    if metadata.get("name"):
        check_name(request, tree)
    check_namespace(request, tree)
    config = Decoded(tree, warnings)
    _read_merged(verbs, request, tree, config)  # its types are right even where another value would win
    return config


def _read_tree(body: bytes, field_validation: str) -> tuple[dict[str, Tree], tuple[str, ...]]:
    try:
        tree, complaints = parse_body(body, YAML_MEDIA_TYPE, find_duplicates=field_validation != "Ignore")
    except DecodeError as error:
        raise BadRequestError(f"error decoding YAML: error converting YAML to JSON: {error.message}") from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        mismatch = f"json: cannot unmarshal {json_type(tree)} into Go value of type map[string]interface {{}}"
        raise BadRequestError(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {mismatch}")
    problems = StrictErrors(complaints)
    if problems and field_validation == "Strict":
        why = f"error converting YAML to JSON: {', '.join(problems)}"
        raise BadRequestError(f"error strict decoding YAML: {why}")
    return tree, problems.warnings()


def _all(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else "".join(["errors:", *(f"\n  {each}" for each in problems)])


def _untyped(tree: Tree, why: str, *, what: str = "patch") -> APIError:
    kind = GroupVersionKind.of(tree["apiVersion"], tree["kind"])
    name, namespace = child(tree, "metadata", "name") or "", ""
    version = f"{kind.group}/{kind.version}, Kind={kind.kind}"
    # The real server takes it for a mistake of its own.
    return InternalServerError(
        f"failed to create typed {what} object ({namespace}/{name}; {version}): {why}", reason=""
    )


def _read_merged(verbs: Verbs, request: APIRequest, tree: Tree, config: Decoded) -> Decoded:
    """What has become of it, as if a client had sent it."""
    version, kind, problems = verbs.definitions.version(request.resource), request.resource.gvk, StrictErrors()
    try:
        if version:
            return Decoded(decode_custom_tree(tree, kind, version, verbs.schema, problems), config.warnings)
        return Decoded(decode_tree(tree, kind, verbs.schema, problems), config.warnings)
    except UnmarshalError as error:
        raise _untyped(config.tree, str(error)) from None
