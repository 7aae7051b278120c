"""Server-side apply: a PATCH with the fields that one manager applies to an object.

    config ─▶ merged into the live object ─▶ without the fields that this manager applied before and now omits

`managed_fields` tracks the managers of fields; the pipeline writes the result as a create or an update.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from listwatch.errors import APIError, BadRequestError, DecodeError, InternalServerError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.apply.field_sets import ElementKeyError, FieldSet
from listwatch.server.apply.last_applied import fields_to_take_over, record_last_applied
from listwatch.server.apply.managed_fields import (
    APPLY,
    BEFORE_FIRST_APPLY,
    UPDATE,
    ApplyConfiguration,
    FieldManagers,
    ManagedFields,
    Manager,
    after_apply,
    after_update,
    decode_managed,
    encode_managed,
)
from listwatch.server.apply.merging import validate_applied
from listwatch.server.codec.conversion_errors import conversion_error
from listwatch.server.codec.decoding import YAML_MEDIA_TYPE, Decoded, decode_tree, parse_body
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import Definitions
from listwatch.server.json_tree import text_at
from listwatch.server.lifecycle.strategy import check_name, check_namespace, metadata_of
from listwatch.server.protocol.write_options import WriteOptions
from listwatch.server.requests import APIRequest
from listwatch.server.schema.schema import Schema

__all__ = ["AppliedBody", "ServerSideApply"]


@dataclass(frozen=True, slots=True)
class AppliedBody:
    """An applied configuration as the client sent it, and its warnings."""

    sent: JSONObject = field(repr=False)  # it may be a Secret
    tree: JSONObject = field(repr=False)
    warnings: tuple[str, ...] = ()
    strict_error: str = ""


class ServerSideApply:
    """Reads applied configurations and merges them into live objects; stores nothing."""

    def __init__(self, schema: Schema, definitions: Definitions, managers: FieldManagers) -> None:
        self._schema = schema
        self._definitions = definitions
        self._managers = managers

    def read(self, request: APIRequest, options: WriteOptions) -> AppliedBody:
        """Read the applied configuration; raises the APIError to respond with."""
        tree, warnings, strict_error = _read_tree(request.body, options.field_validation or "Warn")
        expected, shape = request.resource.gvk, self._managers.shape(request.resource)
        api_version, kind = text_at(tree, "apiVersion"), text_at(tree, "kind")
        if (api_version, kind) != (expected.api_version, expected.kind):
            group, _, version = api_version.rpartition("/")
            raise BadRequestError(f"invalid object type: {group}/{version}, Kind={kind}")
        if tree.get("metadata") is None:
            tree["metadata"] = {}
        metadata = tree["metadata"]
        if not isinstance(metadata, dict):
            raise _untyped(tree, _joined(validate_applied(tree, shape)))
        if metadata.get("managedFields") is not None:
            raise BadRequestError("metadata.managedFields must be nil")
        if problems := validate_applied(tree, shape):
            if request.resource.kind == "Secret":
                # kube-apiserver includes the value; an error must not contain a secret.
                problems = [each.partition(", got ")[0] for each in problems]
            raise _untyped(tree, _joined(problems))
        sent: JSONObject = {**tree, "metadata": {**metadata}}
        return AppliedBody(sent, tree, warnings, strict_error)

    def merge(
        self, request: APIRequest, options: WriteOptions, config: AppliedBody, live: JSONObject | None
    ) -> tuple[Decoded, list[JSON]]:
        """Return the merged object and its managedFields; raises ConflictError.

        `live` is the present object in the requested version, which is changed; None if there is none.
        """
        shape, now, version = self._managers.shape(request.resource), self._managers.now(), request.resource.api_version
        ignored = _ignored(request, is_custom=self._definitions.version(request.resource) is not None)
        managed = {} if live is None else self._managed_before(request, live, ignored)
        applied = ApplyConfiguration(
            config.tree,
            Manager(options.field_manager, APPLY, subresource=request.subresource),
            version,
            is_forced=bool(options.force),
            may_take=fields_to_take_over(live or {}, options.field_manager, version, shape),
            ignored=ignored,
        )
        try:
            new, managed = after_apply(live or {}, applied, managed, shape, now=now)
        except ElementKeyError as error:
            raise _untyped(live or {}, str(error), what="live") from None
        # The types of the configuration are checked even where the merge keeps another value.
        self._decode(request, config.tree, config)
        record_last_applied(new, options.field_manager, config.sent)
        decoded = self._decode(request, new, config)
        if config.strict_error:
            raise BadRequestError(config.strict_error)
        request.warnings += config.warnings
        check_namespace(request, decoded.tree)
        check_name(request, decoded.tree)
        return decoded, encode_managed(managed)

    def _managed_before(self, request: APIRequest, live: JSONObject, ignored: FieldSet) -> ManagedFields:
        """Take the managedFields from the live object; without any, `before-first-apply` manages all fields."""
        entries = metadata_of(live).pop("managedFields", None)
        managed = decode_managed(entries) or {}
        if managed:
            return managed
        before = Manager(BEFORE_FIRST_APPLY, UPDATE, request.resource.api_version, request.subresource)
        shape, empty = self._managers.shape(request.resource), self._managers.empty(request.resource)
        try:
            seen = {name: value for name, value in live.items() if ignored.get(f"f:{name}") != {}}
            return after_update(empty, seen, {}, before, shape, now=self._managers.now())
        except ElementKeyError as error:
            raise _untyped(live, str(error), what="live") from None

    def _decode(self, request: APIRequest, tree: JSONObject, config: AppliedBody) -> Decoded:
        """Decode the merged object, as if a client had sent it; errors name what was applied."""
        version, kind, problems = self._definitions.version(request.resource), request.resource.gvk, StrictErrors()
        try:
            if version:
                # As in kube-apiserver, validation rejects applied nulls, which other writes drop.
                found = decode_custom_tree(tree, kind, version, self._schema, problems, keep_nulls=True)
                return Decoded(found, config.warnings)
            problems.converts_numbers = True
            return Decoded(decode_tree(tree, kind, self._schema, problems), config.warnings)
        except UnmarshalError as error:
            version_kind = f"{kind.group}/{kind.version}, Kind={kind.kind}"
            why = f"unable to convert unstructured object to {version_kind}: {conversion_error(str(error))}"
            metadata = metadata_of(config.sent)
            named = f"{text_at(metadata, 'namespace')}/{text_at(metadata, 'name')}; {version_kind}"
            message = f"failed to convert new object ({named}) to proper version: {why}"
            raise InternalServerError(message, reason="") from None


# What a write of the status does not change, in addition to the spec.
_KEPT_BY_STATUS: Mapping[tuple[str, str], FieldSet] = {
    ("apps", "Deployment"): {"f:metadata": {"f:labels": {}}},
    ("", "Pod"): {"f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}}},
    ("networking.k8s.io", "ServiceCIDR"): {"f:metadata": {}},
    ("resource.k8s.io", "ResourceClaim"): {"f:metadata": {}},
    ("storage.k8s.io", "VolumeAttachment"): {"f:metadata": {}},
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): {"f:metadata": {}},
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): {"f:metadata": {}},
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): {"f:metadata": {}},
}


def _ignored(request: APIRequest, *, is_custom: bool) -> FieldSet:
    if request.subresource == "status":
        kind = (request.resource.group, request.resource.kind)
        return {"f:spec": {}, **({"f:metadata": {}} if is_custom else _KEPT_BY_STATUS.get(kind, {}))}
    return {"f:status": {}} if request.resource.subresource("status") else {}


def _read_tree(body: bytes, field_validation: str) -> tuple[JSONObject, tuple[str, ...], str]:
    """Return the tree, its warnings, and the error of strict validation, which is raised after all others."""
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
        return tree, (), f"error strict decoding YAML: {why}"
    return tree, () if field_validation == "Ignore" else problems.warnings(), ""


def _joined(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else "".join(["errors:", *(f"\n  {each}" for each in problems)])


def _untyped(tree: JSONObject, why: str, *, what: str = "patch") -> APIError:
    kind = GroupVersionKind.of(text_at(tree, "apiVersion"), text_at(tree, "kind"))
    name, namespace = text_at(tree, "metadata", "name"), text_at(tree, "metadata", "namespace")
    version = f"{kind.group}/{kind.version}, Kind={kind.kind}"
    # kube-apiserver responds with an internal error.
    return InternalServerError(
        f"failed to create typed {what} object ({namespace}/{name}; {version}): {why}", reason=""
    )
