"""Applies ValidatingAdmissionPolicies and MutatingAdmissionPolicies to writes.

write ─▶ policies and their bindings that match ─▶ params ─▶ match conditions ─▶ mutations, or validations
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import msgspec

from listwatch.errors import APIError, ForbiddenError, SelectorError, StatusCause, StatusDetails
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey, Resource
from listwatch.selectors import LabelSelector
from listwatch.server.admission.attributes import Attributes, attributes_of, in_version
from listwatch.server.admission.matching import GROUP, MatchError, is_exempt, matched_resource
from listwatch.server.admission.policies.expressions import (
    Compiler,
    Evaluation,
    ExpressionError,
    authorize_as,
    conditions_hold,
    namespace_value,
)
from listwatch.server.admission.policies.mutations import apply_configuration, patched
from listwatch.server.admission.reinvocation import Reinvocation
from listwatch.server.apply.field_sets import MergeShape
from listwatch.server.cel.environment import Program
from listwatch.server.json_tree import object_at, objects_at, same, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.requests import APIRequest, User, kind_of

__all__ = ["Policies"]

_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}
_MAX_MESSAGE = 5 * 1024
_MAX_ANNOTATION = 10 * 1024
_FAILURE = "validation.policy.admission.k8s.io/validation_failure"
"""The audit annotation of the first validation that does not hold."""

Review = Callable[[User, JSONObject], tuple[bool, str]]
"""Returns whether a user may do something, and why not."""


@dataclass(frozen=True, slots=True)
class _Policy:
    """A policy with its bindings and compiled expressions."""

    name: str
    spec: JSONObject
    bindings: list[JSONObject]
    compiler: Compiler
    programs: dict[tuple[str, bool], Program | ExpressionError]

    @property
    def fails(self) -> bool:
        return self.spec.get("failurePolicy") != "Ignore"

    def program(self, text: str, *, variables: bool = True) -> Program:
        """Raises ExpressionError."""
        if (text, variables) not in self.programs:
            try:
                self.programs[text, variables] = self.compiler.compile(text, variables=variables)
            except ExpressionError as error:
                self.programs[text, variables] = ExpressionError(f"compilation error: {error}")
        found = self.programs[text, variables]
        if isinstance(found, ExpressionError):
            raise found
        return found


@dataclass(frozen=True, slots=True)
class _Denial:
    policy: str
    binding: str
    message: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Violation:
    index: int
    """Of the validation in the policy."""
    message: str
    reason: str


class Policies:
    """The policies of a server, compiled when the first write is checked."""

    def __init__(
        self,
        objects: ObjectStore,
        review: Review,
        shape: Callable[[Resource], MergeShape],
        kinds: Collection[str] = ("validating", "mutating"),
    ) -> None:
        self._objects = objects
        self._review = review
        self._shape = shape
        self._kinds = kinds
        self._validating: list[_Policy] | None = None
        self._mutating: list[_Policy] | None = None

    def reset(self) -> None:
        """Read the policies again with the next write."""
        self._validating, self._mutating = None, None

    def _policies(self, kind: str) -> list[_Policy]:
        if kind not in self._kinds:
            return []
        storage = self._objects.storage
        bindings = [decode_stored(each) for each in storage.scan(f"{GROUP}/{kind}admissionpolicybindings")]
        found = []
        for stored in storage.scan(f"{GROUP}/{kind}admissionpolicies"):
            tree = decode_stored(stored)
            name, spec = text_at(tree, "metadata", "name"), object_at(tree, "spec")
            bound = [each for each in bindings if text_at(each, "spec", "policyName") == name]
            if bound:
                found.append(_Policy(name, spec, bound, Compiler(spec, mutates=kind == "mutating"), {}))
        return found

    # --- Mutation

    def mutate(
        self,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        reinvocation: Reinvocation,
        *,
        dry_run: bool,
    ) -> JSONObject:
        """Return the object after all mutations that are due; raises ForbiddenError."""
        if self._mutating is None:
            self._mutating = self._policies("mutating")
        if not self._mutating or is_exempt(request):
            return new
        denials: list[_Denial] = []
        attributes = original = self._attributes(request, new, old, dry_run=dry_run)
        for policy in self._mutating:
            # As in kube-apiserver, policies are selected by the object as it was before all of them.
            for binding, params, matched in self._invocations(policy, original, denials):
                key = (
                    policy.name,
                    binding,
                    text_at(params, "metadata", "namespace"),
                    text_at(params, "metadata", "name"),
                )
                # The policy sees and changes the object in the version that its rule names.
                seen = in_version(attributes, matched, self._objects)
                before = seen.new
                evaluation = self._evaluation(policy, seen, params)
                if not self._is_due(policy, binding, evaluation, denials) or not reinvocation.is_due(key):
                    continue
                for mutation in objects_at(policy.spec, "mutations"):
                    try:
                        seen.new = self._mutated(policy, mutation, evaluation)
                    except ExpressionError as error:
                        if policy.fails:
                            denials.append(_Denial(policy.name, binding, str(error), "Invalid"))
                if_needed = policy.spec.get("reinvocationPolicy") == "IfNeeded"
                reinvocation.add(
                    key, changed=seen.new is not before and not same(seen.new, before), if_needed=if_needed
                )
                attributes = in_version(seen, request.resource, self._objects)
        assert attributes.new is not None
        if denials:
            raise _mutation_failed(request, attributes.new, denials)
        if attributes.new is not new and not same(attributes.new, new):
            reinvocation.require()  # unlike a webhook, a policy is invoked again also after its own change
        return attributes.new

    def _is_due(self, policy: _Policy, binding: str, evaluation: Evaluation, denials: list[_Denial]) -> bool:
        """Whether the match conditions hold; an error denies the request."""
        try:
            return self._is_selected(policy, evaluation)
        except ExpressionError as error:
            if policy.fails:
                denials.append(_Denial(policy.name, binding, str(error), "Invalid"))
            return False

    def _mutated(self, policy: _Policy, mutation: JSONObject, evaluation: Evaluation) -> JSONObject:
        attributes = evaluation.attributes
        new, requested = attributes.new, attributes.request.resource
        assert new is not None
        if mutation.get("patchType") == "ApplyConfiguration":
            program = policy.program(text_at(mutation, "applyConfiguration", "expression"))
            found = apply_configuration(new, evaluation.value(program), self._shape(_shaped_as(attributes)))
        else:
            found = patched(new, evaluation.value(policy.program(text_at(mutation, "jsonPatch", "expression"))))
        if attributes.resource != requested and self._objects.target(requested).is_built_in:
            # kube-apiserver has no direct conversion between two versions of a built-in kind.
            origin, wanted = (f"({each.version}.{each.kind})" for each in (attributes.resource, requested))
            raise ExpressionError(f"converting {origin} to {wanted}: unknown conversion")
        return found

    # --- Validation

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raise an APIError if a policy denies the write; adds warnings to the request."""
        if self._validating is None:
            self._validating = self._policies("validating")
        if not self._validating or is_exempt(request):
            return
        attributes = self._attributes(request, new, old, dry_run=dry_run)
        denials: list[_Denial] = []
        for policy in self._validating:
            annotations: dict[str, dict[str, None]] = {}
            for binding, params, matched in self._invocations(policy, attributes, denials):
                evaluation = self._evaluation(policy, in_version(attributes, matched, self._objects), params)
                for index, message, reason in self._violations(policy, evaluation):
                    self._act(policy, binding, _Violation(index, message, reason), request, denials)
                self._annotate(policy, binding, evaluation, annotations, denials)
            for name, values in annotations.items():
                request.audit_annotations[f"{policy.name}/{name}"] = ", ".join(values)
        if denials:
            raise _denied(request, attributes.name, denials[0])

    def _act(
        self, policy: _Policy, binding: str, violation: _Violation, request: APIRequest, denials: list[_Denial]
    ) -> None:
        message = violation.message
        found = next(each for each in policy.bindings if text_at(each, "metadata", "name") == binding)
        actions = texts_at(found, "spec", "validationActions")
        if "Deny" in actions:
            denials.append(_Denial(policy.name, binding, message, violation.reason))
        if "Audit" in actions:
            failure: JSONObject = {
                "message": message,
                "policy": policy.name,
                "binding": binding,
                "expressionIndex": violation.index,
                "validationActions": [*actions],
            }
            request.audit_annotations.setdefault(_FAILURE, msgspec.json.encode([failure]).decode())
        if "Warn" in actions:
            where = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding}'"
            request.warnings.append(f"Validation failed for {where}: {message}")

    def _violations(self, policy: _Policy, evaluation: Evaluation) -> Iterator[tuple[int, str, str]]:
        """Yield the index, the message and the reason of each validation that does not hold."""
        try:
            if not self._is_selected(policy, evaluation):
                return
        except ExpressionError as error:
            if policy.fails:
                yield 0, str(error), ""
            return
        for index, validation in enumerate(objects_at(policy.spec, "validations")):
            try:
                holds = evaluation.value(policy.program(text_at(validation, "expression")))
            except ExpressionError as error:
                if policy.fails:
                    yield index, str(error), ""
                continue
            if holds is not True:
                yield index, self._message(policy, validation, evaluation), text_at(validation, "reason") or "Invalid"

    def _message(self, policy: _Policy, validation: JSONObject, evaluation: Evaluation) -> str:
        expression = text_at(validation, "messageExpression")
        if expression:
            try:
                found = evaluation.value(policy.program(expression))
            except ExpressionError:
                found = ""
            text = found.strip() if isinstance(found, str) else ""
            if text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE:
                return text
        message = text_at(validation, "message").strip()
        return message or f"failed expression: {text_at(validation, 'expression').strip()}"

    def _annotate(
        self,
        policy: _Policy,
        binding: str,
        evaluation: Evaluation,
        annotations: dict[str, dict[str, None]],
        denials: list[_Denial],
    ) -> None:
        """Add the values of audit annotations, by their keys; an error denies the request."""
        declared = objects_at(policy.spec, "auditAnnotations")
        try:
            if not declared or not self._is_selected(policy, evaluation):
                return
        except ExpressionError:
            return  # reported as a violation
        for annotation in declared:
            expression = text_at(annotation, "valueExpression")
            try:
                value = evaluation.value(policy.program(expression))
                if value is not None and not isinstance(value, str):
                    why = f"valueExpression '{expression}' resulted in unsupported return type"
                    raise ExpressionError(f"{why}. Return type must be either string or null.")
            except ExpressionError as error:
                if policy.fails:
                    denials.append(_Denial(policy.name, binding, str(error)))
                continue
            if value and (text := value.strip()):
                annotations.setdefault(text_at(annotation, "key"), {})[text[:_MAX_ANNOTATION]] = None

    # --- What matches

    def _is_selected(self, policy: _Policy, evaluation: Evaluation) -> bool:
        conditions = objects_at(policy.spec, "matchConditions")
        return conditions_hold(conditions, lambda text: policy.program(text, variables=False), evaluation)

    def _invocations(
        self, policy: _Policy, attributes: Attributes, denials: list[_Denial]
    ) -> Iterator[tuple[str, JSONObject | None, Resource]]:
        """Yield the name of each binding that matches, with each of its params and the version of the policy."""
        registry = self._objects.registry
        try:
            matched = matched_resource(object_at(policy.spec, "matchConstraints"), attributes, registry)
            if matched is None:
                return
            self._param_resource(policy)
        except MatchError as error:
            if policy.fails:
                denials.append(_Denial(policy.name, "", f"failed to configure policy: {error}"))
            return
        for binding in policy.bindings:
            name = text_at(binding, "metadata", "name")
            try:
                if matched_resource(object_at(binding, "spec", "matchResources"), attributes, registry):
                    for params in self._params(policy, object_at(binding, "spec"), attributes):
                        yield name, params, matched
            except MatchError as error:
                if policy.fails:
                    denials.append(_Denial(policy.name, name, f"failed to configure binding: {error}"))

    def _params(self, policy: _Policy, binding: JSONObject, attributes: Attributes) -> list[JSONObject | None]:
        """Raises MatchError."""
        resource, reference = self._param_resource(policy), binding.get("paramRef")
        if resource is None or not isinstance(reference, dict):
            return [None]
        namespace = ""
        if resource.namespaced:
            namespace = text_at(reference, "namespace") or attributes.request.namespace
            if not namespace:
                why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                raise MatchError(why)
        elif text_at(reference, "namespace"):
            raise MatchError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        found = self._find_params(resource, namespace, reference)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise MatchError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return [*found]

    def _param_resource(self, policy: _Policy) -> Resource | None:
        """Return the resource of a policy's params, None if it has none; raises MatchError."""
        kind = object_at(policy.spec, "paramKind")
        if not kind:
            return None
        group = text_at(kind, "apiVersion").rpartition("/")[0]
        resource = self._objects.registry.of_kind(group, text_at(kind, "kind"))
        if resource is None:
            shown = f"{text_at(kind, 'apiVersion')}, Kind={text_at(kind, 'kind')}"
            raise MatchError(f"failed to find resource referenced by paramKind: '{shown}'")
        return resource

    def _find_params(self, resource: Resource, namespace: str, reference: JSONObject) -> list[JSONObject]:
        storage_id = self._objects.target(resource).storage_id
        if name := text_at(reference, "name"):
            found = self._objects.find(storage_id, ObjectKey(namespace, name))
            return [found] if found else []
        try:
            selector = LabelSelector.from_dict(object_at(reference, "selector"))
        except SelectorError as error:
            raise MatchError(str(error)) from None
        trees = [
            decode_stored(each) for each in self._objects.storage.scan(storage_id) if each.key.namespace == namespace
        ]
        return [each for each in trees if selector.matches(_labels(each))]

    def _attributes(
        self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool
    ) -> Attributes:
        found = attributes_of(self._objects, request, new, old, dry_run=dry_run)
        return replace(found, namespace=namespace_value(found.namespace)) if found.namespace else found

    def _evaluation(self, policy: _Policy, attributes: Attributes, params: JSONObject | None) -> Evaluation:
        return Evaluation(
            attributes, policy.compiler.variables, params, authorize_as(self._review, attributes.request.user)
        )


def _shaped_as(attributes: Attributes) -> Resource:
    """The resource whose kind is that of the object."""
    resource, kind = attributes.resource, kind_of(attributes.resource, attributes.request.subresource)
    return resource if kind == resource.gvk else Resource(kind.group, kind.version, kind.kind, f"{kind.kind.lower()}s")


def _labels(tree: JSONObject) -> dict[str, str]:
    return {name: str(value) for name, value in object_at(tree, "metadata", "labels").items()}


def _denied(request: APIRequest, name: str, denial: _Denial) -> APIError:
    with_binding = f" with binding '{denial.binding}'" if denial.binding else ""
    message = f"ValidatingAdmissionPolicy '{denial.policy}'{with_binding} denied request: {denial.message}"
    resource, reason = request.resource, denial.reason or "Invalid"
    details = StatusDetails(
        name=name, group=resource.group, kind=resource.plural, causes=(StatusCause("", message, ""),)
    )
    shown = ForbiddenError.of(resource.plural, name, message, group=resource.group).message
    return APIError(shown, status_code=_CODES.get(reason, 422), reason=reason, details=details)


def _mutation_failed(request: APIRequest, tree: JSONObject, denials: list[_Denial]) -> APIError:
    messages = []
    for denial in denials:
        with_binding = f" with binding '{denial.binding}'" if denial.binding else ""
        messages.append(f"policy '{denial.policy}'{with_binding} denied request: {denial.message}")
    resource = request.resource
    causes = tuple(StatusCause("", message, "") for message in messages)
    name = text_at(tree, "metadata", "name")
    details = StatusDetails(name=name, group=resource.group, kind=resource.plural, causes=causes)
    return APIError(messages[0], status_code=403, reason=denials[0].reason or "Forbidden", details=details)
