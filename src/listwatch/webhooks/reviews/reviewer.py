"""Handles reviews: decodes the objects, calls the function, and makes the response."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import NamedTuple

from listwatch.errors import APIError, DecodeError, DeniedError
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object
from listwatch.webhooks.admission_request import AdmissionRequest
from listwatch.webhooks.hooks import AdmissionHook
from listwatch.webhooks.reviews.admission_review import (
    AdmissionReview,
    allowed_response,
    denied_response,
    invalid_object,
    read_admission_review,
)
from listwatch.webhooks.reviews.function_calls import FunctionCalls
from listwatch.webhooks.reviews.review_errors import ReviewError

__all__ = ["ReviewResponse", "Reviewer"]

_log = logging.getLogger("listwatch.webhooks")


class ReviewResponse(NamedTuple):
    """The body of a response, and whether the review was rejected."""

    body: bytes
    is_rejected: bool = False


class Reviewer:
    """Handles the reviews of webhooks. A failed review raises ReviewError, and no other error."""

    def __init__(self, calls: FunctionCalls) -> None:
        self._calls = calls

    async def admit(self, hook: AdmissionHook, body: bytes, *, timeout: float) -> ReviewResponse:
        """Call the function of an admission webhook."""
        review = read_admission_review(body)
        fields = {"webhook": hook.name, "uid": review.uid, "object": review.object_name}
        try:
            response = await self._admit(hook, review, timeout)
        except ReviewError as error:
            _log.error("Webhook %s failed for %s: %s", hook.name, review.object_name, error, extra=fields)
            raise ReviewError(f"webhook {hook.name}, review {review.uid}: {error}", status=error.status) from None
        except asyncio.CancelledError:
            # API servers close the connection after the timeout of the webhook, which is that of the function.
            message = "Webhook %s did not respond for %s before the connection was closed"
            _log.error(message, hook.name, review.object_name, extra=fields)
            raise
        except Exception as error:  # noqa: BLE001  # user code
            _log.exception("Webhook %s failed for %s", hook.name, review.object_name, extra=fields)
            # Without the message, which may contain internal details.
            why = f"{hook.form.name} raised {type(error).__name__}; see the log of the webhook"
            raise ReviewError(
                f"webhook {hook.name}, review {review.uid}: {why}", status=HTTPStatus.INTERNAL_SERVER_ERROR
            ) from None
        decision = "rejected" if response.is_rejected else "allowed"
        _log.debug("Webhook %s has %s %s", hook.name, decision, review.object_name, extra=fields)
        return response

    async def _admit(self, hook: AdmissionHook, review: AdmissionReview, timeout: float) -> ReviewResponse:
        kind: type[Object] = hook.kind
        review.check_kind(kind)
        request: AdmissionRequest[Object] = review.request(kind)
        try:
            reviewed = review.object(kind)
        except DecodeError as error:
            return ReviewResponse(
                denied_response(request, invalid_object(error, request.kind, request.name)), is_rejected=True
            )
        try:
            result = await self._calls.call(hook.form, reviewed, request, timeout=min(timeout, hook.options.timeout))
        except DeniedError as error:
            return ReviewResponse(denied_response(request, error), is_rejected=True)
        except APIError as error:
            if error.doing:
                raise  # a request of the function has failed
            return ReviewResponse(denied_response(request, error), is_rejected=True)
        if hook.action == "validate":
            if result is not None:
                raise ReviewError(
                    f"{hook.form.name} returned {_shown(result)}: expected None; raise DeniedError to reject",
                    status=HTTPStatus.INTERNAL_SERVER_ERROR,
                )
            return ReviewResponse(allowed_response(request, []))
        return ReviewResponse(
            allowed_response(request, _patch(hook, review, request, reviewed if result is None else result))
        )


def _patch(
    hook: AdmissionHook, review: AdmissionReview, request: AdmissionRequest[Object], changed: object
) -> list[JSONObject]:
    if not isinstance(changed, hook.kind):
        raise ReviewError(
            f"{hook.form.name} returned {_shown(changed)}: expected None or a {hook.kind.__name__}",
            status=HTTPStatus.INTERNAL_SERVER_ERROR,
        )
    return [] if request.operation == "DELETE" else review.patch_to(changed)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, bool | int) else f"a {type(value).__name__}"
