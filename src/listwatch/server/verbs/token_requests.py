"""Responds to TokenRequests: signs tokens for service accounts, which this server accepts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from listwatch.errors import BadRequestError, ConflictError, InvalidError, NotFoundError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.server.access.service_account_tokens import ISSUER, Claims, KubernetesClaims, ObjectReference
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import ensure_object, integer_at, object_at, quoted, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import timestamp
from listwatch.server.protocol.write_options import decode_request_body, read_write_options
from listwatch.server.requests import APIRequest, Response
from listwatch.server.verbs.admission_plugins import BodyAdmission

__all__ = ["TokenHandler", "TokenSigner"]

_TOKEN_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
_DEFAULT_SECONDS = 3600
_FEWEST_SECONDS = 600
_MOST_SECONDS = 2**32
# The kubelet requests 3607 seconds for pods. Such a token lasts for a year, because old clients do not read it again.
_EXTENDED_REQUEST = 3607
_EXTENDED_SECONDS = 365 * 24 * 3600


class TokenSigner(Protocol):
    """Signs the tokens of service accounts."""

    def sign_token(self, claims: Claims) -> str: ...


class _Bound(NamedTuple):
    """The objects that a token is bound to."""

    pod: ObjectReference | None = None
    secret: ObjectReference | None = None
    node: ObjectReference | None = None


class TokenHandler:
    """Signs a token for the service account that a request names."""

    def __init__(
        self,
        objects: ObjectStore,
        signer: TokenSigner,
        admission: BodyAdmission,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._objects = objects
        self._signer = signer
        self._admission = admission
        self._now = now
        self._new_id = new_id

    def __call__(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        requested = decode_request_body(request, options, _TOKEN_REQUEST, self._objects.schema).tree
        ensure_object(requested, "spec").setdefault("expirationSeconds", _DEFAULT_SECONDS)
        requested = self._admission.admit_body(request, requested, dry_run=options.dry_run)
        _check_names(requested, request)
        account = decode_stored(self._objects.get(request))
        uid = text_at(account, "metadata", "uid")
        _check_uid(requested, request.name, uid)
        spec = object_at(requested, "spec")
        seconds = integer_at(spec, "expirationSeconds")
        _check_seconds(seconds)
        audiences = texts_at(spec, "audiences") or [ISSUER]
        bound = self._bound_objects(request, spec.get("boundObjectRef"))
        now = self._now()
        is_extended = bool(bound.pod) and seconds == _EXTENDED_REQUEST and audiences == [ISSUER]
        began = int(now.timestamp())
        claims = Claims(
            aud=audiences,
            exp=began + (_EXTENDED_SECONDS if is_extended else seconds),
            iat=began,
            iss=ISSUER,
            jti=self._new_id(),
            kubernetes=KubernetesClaims(
                namespace=request.namespace,
                node=bound.node,
                pod=bound.pod,
                secret=bound.secret,
                serviceaccount=ObjectReference(request.name, uid),
                warnafter=began + seconds if is_extended else 0,
            ),
            nbf=began,
            sub=f"system:serviceaccount:{request.namespace}:{request.name}",
        )
        response: JSONObject = {
            **requested,
            "metadata": {
                **object_at(requested, "metadata"),
                "name": request.name,
                "namespace": request.namespace,
                "uid": uid,
                "creationTimestamp": timestamp(now),
            },
            "spec": {"boundObjectRef": None, **spec, "audiences": [*audiences], "expirationSeconds": seconds},
            "status": {
                "token": self._signer.sign_token(claims),
                "expirationTimestamp": timestamp(now + timedelta(seconds=seconds)),
            },
        }
        return Response(response, code=201)

    def _bound_objects(self, request: APIRequest, reference: JSON) -> _Bound:
        if not isinstance(reference, dict):
            return _Bound()
        name = text_at(reference, "name")
        group, _, version = text_at(reference, "apiVersion").rpartition("/")
        match group, text_at(reference, "kind"):
            case "", "Pod":
                pod = self._find("pods", request.namespace, name)
                if text_at(pod, "spec", "serviceAccountName") != request.name:
                    raise BadRequestError(
                        f"cannot bind token for serviceaccount {quoted(request.name)} to pod running with different "
                        "serviceaccount name."
                    )
                return _Bound(pod=_checked(pod, reference), node=self._node_of(pod))
            case "", "Secret":
                return _Bound(secret=_checked(self._find("secrets", request.namespace, name), reference))
            case "", "Node":
                return _Bound(node=_checked(self._find("nodes", "", name), reference))
            case _, kind:
                raise BadRequestError(f"cannot bind token to object of type {group}/{version}, Kind={kind}")

    def _node_of(self, pod: JSONObject) -> ObjectReference | None:
        name = text_at(pod, "spec", "nodeName")
        if not name:
            return None
        found = self._objects.find("/nodes", ObjectKey("", name))
        return ObjectReference(name, text_at(found, "metadata", "uid"))

    def _find(self, plural: str, namespace: str, name: str) -> JSONObject:
        if not name:
            raise BadRequestError("Name parameter required.")
        found = self._objects.find(f"/{plural}", ObjectKey(namespace, name))
        if found is None:
            raise NotFoundError.of(plural, name)
        return found


def _checked(found: JSONObject, reference: JSONObject) -> ObjectReference:
    name, uid = text_at(found, "metadata", "name"), text_at(found, "metadata", "uid")
    expected = text_at(reference, "uid")
    if expected not in ("", uid):
        raise ConflictError.of(
            text_at(reference, "kind"),
            name,
            f"the UID in the bound object reference ({expected}) does not match the UID in record. The object might "
            "have been deleted and then recreated",
        )
    return ObjectReference(name, uid)


def _check_names(requested: JSONObject, request: APIRequest) -> None:
    for member, expected in (("name", request.name), ("namespace", request.namespace)):
        given = text_at(requested, "metadata", member)
        if given not in ("", expected):
            problem = f"must match the service account {member} if specified"
            raise _invalid(invalid(f"metadata.{member}", given, problem), request.name)


def _check_uid(requested: JSONObject, name: str, uid: str) -> None:
    given = text_at(requested, "metadata", "uid")
    if given not in ("", uid):
        problem = f"the UID in the token request ({given}) does not match the UID of the service account ({uid})"
        raise ConflictError.of("TokenRequest", name, problem, group=_TOKEN_REQUEST.group)


def _check_seconds(seconds: int) -> None:
    if seconds < _FEWEST_SECONDS:
        problem = "may not specify a duration less than 10 minutes"
        raise _invalid(invalid("spec.expirationSeconds", seconds, problem))
    if seconds > _MOST_SECONDS:
        problem = "may not specify a duration larger than 2^32 seconds"
        raise _invalid(invalid("spec.expirationSeconds", seconds, problem))


def _invalid(problem: StatusCause, name: str = "") -> InvalidError:
    return InvalidError.of("TokenRequest", name, [problem], group=_TOKEN_REQUEST.group)
