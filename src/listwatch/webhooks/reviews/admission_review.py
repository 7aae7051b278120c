"""Reads AdmissionReviews and makes their responses."""

from __future__ import annotations

import base64
from typing import TypeVar

import msgspec

from listwatch.api.statuses import status_from_error
from listwatch.errors import APIError, DecodeError, DeniedError, InvalidError, StatusCause, StatusDetails
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, GroupVersionResource
from listwatch.objects.json.reading import DECODE_FAILURES, reason_of
from listwatch.objects.object import Object
from listwatch.webhooks.admission_request import AdmissionRequest, Operation, UserInfo
from listwatch.webhooks.reviews.json_patch import make_json_patch
from listwatch.webhooks.reviews.review_errors import ReviewError

__all__ = ["AdmissionReview", "allowed_response", "denied_response", "invalid_object", "read_admission_review"]

T = TypeVar("T", bound=Object)

API_VERSION = "admission.k8s.io/v1"
_NULL = msgspec.Raw(b"null")


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)


class _Resource(msgspec.Struct):
    group: str = ""
    version: str = ""
    resource: str = ""

    @property
    def gvr(self) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, self.resource)


class _Request(msgspec.Struct, rename="camel"):
    uid: str
    operation: Operation
    kind: _Kind = msgspec.field(default_factory=_Kind)
    resource: _Resource = msgspec.field(default_factory=_Resource)
    request_kind: _Kind | None = None
    request_resource: _Resource | None = None
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: _User = msgspec.field(default_factory=_User)
    object: msgspec.Raw = _NULL
    old_object: msgspec.Raw = _NULL
    dry_run: bool | None = None
    options: msgspec.Raw = _NULL


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: msgspec.Raw = _NULL


class AdmissionReview:
    """A review that was received."""

    def __init__(self, request: _Request) -> None:
        self._request = request

    @property
    def uid(self) -> str:
        return self._request.uid

    @property
    def object_name(self) -> str:
        """The object for log lines: `Fleet default/north`."""
        request = self._request
        return f"{request.kind.kind} {'/'.join(filter(None, (request.namespace, request.name)))}".rstrip()

    def check_kind(self, kind: type[Object]) -> None:
        """Raise ReviewError if the object is of another kind than the class."""
        found = self._request.kind.gvk
        if kind.gvk is not None and found != kind.gvk:
            raise ReviewError(f"expected {kind.gvk}, got {found}: correct the rules of the webhook")

    def object(self, kind: type[T]) -> T:
        """Return the object, or the stored one if it is being deleted, decoded completely; raises DecodeError."""
        raw = self._request.object if self._request.object != _NULL else self._request.old_object
        if raw == _NULL:
            raise ReviewError(f"the review of {self.object_name} has neither an object nor an old object")
        found = kind.from_json(bytes(raw))
        for name in kind.lazy_fields:
            getattr(found, name)
        return found

    def request(self, kind: type[T]) -> AdmissionRequest[T]:
        """Return the request. Parts of its old object are decoded when they are accessed."""
        request = self._request
        user = request.user_info
        old = request.old_object
        return AdmissionRequest(
            operation=request.operation,
            old=None if old == _NULL else kind.from_json(bytes(old)),
            uid=request.uid,
            name=request.name,
            namespace=request.namespace,
            subresource=request.sub_resource,
            kind=request.kind.gvk,
            resource=request.resource.gvr,
            request_kind=(request.request_kind or request.kind).gvk,
            request_resource=(request.request_resource or request.resource).gvr,
            user=UserInfo(
                name=user.username,
                uid=user.uid,
                groups=tuple(user.groups or ()),
                extra={name: tuple(values) for name, values in (user.extra or {}).items()},
            ),
            dry_run=bool(request.dry_run),
            options=msgspec.json.decode(request.options) or {},
        )

    def patch_to(self, changed: Object) -> list[JSONObject]:
        """Return the operations that turn the received object into this one."""
        before: JSON = msgspec.json.decode(self._request.object)
        return make_json_patch(before, changed.to_dict())


def read_admission_review(body: bytes) -> AdmissionReview:
    """Decode a review; raises ReviewError with the problem of the body."""
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
    except DECODE_FAILURES as error:
        raise ReviewError(f"the body is not an AdmissionReview: {reason_of(error)}") from None
    if (envelope.api_version, envelope.kind) != (API_VERSION, "AdmissionReview"):
        found = f"{envelope.api_version or 'no apiVersion'} {envelope.kind or 'without a kind'}"
        raise ReviewError(
            f"expected {API_VERSION} AdmissionReview, got {found}; set admissionReviewVersions to [v1] in the webhook"
        )
    if envelope.request == _NULL:
        raise ReviewError("the AdmissionReview has no request")
    try:
        return AdmissionReview(msgspec.json.decode(envelope.request, type=_Request))
    except DECODE_FAILURES as error:
        raise ReviewError(f"the request of the AdmissionReview: {reason_of(error)}") from None


# --- responses --------------------------------------------------------------------------------------------------------


def allowed_response(request: AdmissionRequest[T], patch: list[JSONObject]) -> bytes:
    """Return the review that allows a request, with these changes."""
    response: JSONObject = {"uid": request.uid, "allowed": True}
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(msgspec.json.encode(patch)).decode()
    return _encode(response, request)


def denied_response(request: AdmissionRequest[T], error: DeniedError | APIError) -> bytes:
    """Return the review that rejects a request, with the message, reason, code and causes of an error."""
    if isinstance(error, DeniedError):
        details = StatusDetails(causes=error.causes) if error.causes else None
        error = APIError(error.message, status_code=error.code, reason=error.reason, details=details)
    status = status_from_error(error)
    return _encode({"uid": request.uid, "allowed": False, "status": status}, request)


def invalid_object(error: DecodeError, kind: GroupVersionKind, name: str) -> InvalidError:
    """Return the rejection of an object that does not match its class."""
    cause = StatusCause(reason="FieldValueInvalid", message=error.message, field=error.field)
    return InvalidError.of(kind.kind, name, [cause], group=kind.group)


def _encode(response: JSONObject, request: AdmissionRequest[T]) -> bytes:
    if request.warnings:
        response["warnings"] = [str(each) for each in request.warnings]
    if request.audit_annotations:
        response["auditAnnotations"] = {str(key): str(value) for key, value in request.audit_annotations.items()}
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})
