"""Errors of responses; `test_rest_client.py` gets responses from a server."""

import msgspec
import pytest

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, error_from_response, is_json, is_success, retry_after
from listwatch.errors import (
    AlreadyExistsError,
    APIError,
    BadRequestError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    GoneError,
    InternalServerError,
    InvalidError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    RequestTimeoutError,
    ServiceUnavailableError,
    TooManyRequestsError,
    UnauthorizedError,
    UnsupportedMediaTypeError,
)

JSON = "application/json"


def error_of(
    status: int,
    body: bytes = b"",
    content_type: str | None = None,
    *,
    method: str = "GET",
    target: str = "/x",
    **headers: str,
) -> APIError | None:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        sent["Content-Type"] = content_type
    return error_from_response(HTTPRequest(method, target), HTTPResponse(status, sent, body))


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206, 101])
def test_these_statuses_are_successes(status: int):
    assert is_success(status)
    assert error_of(status, b"aaaaa") is None


@pytest.mark.parametrize("status", [199, 207, 300, 304, 400, 500, 600])
def test_all_other_statuses_are_errors(status: int):
    assert not is_success(status)
    error = error_of(status)
    assert error is not None
    assert error.status_code == status


@pytest.mark.parametrize(
    ("status", "method", "error"),
    [
        (400, "GET", BadRequestError),
        (401, "GET", UnauthorizedError),
        (403, "GET", ForbiddenError),
        (404, "GET", NotFoundError),
        (405, "GET", MethodNotAllowedError),
        (406, "GET", NotAcceptableError),
        (409, "POST", AlreadyExistsError),
        (409, "PUT", ConflictError),
        (409, "PATCH", ConflictError),
        (410, "GET", GoneError),
        (415, "POST", UnsupportedMediaTypeError),
        (422, "POST", InvalidError),
        (429, "GET", TooManyRequestsError),
        (500, "GET", InternalServerError),
        (502, "GET", InternalServerError),
        (503, "GET", ServiceUnavailableError),
        (504, "GET", RequestTimeoutError),
    ],
)
@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"", None), (b"aaaaa", JSON), (b"aaaaa", "text/any"), (b"\xff\x00", "application/protobuf"), (b"x", "a/,b")],
)
def test_without_a_status_the_code_decides(
    status: int, method: str, error: type[APIError], body: bytes, content_type: str | None
):
    found = error_of(status, body, content_type, method=method)
    assert type(found) is error
    assert found.status_code == status
    assert found.causes[0].reason == "UnexpectedServerResponse"


@pytest.mark.parametrize(
    ("body", "content_type", "status_code"),
    [
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}', JSON, 404),
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}', None, 404),
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}', "application/json; charset=utf-8", 404),
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure"}', JSON, 400),
        (b'{"kind":"Status","status":"Failure","code":404}', JSON, 404),
        (b' \n{"status":"Failure", "kind":"Status", "code":404}', JSON, 404),
        (b'{"kind":"Status","apiVersion":"v1","status":"Success","code":404}', JSON, 400),
        (b'{"status":"Failure","code":404}', JSON, 400),
        (b'{"kind":"Status","apiVersion":"v2","status":"Failure","code":404}', JSON, 400),
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}', "text/plain", 400),
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404', JSON, 400),
        (b"{}", JSON, 400),
        (b"[]", JSON, 400),
        (b'"Status"', JSON, 400),
    ],
)
def test_a_status_in_the_body_takes_precedence(body: bytes, content_type: str | None, status_code: int):
    error = error_of(400, body, content_type)
    assert error is not None
    assert error.status_code == status_code


def test_a_status_is_shown_with_what_was_being_done():
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {"continue": "next"},
        "status": "Failure",
        "message": "The provided continue parameter is too old",
        "reason": "Expired",
        "code": 410,
    }
    error = error_of(410, msgspec.json.encode(status), JSON, Audit_Id="7-8-9", Retry_After="3")
    assert isinstance(error, ExpiredError)
    assert str(error) == "GET /x: The provided continue parameter is too old (Expired, 410)"
    assert (error.request_id, error.retry_after, error.continue_token) == ("7-8-9", 3.0, "next")


@pytest.mark.parametrize(
    ("message", "rejected"),
    [
        ("field label not supported: spec.a", "field_selector='spec.a=b,c=d'"),
        ('"spec.a" is not a known field selector: only "metadata.name"', "field_selector='spec.a=b,c=d'"),
        ("unable to parse requirement: found '(', expected: identifier", "label_selector='x in (y)'"),
        ("limit must be a number", ""),
    ],
)
def test_a_rejected_selector_is_named(message: str, rejected: str):
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": 400}
    target = "/x?fieldSelector=spec.a%3Db,c%3Dd&labelSelector=x%20in%20(y)&watch=1"
    error = error_of(400, msgspec.json.encode({**status, "reason": "BadRequest"}), JSON, target=target)
    assert isinstance(error, BadRequestError)
    assert error.selector == rejected
    advice = f"; the server rejects {rejected}" if rejected else ""
    assert str(error) == f"GET /x: {message} (BadRequest, 400){advice}"


def test_a_failure_may_come_with_a_good_code():
    body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}'
    assert type(error_of(200, body, JSON)) is ForbiddenError
    assert error_of(200, body.replace(b"Failure", b"Success"), JSON) is None
    assert error_of(200, b'{"kind":"Pod","metadata":{"name":"Status"},"status":"Failure"}', JSON) is None


def test_the_text_of_a_response_without_a_status_is_kept():
    error = error_of(502, b"<html>" + b"x" * 10_000, "text/html")
    assert error is not None
    assert error.body == ("<html>" + "x" * 10_000)[:2048]
    assert "<html>" in str(error)
    binary = error_of(502, b"\x01\x02\x03", "application/vnd.kubernetes.protobuf")
    assert binary is not None
    assert binary.body == ""


def test_an_invalid_redirect_target_is_not_quoted():
    error = error_of(302, Location="http://joe:secret@[bad")
    assert error is not None
    assert "the server redirects to an invalid URL, which is not followed" in str(error)
    assert "secret" not in str(error)


def test_the_target_of_a_redirect_is_shown_without_secrets():
    error = error_of(302, Location="https://user:word@sso.example.com/login?state=s3cret#x")
    assert type(error) is APIError
    assert "redirects to https://sso.example.com/login, which is not followed" in str(error)
    assert not {"word", "s3cret"} & set(str(error).replace("/", " ").split())
    assert "redirects to /login," in str(error_of(307, Location="/login?state=s3cret", method="POST"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("7", 7),
        ("", None),
        ("7.5", None),
        ("-1", None),
        ("٣", None),
        ("9" * 5000, None),
        ("Fri, 31 Dec", None),
    ],
)
def test_retry_after_must_be_whole_seconds(text: str, seconds: int | None):
    assert retry_after({"Retry-After": text}) == seconds


def test_what_counts_as_json():
    assert is_json({})
    assert is_json({"Content-Type": "Application/JSON;stream=watch"})
    assert is_json({"Content-Type": "application/apply-patch+json"})
    assert not is_json({"Content-Type": "text/html"})
    assert not is_json({"Content-Type": "application/vnd.kubernetes.protobuf;stream=watch"})
