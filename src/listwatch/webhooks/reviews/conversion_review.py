"""Reads ConversionReviews, makes their responses, and keeps the metadata of objects."""

from __future__ import annotations

from typing import cast

import msgspec

from listwatch.json_value import JSONObject
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.json.reading import DECODE_FAILURES, reason_of
from listwatch.webhooks.reviews.review_errors import ReviewError

__all__ = [
    "ConversionReview",
    "converted_response",
    "failed_response",
    "read_conversion_review",
    "with_metadata_of",
]

API_VERSION = "apiextensions.k8s.io/v1"


class ConversionReview(msgspec.Struct):
    """A review that was received."""

    uid: str
    desired: str = msgspec.field(name="desiredAPIVersion")
    """The apiVersion that the objects have to be converted to."""
    objects: list[msgspec.Raw] = msgspec.field(default_factory=list[msgspec.Raw])


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: ConversionReview | None = None


def read_conversion_review(body: bytes) -> ConversionReview:
    """Decode a review; raises ReviewError with the problem of the body."""
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
    except DECODE_FAILURES as error:
        raise ReviewError(f"the body is not a ConversionReview: {reason_of(error)}") from None
    if (envelope.api_version, envelope.kind) != (API_VERSION, "ConversionReview"):
        found = f"{envelope.api_version or 'no apiVersion'} {envelope.kind or 'without a kind'}"
        raise ReviewError(f"expected {API_VERSION} ConversionReview, got {found}; set conversionReviewVersions to [v1]")
    if envelope.request is None:
        raise ReviewError("the ConversionReview has no request")
    return envelope.request


def with_metadata_of(source: CustomResource, converted: CustomResource) -> JSONObject:
    """Return the converted object with the metadata of the source.

    A function may change labels and annotations. If it sets metadata with a name, such as a copy of the source's, its
    labels and annotations are used as they are; without a name, only those that it set replace the source's.
    """
    tree, origin = cast(JSONObject, converted.to_dict()), cast(JSONObject, source.to_dict())
    given, kept = tree.get("metadata"), origin.get("metadata")
    metadata: JSONObject = dict(kept) if isinstance(kept, dict) else {}
    if isinstance(given, dict):
        for name in ("labels", "annotations"):
            if given.get(name):
                metadata[name] = given[name]
            elif given.get("name"):
                metadata.pop(name, None)
    return {"apiVersion": converted.api_version, "kind": converted.kind, **tree, "metadata": metadata}


def converted_response(uid: str, objects: list[msgspec.Raw]) -> bytes:
    """Return the review with all converted objects, in the order of the request."""
    response = {"uid": uid, "result": {"status": "Success"}, "convertedObjects": objects}
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": "ConversionReview", "response": response})


def failed_response(uid: str, message: str) -> bytes:
    """Return the review of objects that cannot be converted; servers accept all objects of a review or none."""
    response: JSONObject = {"uid": uid, "result": {"status": "Failure", "message": message}, "convertedObjects": []}
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": "ConversionReview", "response": response})
