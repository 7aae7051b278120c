"""The steps that creates and updates have in common: decode, convert, admit, validate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from listwatch.errors import InternalServerError, InvalidError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource
from listwatch.server.apply.managed_fields import FieldManagers
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import Decoded, decode_tree
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import DEFINITIONS, CustomVersion, has_rules
from listwatch.server.json_tree import copied, object_at, text_at
from listwatch.server.lifecycle.built_in_admission import Additions
from listwatch.server.lifecycle.definition_lifecycle import complete_definition
from listwatch.server.lifecycle.object_store import ObjectStore, Target
from listwatch.server.lifecycle.service_addresses import SERVICES, assign_addresses
from listwatch.server.lifecycle.strategy import NAMESPACES, metadata_of
from listwatch.server.protocol.write_options import WriteOptions, decode_request_body
from listwatch.server.requests import Admission, APIRequest, Response
from listwatch.server.rules.custom_objects import structural_problems
from listwatch.server.rules.validation import bounded
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.admission_plugins import (
    AdmissionPolicies,
    PodSecurity,
    Priorities,
    Quotas,
    ServiceAccounts,
)

if TYPE_CHECKING:
    from listwatch.server.custom_rules.validator import CustomRules

__all__ = ["PODS", "WriteSteps", "compared_as", "set_managed_fields"]

PODS = "/pods"
_POLICIES = frozenset(
    f"admissionregistration.k8s.io/{name}" for name in ("validatingadmissionpolicies", "mutatingadmissionpolicies")
)
_WITH_EXPRESSIONS = _POLICIES | {
    f"admissionregistration.k8s.io/{name}"
    for name in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
}
_PRIORITY_FIELDS = frozenset({"priorityClassName", "priority", "preemptionPolicy"})


class WriteSteps:
    """The shared steps of writes, with the admission plugins of the server."""

    def __init__(
        self,
        objects: ObjectStore,
        managers: FieldManagers,
        admission: Sequence[Admission],
        additions: Additions,
    ) -> None:
        self.objects = objects
        self.schema = objects.schema
        self.managers = managers
        self.admission = admission
        self.additions = additions
        self.quotas: Quotas | None = None
        self.priorities: Priorities | None = None
        self.pod_security: PodSecurity | None = None
        self.service_accounts: ServiceAccounts | None = None
        self.policies: AdmissionPolicies | None = None
        self.checks_namespaces = True
        """Whether new objects need a namespace that is not being deleted."""

    @cached_property
    def _custom_rules(self) -> CustomRules:
        # Few definitions have rules.
        from listwatch.server.custom_rules.validator import CustomRules

        return CustomRules()

    # --- Decode and convert

    def response(self, stored: Stored, request: APIRequest, *, code: int = 200) -> Response:
        """Return the response with an object, in the requested version."""
        return Response(self.objects.encode(stored, request.resource), code, stored=stored)

    def custom_version(self, resource: Resource) -> CustomVersion | None:
        """Return the version that a CustomResourceDefinition defines; None for other resources."""
        if not self.objects.target(resource).is_custom:
            return None
        return self.objects.definitions.version(resource)

    def decode(self, request: APIRequest, options: WriteOptions) -> Decoded:
        target = self.objects.target(request.resource)
        custom = self.objects.definitions.version(request.resource) if target.is_custom else None
        return decode_request_body(request, options, target.gvk, self.schema, custom)

    def to_stored_version(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        return tree if target.stored_as is request.resource else convert(tree, target.stored_as.gvk)

    def in_version(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        """Return a stored object in the requested version."""
        return tree if target.stored_as is request.resource else convert(copied(tree), request.resource.gvk)

    def mutate(
        self, request: APIRequest, new: JSONObject, old: JSONObject | None, target: Target, options: WriteOptions
    ) -> JSONObject:
        assert self.policies is not None
        seen = self.in_version(new, request, target)
        seen_old = self.in_version(old, request, target) if old is not None else None
        found = self.policies.mutate(request, seen, seen_old, dry_run=options.dry_run)
        if found is seen:
            return new
        try:
            found = self._decode_changed(found, request, target)
        except UnmarshalError as error:
            raise InternalServerError(f"Internal error occurred: {error}") from None
        changed = self.to_stored_version(found, request, target)
        apply_defaults(changed, self.schema)
        return changed

    def check_policies(
        self, request: APIRequest, new: JSONObject, old: JSONObject | None, target: Target, options: WriteOptions
    ) -> None:
        """Let policies and webhooks validate a write; raises an APIError or WebhookNeededError."""
        if self.policies and self.policies.active:
            seen = self.in_version(new, request, target)
            seen_old = self.in_version(old, request, target) if old is not None else None
            self.policies.validate(request, seen, seen_old, dry_run=options.dry_run)

    def _decode_changed(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        """Decode an object that policies and webhooks have changed; raises UnmarshalError."""
        if target.is_built_in:
            return decode_tree(tree, request.resource.gvk, self.schema, StrictErrors())
        custom = self.custom_version(request.resource)
        if custom is None:
            return tree
        return decode_custom_tree(tree, request.resource.gvk, custom, self.schema, StrictErrors())

    def admit(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None:
        for admit in self.admission:
            admit(request, new, old)

    def complete(self, new: JSONObject, old: JSONObject | None, target: Target) -> None:
        """Set the fields that depend on other objects, or on earlier states of this one."""
        if target.storage_id == SERVICES:
            assign_addresses(new, old, self.objects.storage.scan(SERVICES))
        elif target.storage_id == DEFINITIONS:
            complete_definition(new, old)

    def check_pod_security(self, request: APIRequest, new: JSONObject, old: JSONObject | None, target: Target) -> None:
        security = self.pod_security
        if security is None or target.storage_id not in security.resources:
            return
        if target.storage_id == NAMESPACES or request.namespace in security.namespaces:
            security.validate(target.storage_id, request, new, old)

    def check_valid(
        self,
        problems: Sequence[StatusCause],
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
    ) -> None:
        """Raise InvalidError for these problems and for those with the schema of a custom resource."""
        if target.is_custom and (custom := self.custom_version(request.resource)):
            found = (
                structural_problems(new, custom.schema) if old is None else structural_problems(new, custom.schema, old)
            )
            problems = bounded(chain(problems, found))
            if custom.has_rules:
                problems = self._custom_rules.problems(custom, new, old, problems, request.warnings)
        elif target.storage_id == DEFINITIONS and not problems and has_rules(new):
            problems = self._custom_rules.definition_problems(new, old)
        elif target.storage_id in _WITH_EXPRESSIONS and not problems:
            # Few servers have policies.
            from listwatch.server.admission.policy_rules import policy_problems, webhook_problems

            check = policy_problems if target.storage_id in _POLICIES else webhook_problems
            problems = check(new, old)
        if problems:
            name = text_at(new, "metadata", "name")
            raise InvalidError.of(target.stored_as.kind, name, problems, group=target.stored_as.group)

    def prune(self, tree: JSONObject, target: Target) -> None:
        """Drop fields of a custom object that the stored version does not have."""
        if target.is_custom and (definition := self.objects.definitions.get(target.stored_as)):
            definition.versions[target.stored_as.version].prune(tree)

    def has_priority(self, pod: JSONObject) -> bool:
        """Most pods name no priority, and most clusters have no default."""
        assert self.priorities is not None
        return self.priorities.has_default or not _PRIORITY_FIELDS.isdisjoint(object_at(pod, "spec"))


def compared_as(request: APIRequest, target: Target) -> Resource:
    """The version whose schema finds the fields of a stored object: without a converter, versions differ only in it."""
    return request.resource if target.is_custom and not target.is_converted else target.stored_as


def set_managed_fields(tree: JSONObject, managed: list[JSON]) -> None:
    """Replace the managedFields of an object."""
    metadata = metadata_of(tree)
    metadata.pop("managedFields", None)
    if managed:
        metadata["managedFields"] = managed
