"""Decides which webhooks a write has to pass, and what their responses mean. `http.webhook_client` calls them.

The pipeline is synchronous. A webhook without a response raises `WebhookNeededError`; the caller gets the response,
adds it to the request, and starts the pipeline again. An object is written only when all responses for it are there.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import APIError, BadNameError, BadRequestError, DecodeError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.admission.attributes import Attributes, attributes_of, in_version, request_value
from listwatch.server.admission.matching import GROUP, MatchError, is_exempt, matched_resource
from listwatch.server.admission.reinvocation import Reinvocation
from listwatch.server.admission.webhook_responses import decode_response
from listwatch.server.codec.decoding import SCHEME, decode_tree, go_name, parse_json
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.internal_errors import internal_error
from listwatch.server.json_tree import object_at, objects_at, quoted, same, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.patch.json_patch import JSONPatchError, apply_json_patch
from listwatch.server.requests import APIRequest, User, WebhookCall, WebhookNeededError, WebhookResponse, kind_of
from listwatch.server.schema.schema import Schema
from listwatch.server.webhook_calls import UndecodableResponseError, decoded_response, webhook_call

__all__ = ["Webhooks"]

_DEFAULT_TIMEOUT = 10
_FAILURES = range(400, 1000)
"""The codes that a webhook can reject a request with; HTTP has no larger ones."""
_MUTATION, _VALIDATION = "mutation.webhook.admission.k8s.io/", "validating.webhook.admission.k8s.io/"
"""Prefixes of audit annotations."""

if TYPE_CHECKING:
    from listwatch.server.admission.match_conditions import MatchConditions

Review = Callable[[User, JSONObject], tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class _Webhook:
    configuration: str
    spec: JSONObject

    @property
    def name(self) -> str:
        return text_at(self.spec, "name")

    @property
    def key(self) -> tuple[str, str]:
        return self.configuration, self.name

    @property
    def fails(self) -> bool:
        return self.spec.get("failurePolicy") != "Ignore"

    @property
    def is_reinvoked(self) -> bool:
        return self.spec.get("reinvocationPolicy") == "IfNeeded"


class _CallError(Exception):
    """A webhook that could not be called, or returned what is not a response."""


class _DeniedError(Exception):
    """A webhook that was called denies the request, or has failed."""

    def __init__(self, reason: APIError) -> None:
        super().__init__(reason.message)
        self.reason = reason


class Webhooks:
    """The webhooks of a server."""

    def __init__(
        self, objects: ObjectStore, review: Review, new_uid: Callable[[], str], kinds: Collection[str]
    ) -> None:
        self._objects = objects
        self._review = review
        self._new_uid = new_uid
        self._kinds = kinds
        self._known: dict[str, list[_Webhook]] = {}

    def reset(self) -> None:
        """Read the configurations again with the next write."""
        self._known = {}

    def _webhooks(self, kind: str) -> list[_Webhook]:
        if kind not in self._kinds:
            return []
        if kind not in self._known:
            trees = map(decode_stored, self._objects.storage.scan(f"{GROUP}/{kind}webhookconfigurations"))
            ordered = sorted(trees, key=lambda tree: text_at(tree, "metadata", "name"))
            self._known[kind] = [
                _Webhook(text_at(tree, "metadata", "name"), spec)
                for tree in ordered
                for spec in objects_at(tree, "webhooks")
            ]
        return self._known[kind]

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
        """Return the object after the patches of webhooks that are due; raises an APIError or WebhookNeededError."""
        if request.replay is None or is_exempt(request):
            return new
        for index, webhook in enumerate(self._webhooks("mutating")):
            attributes = attributes_of(self._objects, request, new, old, dry_run=dry_run)
            place = f"round_{reinvocation.round_}_index_{index}"
            try:
                seen = self._selected(webhook, attributes)
                # In the second round, no webhook is called for the first time.
                if seen is None or not reinvocation.is_due(webhook.key):
                    continue
                found = self._patched(webhook, seen, place)
            except _CallError as error:
                self._handle(webhook, error, request, f"failed-open.{_MUTATION}{place}")
                found, seen = new, None
            changed = seen is not None and found is not seen.new and not same(found, seen.new)
            reinvocation.add(webhook.key, changed=changed, if_needed=webhook.is_reinvoked)
            mutation: JSONObject = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": changed}
            request.audit_annotations[f"{_MUTATION}{place}"] = msgspec.json.encode(mutation).decode()
            if seen is not None and found is not seen.new:
                patched = in_version(replace(seen, new=found), request.resource, self._objects).new
                assert patched is not None
                new = patched
        return new

    def _patched(self, webhook: _Webhook, seen: Attributes, place: str) -> JSONObject:
        """Return the object as a webhook has changed it; raises an APIError, WebhookNeededError or _CallError."""
        response = self._response(webhook, seen, place)
        if not response.get("allowed"):
            raise _rejection(webhook, response)
        assert seen.new is not None
        found = _patched(response, seen.new)
        return found if found is seen.new else self._decoded(found, seen)

    def _decoded(self, tree: JSONObject, attributes: Attributes) -> JSONObject:
        """Decode an object that a webhook has patched, and set its defaults; raises an APIError."""
        kind = kind_of(attributes.resource, attributes.request.subresource)
        names = text_at(tree, "apiVersion") or kind.api_version, text_at(tree, "kind") or kind.kind
        schema = self._objects.schema
        try:
            if names != (kind.api_version, kind.kind):
                raise _changed_kind(tree, *names, kind, schema)
            found = self._objects.decoded({**tree, "apiVersion": names[0], "kind": names[1]}, attributes.resource, kind)
        except UnmarshalError as error:
            raise internal_error(str(error)) from None
        apply_defaults(found, schema)
        return found

    # --- Validation

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises an APIError or WebhookNeededError."""
        if request.replay is None or is_exempt(request):
            return
        attributes = attributes_of(self._objects, request, new, old, dry_run=dry_run)
        needed: dict[tuple[str, ...], WebhookCall] = {}
        errors: list[APIError] = []
        for index, webhook in enumerate(self._webhooks("validating")):
            # All of them are called at the same time, also if one denies the request.
            try:
                self._check(webhook, attributes, f"round_0_index_{index}")
            except WebhookNeededError as error:
                needed.update(error.calls)
            except _DeniedError as error:
                errors.append(error.reason)
        if needed:
            raise WebhookNeededError(needed)
        if errors:
            raise errors[0]

    def check_deletion(self, request: APIRequest, old: JSONObject | None, *, dry_run: bool) -> None:
        """Call mutating webhooks for a deletion; they can only reject it. Raises an APIError or WebhookNeededError."""
        if request.replay is None or is_exempt(request):
            return
        attributes = attributes_of(self._objects, request, None, old, dry_run=dry_run)
        for index, webhook in enumerate(self._webhooks("mutating")):
            place = f"round_0_index_{index}"
            try:
                seen = self._selected(webhook, attributes)
                if seen is None:
                    continue
                response = self._response(webhook, seen, place)
                if not response.get("allowed"):
                    raise _rejection(webhook, response)
                if _operations_in(response):
                    why = "attempted to modify the object, which is not supported for this operation"
                    raise internal_error(f'admission webhook "{webhook.name}" {why}')
            except _CallError as error:
                self._handle(webhook, error, request, f"failed-open.{_MUTATION}{place}")

    def _check(self, webhook: _Webhook, attributes: Attributes, place: str) -> None:
        """Raises _DeniedError after the webhook was called; other errors keep all webhooks from being called."""
        seen = None
        try:
            seen = self._selected(webhook, attributes)
            if seen is None:
                return
            response = self._response(webhook, seen, f"validate {place}")
            if not response.get("allowed"):
                raise _DeniedError(_rejection(webhook, response))
        except _CallError as error:
            try:
                self._handle(webhook, error, attributes.request, f"failed-open.{_VALIDATION}{place}")
            except APIError as failed:
                raise failed if seen is None else _DeniedError(failed) from None

    def _handle(self, webhook: _Webhook, error: _CallError, request: APIRequest, annotation: str) -> None:
        """Fail the request, unless the webhook's failures are ignored."""
        if webhook.fails:
            raise internal_error(f'failed calling webhook "{webhook.name}": {error}')
        request.audit_annotations[annotation] = webhook.name

    # --- One webhook

    def _selected(self, webhook: _Webhook, attributes: Attributes) -> Attributes | None:
        """Return a write in the version that a rule of the webhook names; None if none of them selects it."""
        spec = webhook.spec
        if not objects_at(spec, "rules"):
            return None
        try:
            matched = matched_resource({**spec, "resourceRules": spec["rules"]}, attributes, self._objects.registry)
        except MatchError as error:
            raise _CallError(str(error)) from None
        if matched is None:
            return None
        seen, conditions = in_version(attributes, matched, self._objects), objects_at(spec, "matchConditions")
        if conditions and not self._conditions.hold(conditions, seen, webhook.name, fails=webhook.fails):
            return None
        return seen

    @cached_property
    def _conditions(self) -> MatchConditions:
        # Few webhooks have conditions.
        from listwatch.server.admission.match_conditions import MatchConditions

        return MatchConditions(self._review)

    def _response(self, webhook: _Webhook, attributes: Attributes, place: str) -> JSONObject:
        """Return the response of a webhook; raises WebhookNeededError if it was not called yet, and _CallError."""
        request = attributes.request
        if attributes.dry_run and webhook.spec.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequestError(f'admission webhook "{webhook.name}" does not support dry run')
        assert request.replay is not None
        # An object that was changed while a webhook was called is sent to it again.
        version = text_at(attributes.old, "metadata", "resourceVersion")
        key = place, webhook.configuration, webhook.name, request.namespace, request.name, version
        uid = request.replay.values.setdefault(":".join(key), self._new_uid())
        received = request.replay.responses.get(key)
        if received is None:
            raise WebhookNeededError({key: _call(webhook, attributes, uid)})
        review = self._review_in(received, uid, _review_version(webhook), mutates=not place.startswith("validate"))
        request.warnings += texts_at(review, "warnings")
        for name, value in object_at(review, "auditAnnotations").items():
            request.audit_annotations[f"{webhook.name}/{name}"] = str(value)
        return review

    def _review_in(self, received: WebhookResponse, uid: str, version: str, *, mutates: bool) -> JSONObject:
        """Return the response in what a webhook sent; raises _CallError."""
        expected = GroupVersionKind("admission.k8s.io", version, "AdmissionReview")
        try:
            tree = decoded_response(received, expected)
            review = None if tree.get("response") is None else decode_response(tree["response"], self._objects.schema)
        except (UndecodableResponseError, UnmarshalError) as error:
            raise _CallError(f"failed to call webhook: {error}") from None
        if problem := _problem_of(review, tree, uid, expected, mutates=mutates):
            raise _CallError(f"received invalid webhook response: {problem}")
        assert review is not None
        return review


def _review_version(webhook: _Webhook) -> str:
    versions = texts_at(webhook.spec, "admissionReviewVersions")
    return next((each for each in versions if each in ("v1", "v1beta1")), "v1")


def _problem_of(
    review: JSONObject | None, tree: JSONObject, uid: str, expected: GroupVersionKind, *, mutates: bool
) -> str:
    """Describe what is wrong with a response; older versions of reviews have fewer rules."""
    if review is None:
        return "webhook response was absent"
    if expected.version != "v1":
        return ""
    if (found := text_at(review, "uid")) != uid:
        return f'expected response.uid="{uid}", got {quoted(found)}'
    if (text_at(tree, "apiVersion"), text_at(tree, "kind")) != (expected.api_version, expected.kind):
        shown = f"{text_at(tree, 'apiVersion') or '/'}, Kind={text_at(tree, 'kind')}"
        return f"expected webhook response of {expected.api_version}, Kind={expected.kind}, got {shown}"
    has_patch, has_type = bool(review.get("patch")), review.get("patchType") is not None
    if not mutates:
        for name, present in (("patch", has_patch), ("patchType", has_type)):
            if present:
                return f"validating webhook may not return response.{name}"
    elif has_patch and not has_type:
        return "webhook returned response.patch but not response.patchType"
    elif has_type and not has_patch:
        return "webhook returned response.patchType but not response.patch"
    return ""


def _call(webhook: _Webhook, attributes: Attributes, uid: str) -> WebhookCall:
    config = object_at(webhook.spec, "clientConfig")
    admitted: JSONObject = {
        "uid": uid,
        **request_value(attributes),
        "object": attributes.new,
        "oldObject": attributes.old,
    }
    version = f"admission.k8s.io/{_review_version(webhook)}"
    body: JSONObject = {"kind": "AdmissionReview", "apiVersion": version, "request": admitted}
    timeout = webhook.spec.get("timeoutSeconds")
    return webhook_call(config, body, timeout if isinstance(timeout, int) else _DEFAULT_TIMEOUT)


def _patched(response: JSONObject, tree: JSONObject) -> JSONObject:
    """Raises _CallError, and an InternalServerError for a patch that cannot be applied."""
    operations = _operations_in(response)
    if not operations:
        return tree
    if (kind := text_at(response, "patchType")) not in ("JSONPatch", ""):
        raise _CallError(f"unsupported patch type {quoted(kind)}")
    try:
        result = apply_json_patch(operations, tree)
    except JSONPatchError as error:
        raise internal_error(str(error)) from None
    if not isinstance(result, dict):
        raise internal_error("json: cannot unmarshal array into Go value of type map[string]interface {}")
    return result


def _operations_in(response: JSONObject) -> list[JSONObject]:
    """Raises _CallError."""
    patch, refused = text_at(response, "patch"), "received undecodable patch in webhook response"
    if not patch:
        return []
    try:
        operations = parse_json(base64.b64decode(patch), find_duplicates=False)
    except DecodeError as error:
        raise _CallError(f"{refused}: {error.message}") from None
    if operations is None:
        return []
    wrong: JSON = operations
    kind = "Patch"
    if isinstance(operations, list):
        found = [each for each in operations if isinstance(each, dict)]
        if len(found) == len(operations):
            return found
        wrong, kind = next(each for each in operations if not isinstance(each, dict)), "Operation"
    raise _CallError(f"{refused}: json: cannot unmarshal {json_type(wrong)} into Go value of type jsonpatch.{kind}")


def _changed_kind(
    tree: JSONObject, api_version: str, name: str, expected: GroupVersionKind, schema: Schema
) -> APIError:
    """Return the error of kube-apiserver for a patch that has changed the kind of an object; raises UnmarshalError."""
    try:
        found = GroupVersionKind.of(api_version, name)
    except BadNameError:
        return internal_error(f"unexpected GroupVersion string: {api_version}")
    if schema.type_of(found.api_version, found.kind) is None:
        why = f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{SCHEME}"'
        return internal_error(why)
    decode_tree(tree, found, schema, StrictErrors())
    kinds = f"({found.version}.{found.kind})", f"({go_name(expected.group, expected.kind)})"
    return APIError(f"converting {kinds[0]} to {kinds[1]}: unknown conversion", status_code=500)


def _rejection(webhook: _Webhook, response: JSONObject) -> APIError:
    status = {**object_at(response, "status")}
    code = status.get("code")
    status["code"] = code if isinstance(code, int) and code in _FAILURES else _FAILURES.start
    status["status"] = "Failure"
    denied = f'admission webhook "{webhook.name}" denied the request'
    why = text_at(status, "message") or text_at(status, "reason")
    status["message"] = f"{denied}: {why}" if why else f"{denied} without explanation"
    return error_from_status(status)
