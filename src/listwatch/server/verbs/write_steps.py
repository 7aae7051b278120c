"""The steps that creates and updates have in common: decode, convert, admit, validate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from listwatch.errors import InvalidError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource
from listwatch.server.apply.managed_fields import FieldManagers
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import Decoded
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.typed_decoding import UnmarshalError
from listwatch.server.crd.definitions import DEFINITIONS, CustomVersion, has_rules
from listwatch.server.internal_errors import internal_error
from listwatch.server.json_tree import copied, object_at, text_at
from listwatch.server.lifecycle.built_in_admission import Additions
from listwatch.server.lifecycle.definition_lifecycle import complete_definition
from listwatch.server.lifecycle.object_store import ObjectStore, Target
from listwatch.server.lifecycle.service_addresses import SERVICES, assign_addresses
from listwatch.server.lifecycle.strategy import NAMESPACES, metadata_of
from listwatch.server.protocol.write_options import WriteOptions, decode_request_body
from listwatch.server.requests import Admission, APIRequest, Response
from listwatch.server.rules.custom_objects import duplicate_problems, kind_problems, scale_problems, structural_problems
from listwatch.server.rules.validation import bounded
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.admission_plugins import (
    AdmissionPolicies,
    PodSecurity,
    Priorities,
    Quotas,
    RuntimeClasses,
    ServiceAccounts,
    View,
)
from listwatch.server.verbs.connections import connection_options, with_connection_options

if TYPE_CHECKING:
    from listwatch.server.custom_rules.validator import CustomRules

__all__ = ["PODS", "WriteSteps", "compared_as", "set_managed_fields"]

PODS = "/pods"
_CLAIMS = "/persistentvolumeclaims"
_PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses"
_POLICIES = frozenset(
    f"admissionregistration.k8s.io/{name}" for name in ("validatingadmissionpolicies", "mutatingadmissionpolicies")
)
_WITH_EXPRESSIONS = _POLICIES | {
    f"admissionregistration.k8s.io/{name}"
    for name in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
}
_RUNTIME_FIELDS = frozenset({"runtimeClassName", "overhead"})


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
        self.runtime_classes: RuntimeClasses | None = None
        self.pod_security: PodSecurity | None = None
        self.service_accounts: ServiceAccounts | None = None
        self.policies: AdmissionPolicies | None = None
        self.check_escalation: Admission | None = None
        """Rejects roles and bindings that grant more than the user has, as admission has changed them."""
        self.check_claim_resize: Callable[[JSONObject, JSONObject], None] | None = None
        """Rejects claims that request more storage, unless their class allows that."""
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
        if target.stored_as is request.resource:
            return tree
        # A custom object may declare another kind, which validation rejects.
        return {**convert(tree, target.stored_as.gvk), "kind": tree["kind"]}

    def in_version(self, tree: JSONObject, request: APIRequest, target: Target) -> JSONObject:
        """Return a stored object in the requested version."""
        return tree if target.stored_as is request.resource else convert(copied(tree), request.resource.gvk)

    # --- Admission

    @property
    def can_mutate(self) -> bool:
        """Whether admission functions, policies or webhooks may change objects."""
        return bool(self.admission) or (self.policies is not None and self.policies.active)

    def admit_and_mutate(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
        options: WriteOptions,
        view: View | None = None,
    ) -> JSONObject:
        """Return an object as admission functions, policies and webhooks have changed it."""
        if self.admission:
            self.admit(request, new, old)
            apply_defaults(new, self.schema)
        if self.policies and self.policies.active:
            return self.mutate(request, new, old, target, options, view)
        return new

    def mutate(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
        options: WriteOptions,
        view: View | None = None,
    ) -> JSONObject:
        """Return an object as policies and webhooks have changed it; raises an APIError or WebhookNeededError."""
        assert self.policies is not None
        whole, seen_old = self._seen(new, request, target, None), self._seen(old, request, target, view)
        assert whole is not None
        seen = view.show(whole) if view else whole
        if old is None:
            seen = _without_generated(seen)

        def add_fields(tree: JSONObject) -> None:
            self.add_fields(request, tree, target, is_new=old is None)

        mutated = self.policies.mutate(
            request, seen, seen_old, dry_run=options.dry_run, add_fields=None if request.subresource else add_fields
        )
        found = self._decoded(mutated, seen, request)
        if found is seen:
            return new
        if old is None:
            found = {**found, "metadata": {**metadata_of(found), **_generated(whole)}}
        changed = self.to_stored_version(view.apply(whole, found) if view else found, request, target)
        apply_defaults(changed, self.schema)
        return changed

    def check_policies(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
        options: WriteOptions,
        view: View | None = None,
    ) -> None:
        """Let policies and webhooks validate a write; raises an APIError or WebhookNeededError."""
        if self.policies and self.policies.active:
            seen, seen_old = (self._seen(each, request, target, view) for each in (new, old))
            self.policies.validate(request, seen, seen_old, dry_run=options.dry_run)

    def _seen(
        self, tree: JSONObject | None, request: APIRequest, target: Target, view: View | None
    ) -> JSONObject | None:
        if tree is None:
            return None
        found = self.in_version(tree, request, target)
        return view.show(found) if view else found

    def _decoded(self, tree: JSONObject, before: JSONObject, request: APIRequest) -> JSONObject:
        """Decode an object that admission has changed; returns the object before that if it has not."""
        if tree is before:
            return before
        try:
            return self.objects.decoded(tree, request.resource, request.kind)
        except UnmarshalError as error:
            raise internal_error(str(error)) from None

    def admit_body(self, request: APIRequest, body: JSONObject, *, dry_run: bool = False) -> JSONObject:
        """Return an object that is sent to a subresource, such as an Eviction, after admission."""
        self._set_namespace(request, body)
        self.admit(request, body, None)
        return self.admit_unwritten(request, body, dry_run=dry_run)

    def admit_unwritten(self, request: APIRequest, body: JSONObject, *, dry_run: bool = False) -> JSONObject:
        """Return an object that changes no other, such as a review, after all policies and webhooks have allowed it."""
        if self.policies is None or not self.policies.active:
            return body
        self._set_namespace(request, body)
        found = self._decoded(self.policies.mutate(request, body, None, dry_run=dry_run), body, request)
        self.policies.validate(request, found, None, dry_run=dry_run)
        return found

    def _set_namespace(self, request: APIRequest, body: JSONObject) -> None:
        if request.namespace and request.verb != "connect":
            metadata_of(body).setdefault("namespace", request.namespace)

    def admit_connection(self, request: APIRequest) -> APIRequest:
        """Return a request that connects to a pod, node or Service, with its options after admission."""
        if self.policies is None or not self.policies.active:
            return request
        options = connection_options(request)
        found = self.admit_unwritten(request, options)
        return request if found is options else with_connection_options(request, found)

    def admit(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None:
        """Call the admission functions of the server's user."""
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

    def check_resize(self, request: APIRequest, new: JSONObject, old: JSONObject, target: Target) -> None:
        if self.check_claim_resize and target.storage_id == _CLAIMS and not request.subresource:
            self.check_claim_resize(new, old)

    def check_default_priority(self, new: JSONObject, target: Target) -> None:
        if target.storage_id == _PRIORITY_CLASSES and self.priorities:
            self.priorities.check_default(new)

    def check_valid(
        self,
        problems: Sequence[StatusCause],
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        target: Target,
    ) -> None:
        """Raise InvalidError for these problems and for those with the schema of a custom resource."""
        kind = target.stored_as.kind
        if target.is_custom and (custom := self.custom_version(request.resource)):
            duplicates = duplicate_problems(new, custom.schema, old)
            if others := list(kind_problems(new, kind)):
                name, kind = text_at(new, "metadata", "name"), text_at(new, "kind")
                raise InvalidError.of(kind, name, bounded(chain(others, duplicates)), group=target.stored_as.group)
            found: Iterable[StatusCause] = (
                structural_problems(new, custom.schema) if old is None else structural_problems(new, custom.schema, old)
            )
            if custom.scale and request.subresource != "scale":
                is_status = request.subresource == "status"
                found = chain(found, scale_problems(new, custom.scale, is_status=is_status))
            problems = bounded(chain(problems, found, duplicates))
            if custom.has_rules:
                problems = self._custom_rules.problems(custom, new, old, problems, request.warnings)
        elif target.storage_id == DEFINITIONS and not problems and has_rules(new):
            problems = self._custom_rules.definition_problems(new, old)
        elif target.storage_id in _WITH_EXPRESSIONS and not problems:
            # Few servers have policies.
            from listwatch.server.admission.policies.rules import policy_problems, webhook_problems

            check = policy_problems if target.storage_id in _POLICIES else webhook_problems
            problems = check(new, old)
        if problems:
            name = text_at(new, "metadata", "name")
            raise InvalidError.of(kind, name, problems, group=target.stored_as.group)

    def prune(self, tree: JSONObject, target: Target) -> None:
        """Drop fields of a custom object that the stored version does not have."""
        if target.is_custom and (definition := self.objects.definitions.get(target.stored_as)):
            definition.versions[target.stored_as.version].prune(tree)

    def add_fields(self, request: APIRequest, new: JSONObject, target: Target, *, is_new: bool = True) -> None:
        """Set what built-in plugins add to objects; raises ForbiddenError."""
        is_pod = target.storage_id == PODS
        if not is_new:
            if is_pod and (add := self.additions.get(target.group_kind)):
                add(new)  # tolerations are added again
            return
        if is_pod and self.service_accounts:
            self.service_accounts.add(request, new)
        if is_pod and self.runtime_classes and self.has_runtime_class(new):
            self.runtime_classes.add(new)
        if add := self.additions.get(target.group_kind):
            add(new)
        if is_pod and self.priorities:
            self.priorities.add(new)

    def has_runtime_class(self, pod: JSONObject) -> bool:
        """Most pods name no RuntimeClass."""
        return not _RUNTIME_FIELDS.isdisjoint(object_at(pod, "spec"))


_GENERATED = ("uid", "creationTimestamp", "generation")


def _generated(tree: JSONObject) -> JSONObject:
    metadata = metadata_of(tree)
    return {name: metadata[name] for name in _GENERATED if name in metadata}


def _without_generated(tree: JSONObject) -> JSONObject:
    """Return a new object as it is before kube-apiserver sets what it generates."""
    metadata = {name: value for name, value in metadata_of(tree).items() if name not in _GENERATED}
    return {**tree, "metadata": metadata}


def compared_as(request: APIRequest, target: Target) -> Resource:
    """The version whose schema finds the fields of a stored object: without a converter, versions differ only in it."""
    return request.resource if target.is_custom and not target.is_converted else target.stored_as


def set_managed_fields(tree: JSONObject, managed: list[JSON]) -> None:
    """Replace the managedFields of an object."""
    metadata = metadata_of(tree)
    metadata.pop("managedFields", None)
    if managed:
        metadata["managedFields"] = managed
