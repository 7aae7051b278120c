"""Handles ConversionReviews: finds the functions, calls them, and keeps the metadata."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from listwatch.errors import DecodeError, DeniedError, ListWatchError
from listwatch.meta import GroupVersionKind
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.unstructured import Unstructured
from listwatch.webhooks.conversions import Conversion, Conversions
from listwatch.webhooks.hooks import FunctionForm
from listwatch.webhooks.reviews.conversion_review import (
    converted_response,
    failed_response,
    read_conversion_review,
    with_metadata_of,
)
from listwatch.webhooks.reviews.function_calls import FunctionCalls
from listwatch.webhooks.reviews.review_errors import ReviewError
from listwatch.webhooks.reviews.reviewer import ReviewResponse

__all__ = ["Converter"]

_log = logging.getLogger("listwatch.webhooks")


class _ConversionError(Exception):
    """An object that cannot be converted; the message is for the user."""


class Converter:
    """Handles the reviews of conversions. An object that cannot be converted fails only its review."""

    def __init__(self, conversions: Conversions, calls: FunctionCalls) -> None:
        self._conversions = conversions
        self._calls = calls

    async def convert(self, body: bytes, timeout: float) -> ReviewResponse:
        """Convert the objects of a review."""
        review = read_conversion_review(body)
        fields = {"uid": review.uid, "objects": len(review.objects), "version": review.desired}
        try:
            # Most programs have plain functions: one thread converts all objects.
            if all(step.form.is_async is False for each in review.objects for step in self._plan(each, review.desired)):
                whole = FunctionForm(self._convert_all, "the conversion", is_async=False, arguments=2)
            else:
                whole = FunctionForm(self._convert_in_turn, "the conversion", is_async=True, arguments=3)
            done = await self._calls.call(whole, review.objects, review.desired, timeout, timeout=timeout)
            assert isinstance(done, list)
            converted: list[msgspec.Raw] = done
        except asyncio.CancelledError:
            message = "A conversion to %s did not end before the connection was closed"
            _log.error(message, review.desired, extra=fields)
            raise
        except _ConversionError as error:
            _log.warning("A conversion to %s failed: %s", review.desired, error, extra=fields)
            return ReviewResponse(failed_response(review.uid, str(error)), is_rejected=True)
        except ReviewError as error:
            _log.error("A conversion to %s failed: %s", review.desired, error, extra=fields)
            return ReviewResponse(failed_response(review.uid, str(error)), is_rejected=True)
        _log.debug("Converted %d objects to %s", len(converted), review.desired, extra=fields)
        return ReviewResponse(converted_response(review.uid, converted))

    def _plan(self, raw: msgspec.Raw, desired: str) -> list[Conversion]:
        found = _kind_of(raw)
        target = GroupVersionKind.of(desired, found.kind)
        steps = self._conversions.steps(found.group_kind, found.version, target.version)
        if found.group != target.group or steps is None:
            raise _ConversionError(f"there is no conversion of {found} to {desired}")
        return steps

    def _convert_all(self, objects: list[msgspec.Raw], desired: str) -> list[msgspec.Raw]:
        converted = []
        for raw in objects:
            for step in self._plan(raw, desired):
                source = _source(step, raw)
                try:
                    result = step.form.function(source)
                except Exception as error:  # user code
                    raise _failure(step, source, error) from error
                raw = _finished(step, source, result)  # the next step converts it further
            converted.append(raw)
        return converted

    async def _convert_in_turn(self, objects: list[msgspec.Raw], desired: str, timeout: float) -> list[msgspec.Raw]:
        return [await self._convert(each, desired, timeout) for each in objects]

    async def _convert(self, raw: msgspec.Raw, desired: str, timeout: float) -> msgspec.Raw:
        for step in self._plan(raw, desired):
            source = _source(step, raw)
            try:
                result = await self._calls.call(step.form, source, timeout=timeout)
            except ReviewError:
                raise
            except Exception as error:  # user code
                raise _failure(step, source, error) from error
            raw = _finished(step, source, result)
        return raw


def _kind_of(raw: msgspec.Raw) -> GroupVersionKind:
    try:
        return Unstructured.from_json(bytes(raw)).group_version_kind
    except ListWatchError as error:
        raise _ConversionError(f"an object of the review cannot be read: {error}") from None


def _source(step: Conversion, raw: msgspec.Raw) -> CustomResource:
    try:
        source = step.source.from_json(bytes(raw))
        for name in step.source.lazy_fields:
            getattr(source, name)
    except DecodeError as error:
        raise _ConversionError(str(error)) from None
    return source


def _failure(step: Conversion, source: CustomResource, error: Exception) -> _ConversionError:
    assert step.target.gvk is not None
    what = f"{source.describe()} cannot be converted to {step.target.gvk.api_version}"
    if isinstance(error, DeniedError):
        return _ConversionError(f"{what}: {error}")
    _log.error(
        "%s failed for %s", step.form.name, source.describe(), exc_info=error, extra={"object": source.describe()}
    )
    # Without the message, which may contain internal details.
    return _ConversionError(f"{what}: {step.form.name} raised {type(error).__name__}; see the log of the webhook")


def _finished(step: Conversion, source: CustomResource, result: object) -> msgspec.Raw:
    if not isinstance(result, step.target):
        found = type(result).__name__
        raise _ConversionError(f"{step.form.name} returned a {found}: expected a {step.target.__name__}")
    try:
        return msgspec.Raw(msgspec.json.encode(with_metadata_of(source, result)))
    except ListWatchError as error:
        raise _ConversionError(f"{step.form.name}: {error}") from None
