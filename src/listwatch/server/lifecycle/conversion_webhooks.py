"""Converts custom objects with the webhook of their definition.

    stored object ─▶ ConversionReview ─▶ webhook ─▶ checked, with the metadata of the original ─▶ pruned

The pipeline is synchronous: an object that was not converted yet raises `WebhookNeededError`; the caller adds the
response of the webhook to the `Replay`, and starts the request again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import msgspec

from listwatch.errors import APIError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.json_tree import copied, go_type, object_at, text_at, texts_at
from listwatch.server.requests import Replay, WebhookCall, WebhookNeededError, WebhookResponse
from listwatch.server.rules.metadata import annotation_rules, labels
from listwatch.server.webhook_calls import UndecodableResponseError, decoded_response, webhook_call

__all__ = ["ConversionWebhook"]

_GROUP = "apiextensions.k8s.io"
_TIMEOUT = 30
_MAX_BATCH = 256 * 1024
"""The bytes of objects that are sent with one call; at least one object is sent."""
_KEPT = ("name", "namespace", "uid", "labels", "annotations")
"""The metadata on which the result depends; the rest is copied from the original."""


class ConversionWebhook:
    """The conversion webhook of one definition."""

    def __init__(self, name: str, webhook: JSONObject) -> None:
        self._name = name
        self._config = object_at(webhook, "clientConfig")
        versions = texts_at(webhook, "conversionReviewVersions")
        self._review_version = next((each for each in versions if each in ("v1", "v1beta1")), "v1")

    def convert(self, trees: Sequence[JSONObject], api_version: str, replay: Replay) -> list[JSONObject]:
        """Return objects in another version; raises an APIError or WebhookNeededError. The trees are not changed."""
        keys = [_key(self._name, api_version, tree) for tree in trees]
        wanted = {
            key: tree
            for key, tree in zip(keys, trees, strict=True)
            if key not in replay.converted and tree["apiVersion"] != api_version
        }
        for batch in _batches(wanted):
            replay.converted |= self._converted(batch, api_version, replay)
        found: list[JSONObject] = []
        for key, tree in zip(keys, trees, strict=True):
            if tree["apiVersion"] == api_version:
                found.append(tree)
            else:
                # The metadata that the result does not depend on may differ between two states of an object.
                found.append(self._restored(copied(replay.converted[key]), tree))
        return found

    def _converted(self, batch: dict[bytes, JSONObject], api_version: str, replay: Replay) -> dict[bytes, JSONObject]:
        """Return the objects that the webhook has returned, by their keys."""
        name = hashlib.sha256(b"".join(batch)).hexdigest()
        key = ("convert", self._name, api_version, name)
        uid = replay.values.setdefault(name, replay.new_uid())
        objects = [*batch.values()]
        received = replay.responses.get(key)
        if received is None:
            raise WebhookNeededError({key: self._call(objects, api_version, uid)})
        prefix = f"conversion webhook for {_kind(objects[0])}"
        found = self._objects_in(received, uid, prefix)
        if len(found) != len(objects):
            raise _error(f"{prefix} returned {len(found)} objects, expected {len(objects)}")
        checked = [self._check(each, old, api_version, prefix) for each, old in zip(found, objects, strict=True)]
        return dict(zip(batch, checked, strict=True))

    def _call(self, objects: Sequence[JSONObject], api_version: str, uid: str) -> WebhookCall:
        request: JSONObject = {"uid": uid, "desiredAPIVersion": api_version, "objects": [*objects]}
        kind = {"kind": "ConversionReview", "apiVersion": f"{_GROUP}/{self._review_version}"}
        response: JSONObject = {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}
        return webhook_call(self._config, {**kind, "request": request, "response": response}, _TIMEOUT)

    def _objects_in(self, received: WebhookResponse, uid: str, prefix: str) -> list[JSON]:
        try:
            tree = decoded_response(received, GroupVersionKind(_GROUP, self._review_version, "ConversionReview"))
        except UndecodableResponseError as error:
            raise _error(f"{prefix} failed: {error}") from None
        response = tree.get("response")
        if self._review_version == "v1":
            expected = "apiextensions.k8s.io/v1, Kind=ConversionReview"
            if (found := _kind(tree)) != expected:
                raise _error(f"{prefix} failed: expected webhook response of {expected}, got {found}")
        if not isinstance(response, dict):
            raise _error(f"{prefix} failed: no response provided")
        if self._review_version == "v1" and text_at(response, "uid") != uid:
            why = f'expected response.uid="{uid}", got "{text_at(response, "uid")}"'
            raise _error(f"{prefix} failed: {why}")
        result = object_at(response, "result")
        if (status := text_at(result, "status")) != "Success":
            why = text_at(result, "message") or f"response.result.status was '{status}', not 'Success'"
            raise _error(f"{prefix} failed: {why}")
        converted = response.get("convertedObjects")
        return converted if isinstance(converted, list) else []

    def _check(self, tree: JSON, original: JSONObject, api_version: str, prefix: str) -> JSONObject:
        """Return a converted object if it is the same one in the desired version, with metadata of the original."""
        where = f"{prefix} returned invalid object at index 0"
        if not isinstance(tree, dict) or not text_at(tree, "kind"):
            shown = msgspec.json.encode(tree).decode()
            raise _error(f"{where}: Object 'Kind' is missing in '{shown}'")
        if (found := text_at(tree, "apiVersion")) != api_version:
            raise _error(f"{where}: invalid groupVersion (expected {api_version}, received {found})")
        if (found := text_at(tree, "kind")) != original["kind"]:
            raise _error(f"{where}: invalid kind (expected {original['kind']}, received {found})")
        for shown, member in (("name", "name"), ("namespace", "namespace"), ("UID", "uid")):
            expected, found = (text_at(each, "metadata", member) for each in (original, tree))
            if expected != found:
                why = f"must have the same {shown}: {expected} != {found}"
                raise _error(f"{prefix} returned invalid object: {why}")
        for why in self._problems(tree, original):
            raise _error(f"{prefix} returned invalid metadata: {why}")
        return tree

    def _problems(self, tree: JSONObject, original: JSONObject) -> Iterator[str]:
        if "metadata" not in tree:
            yield "missing metadata in converted object"
        metadata = tree.get("metadata")
        if not isinstance(metadata, dict):
            yield f"invalid metadata of type {go_type(metadata)} in converted object"
        for field in ("labels", "annotations"):
            values = object_at(metadata).get(field)
            if values is None:
                continue
            if not isinstance(values, dict):
                yield f"invalid metadata.{field} of type {go_type(values)} in converted object"
                continue
            for name, value in values.items():
                if not isinstance(value, str):
                    yield f"metadata.{field}[{name}] must be a string, but is {go_type(value)} in converted object"
                    return
            if values != object_at(original, "metadata", field):
                texts = {name: str(value) for name, value in values.items()}
                # kube-apiserver names annotations in the singular here.
                found = (
                    labels(texts, "metadata.labels")
                    if field == "labels"
                    else annotation_rules(texts, "metadata.annotation")
                )
                shown = [f"{each.field}: {each.message}" for each in found]
                if shown:
                    yield shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"

    def _restored(self, tree: JSONObject, original: JSONObject) -> JSONObject:
        """Return a converted object with the metadata of the original, except for labels and annotations."""
        given, metadata = object_at(tree, "metadata"), copied(object_at(original, "metadata"))
        for field in ("labels", "annotations"):
            metadata.pop(field, None)
            if given.get(field) is not None:
                metadata[field] = given[field]
        return {**tree, "metadata": metadata}


def _key(name: str, api_version: str, tree: JSONObject) -> bytes:
    """Return a key of what the webhook's result depends on."""
    metadata = object_at(tree, "metadata")
    kept: JSONObject = {member: metadata[member] for member in _KEPT if member in metadata}
    essence: list[JSON] = [name, api_version, {**tree, "metadata": kept}]
    # A stored object may have another order of fields than the one that the webhook returned.
    return hashlib.sha256(msgspec.json.encode(essence, order="sorted")).digest()


def _batches(wanted: dict[bytes, JSONObject]) -> Iterator[dict[bytes, JSONObject]]:
    batch: dict[bytes, JSONObject] = {}
    size = 0
    for key, tree in wanted.items():
        length = len(msgspec.json.encode(tree))
        if batch and size + length > _MAX_BATCH:
            yield batch
            batch, size = {}, 0
        batch[key] = tree
        size += length
    if batch:
        yield batch


def _kind(tree: JSONObject) -> str:
    return f"{text_at(tree, 'apiVersion') or '/'}, Kind={text_at(tree, 'kind')}"


def _error(message: str) -> APIError:
    """Return a 500 without a reason, as kube-apiserver."""
    return APIError(message, status_code=500)
