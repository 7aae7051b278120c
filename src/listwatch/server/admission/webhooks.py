"""Decides which webhooks a write has to pass, and what their responses mean. `http.webhook_client` calls them.

The pipeline is synchronous. A webhook without a response raises `WebhookNeededError`; the caller gets the response,
adds it to the request, and starts the pipeline again. An object is written only when all responses for it are there.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import APIError, BadRequestError, InternalServerError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.admission.attributes import Attributes, attributes_of, in_version, request_value
from listwatch.server.admission.matching import MatchError, matched_resource
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.codec.typed_decoding import UnmarshalError
from listwatch.server.json_tree import object_at, objects_at, same, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.patch.json_patch import JSONPatchError, apply_json_patch
from listwatch.server.requests import APIRequest, User, WebhookCall, WebhookNeededError, WebhookResponse, kind_of
from listwatch.server.webhook_calls import UndecodableResponseError, decoded_response, webhook_call

__all__ = ["Webhooks"]

GROUP = "admissionregistration.k8s.io"
_EXEMPT = frozenset(
    {
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies"),
        *("mutatingadmissionpolicybindings", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
    }
)
_DEFAULT_TIMEOUT = 10
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")

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
    def fails(self) -> bool:
        return self.spec.get("failurePolicy") != "Ignore"


class _CallError(Exception):
    """A webhook that could not be called, or returned what is not a response."""


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

    def mutate(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool) -> JSONObject:
        """Return the object after all patches; raises an APIError or WebhookNeededError."""
        if request.replay is None or _is_exempt(request):
            return new
        before, called = new, list[tuple[_Webhook, JSONObject]]()
        for webhook in self._webhooks("mutating"):
            changed = self._call_mutating(webhook, request, new, old, dry_run=dry_run, round_="first")
            called.append((webhook, changed))
            new = changed
        if not same(before, new):
            for webhook, seen in called:
                if webhook.spec.get("reinvocationPolicy") == "IfNeeded" and not same(seen, new):
                    new = self._call_mutating(webhook, request, new, old, dry_run=dry_run, round_="again")
        return new

    def _call_mutating(
        self,
        webhook: _Webhook,
        request: APIRequest,
        new: JSONObject,
        old: JSONObject | None,
        *,
        dry_run: bool,
        round_: str,
    ) -> JSONObject:
        attributes = attributes_of(self._objects, request, new, old, dry_run=dry_run)
        try:
            seen = self._selected(webhook, attributes)
            if seen is None:
                return new
            response = self._response(webhook, seen, round_)
            if not response.get("allowed"):
                raise _rejection(webhook, response)
            assert seen.new is not None
            found = _patched(response, seen.new)
        except _CallError as error:
            self._handle(webhook, error)
            return new
        if found is seen.new:
            return new
        changed = in_version(replace(seen, new=self._decoded(found, seen)), request.resource, self._objects)
        assert changed.new is not None
        return changed.new

    def _decoded(self, tree: JSONObject, attributes: Attributes) -> JSONObject:
        """Decode an object that a webhook has patched, and set its defaults."""
        kind = kind_of(attributes.resource, attributes.request.subresource)
        try:
            found = self._objects.decoded(tree, attributes.resource, kind)
        except UnmarshalError as error:
            raise InternalServerError(f"Internal error occurred: {error}") from None
        apply_defaults(found, self._objects.schema)
        return found

    # --- Validation

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises an APIError or WebhookNeededError."""
        if request.replay is None or _is_exempt(request):
            return
        attributes = attributes_of(self._objects, request, new, old, dry_run=dry_run)
        if new is None:
            self._call_for_deletion(attributes)
        for webhook in self._webhooks("validating"):
            self._check(webhook, attributes, "validate")

    def _call_for_deletion(self, attributes: Attributes) -> None:
        """Mutating webhooks are called for deletions too; they can only reject them."""
        for webhook in self._webhooks("mutating"):
            self._check(webhook, attributes, "first")

    def _check(self, webhook: _Webhook, attributes: Attributes, round_: str) -> None:
        try:
            seen = self._selected(webhook, attributes)
            if seen is None:
                return
            response = self._response(webhook, seen, round_)
            if not response.get("allowed"):
                raise _rejection(webhook, response)
            if round_ == "validate" and response.get("patch"):
                raise _CallError("received invalid webhook response: validating webhook may not return response.patch")
        except _CallError as error:
            self._handle(webhook, error)

    def _handle(self, webhook: _Webhook, error: _CallError) -> None:
        if webhook.fails:
            raise InternalServerError(f'Internal error occurred: failed calling webhook "{webhook.name}": {error}')

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

    def _response(self, webhook: _Webhook, attributes: Attributes, round_: str) -> JSONObject:
        """Return the response of a webhook; raises WebhookNeededError if it was not called yet, and _CallError."""
        request = attributes.request
        if attributes.dry_run and webhook.spec.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequestError(f'admission webhook "{webhook.name}" does not support dry run')
        assert request.replay is not None
        # An object that was changed while a webhook was called is sent to it again.
        version = text_at(attributes.old, "metadata", "resourceVersion")
        key = round_, webhook.configuration, webhook.name, request.namespace, request.name, version
        uid = request.replay.values.setdefault(":".join(key), self._new_uid())
        received = request.replay.responses.get(key)
        if received is None:
            raise WebhookNeededError(key, _call(webhook, attributes, uid))
        review = _review_in(received, uid)
        warnings = texts_at(review, "warnings")
        request.warnings += warnings
        for name, value in object_at(review, "auditAnnotations").items():
            request.audit_annotations[f"{webhook.name}/{name}"] = str(value)
        return review


def _is_exempt(request: APIRequest) -> bool:
    return request.resource.group == GROUP and request.resource.plural in _EXEMPT


def _call(webhook: _Webhook, attributes: Attributes, uid: str) -> WebhookCall:
    config = object_at(webhook.spec, "clientConfig")
    versions = texts_at(webhook.spec, "admissionReviewVersions")
    version = next((each for each in versions if each in ("v1", "v1beta1")), "v1")
    admitted: JSONObject = {
        "uid": uid,
        **request_value(attributes),
        "object": attributes.new,
        "oldObject": attributes.old,
    }
    body: JSONObject = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": admitted}
    timeout = webhook.spec.get("timeoutSeconds")
    return webhook_call(config, body, timeout if isinstance(timeout, int) else _DEFAULT_TIMEOUT)


def _review_in(received: WebhookResponse, uid: str) -> JSONObject:
    """Return the response in what a webhook sent; raises _CallError."""
    try:
        tree = decoded_response(received)
    except UndecodableResponseError as error:
        raise _CallError(f"failed to call webhook: {error}") from None
    review = object_at(tree, "response")
    if not isinstance(tree, dict) or not review:
        raise _CallError("received invalid webhook response: webhook response was absent")
    if review.get("uid") != uid:
        found = text_at(review, "uid")
        raise _CallError(f'received invalid webhook response: expected response.uid="{uid}", got "{found}"')
    kind = f"{text_at(tree, 'apiVersion')}, Kind={text_at(tree, 'kind')}"
    if text_at(tree, "kind") != "AdmissionReview" or not text_at(tree, "apiVersion").startswith("admission.k8s.io/"):
        expected = "admission.k8s.io/v1, Kind=AdmissionReview"
        raise _CallError(f"received invalid webhook response: expected webhook response of {expected}, got {kind}")
    if review.get("patch") and not review.get("patchType"):
        why = "webhook returned response.patch but not response.patchType"
        raise _CallError(f"received invalid webhook response: {why}")
    if "patchType" in review and not review.get("patch"):
        why = "webhook returned response.patchType but not response.patch"
        raise _CallError(f"received invalid webhook response: {why}")
    return review


def _patched(response: JSONObject, tree: JSONObject) -> JSONObject:
    """Raises _CallError, and an InternalServerError for a patch that cannot be applied."""
    patch = text_at(response, "patch")
    if not patch:
        return tree
    try:
        operations: JSON = msgspec.json.decode(base64.b64decode(patch, validate=True))
    except binascii.Error:
        place = next((index for index, each in enumerate(patch) if each not in _BASE64), len(patch))
        raise _CallError(f"failed to call webhook: illegal base64 data at input byte {place}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise _CallError(f"received undecodable patch in webhook response: {error}") from None
    if not isinstance(operations, list):
        found = "object" if isinstance(operations, dict) else "value"
        why = f"json: cannot unmarshal {found} into Go value of type jsonpatch.Patch"
        raise _CallError(f"received undecodable patch in webhook response: {why}")
    if operations and (kind := text_at(response, "patchType")) != "JSONPatch":
        raise _CallError(f'unsupported patch type "{kind}"')
    try:
        result = apply_json_patch(_operations(operations), tree)
    except JSONPatchError as error:
        raise InternalServerError(f"Internal error occurred: {error}") from None
    if not isinstance(result, dict) or (result.get("apiVersion"), result.get("kind")) != (
        tree["apiVersion"],
        tree["kind"],
    ):
        raise InternalServerError("Internal error occurred: the patch of a webhook changed the kind of the object")
    return result


def _operations(tree: JSON) -> Iterator[JSONObject]:
    for each in tree if isinstance(tree, list) else []:
        if isinstance(each, dict):
            yield each


def _rejection(webhook: _Webhook, response: JSONObject) -> APIError:
    status = {**object_at(response, "status")}
    code = status.get("code")
    status["code"] = code if isinstance(code, int) and code >= 400 else 400
    status["status"] = "Failure"
    denied = f'admission webhook "{webhook.name}" denied the request'
    why = text_at(status, "message") or text_at(status, "reason")
    status["message"] = f"{denied}: {why}" if why else f"{denied} without explanation"
    return error_from_status(status)
