import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import errors
from listwatch.api.statuses import error_from_code, error_from_status, status_from_error, suggests_delay
from listwatch.errors import (
    AlreadyExistsError,
    APIError,
    BadRequestError,
    ConflictError,
    ConnectRefusedError,
    ExpiredError,
    ForbiddenError,
    GoneError,
    InternalServerError,
    InvalidError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    RequestEntityTooLargeError,
    RequestTimeoutError,
    ServerTimeoutError,
    ServiceUnavailableError,
    StatusCause,
    StatusDetails,
    TooManyRequestsError,
    UnauthorizedError,
    UnsupportedMediaTypeError,
)

EVERY_API_CLASS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, APIError) and value is not APIError
]

BY_CODE = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: MethodNotAllowedError,
    406: NotAcceptableError,
    409: ConflictError,
    410: GoneError,
    413: RequestEntityTooLargeError,
    415: UnsupportedMediaTypeError,
    422: InvalidError,
    429: TooManyRequestsError,
    500: InternalServerError,
    503: ServiceUnavailableError,
    504: RequestTimeoutError,
}

STATUS = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
    "reason": "Invalid",
    "details": {
        "name": "web",
        "group": "apps",
        "kind": "Deployment",
        "uid": "8f1",
        "causes": [{"reason": "FieldValueInvalid", "message": "Invalid value: -1", "field": "spec.replicas"}],
        "retryAfterSeconds": 3,
    },
    "code": 422,
}


# --- A Status ---------------------------------------------------------------------------------------------------------


def test_all_fields_of_a_status_are_kept():
    error = error_from_status(STATUS, doing="create deployments default/web", request_id="b3")
    cause = StatusCause("FieldValueInvalid", "Invalid value: -1", "spec.replicas")
    assert type(error) is InvalidError
    assert (error.status_code, error.reason, error.message) == (422, "Invalid", STATUS["message"])
    assert error.details == StatusDetails("web", "apps", "Deployment", "8f1", (cause,), 3)
    assert error.causes == (cause,)
    assert (error.retry_after, error.doing, error.request_id) == (3.0, "create deployments default/web", "b3")


@pytest.mark.parametrize("cls", EVERY_API_CLASS)
def test_the_reason_takes_precedence_over_the_code(cls):
    error = error_from_status({"reason": cls.default_reason, "code": 418})
    assert type(error) is cls
    assert error.status_code == 418


@pytest.mark.parametrize("reason", ["", "Unknown", "NeverHeardOf"])
@pytest.mark.parametrize("code", BY_CODE)
def test_the_code_decides_where_the_reason_is_unknown(code, reason):
    error = error_from_status({"reason": reason, "code": code})
    assert type(error) is BY_CODE[code]
    assert error.reason == reason


@pytest.mark.parametrize("code", [0, 200, 418, 499, 502, 599])
def test_an_unknown_reason_with_an_unknown_code_is_a_plain_api_error(code):
    assert type(error_from_status({"code": code})) is APIError


def test_a_known_reason_without_a_class_is_not_taken_for_an_internal_error():
    assert type(error_from_status({"reason": "StoreReadError", "code": 500})) is APIError


def test_a_status_without_a_code_takes_that_of_the_response_or_of_its_reason():
    assert type(error_from_status({}, status_code=404)) is NotFoundError
    assert error_from_status({"reason": "NotFound"}).status_code == 404
    assert error_from_status({"reason": "NotFound", "code": 404}, status_code=200).status_code == 404


@pytest.mark.parametrize("nonsense", [None, True, 7, -7, 2**31, 1e300, "x", [7], {"x": 7}])
def test_a_field_of_the_wrong_type_counts_as_absent(nonsense):
    details = {"name": "web", "causes": nonsense, "retryAfterSeconds": str(nonsense), "uid": [nonsense]}
    assert error_from_status({"details": details}).details in (
        StatusDetails(name="web"),
        StatusDetails(
            name="web", causes=(StatusCause(),)
        ),  # a list with something in it is one cause, of nothing known
    )
    assert type(error_from_status(nonsense)) is APIError
    assert error_from_status({"message": [nonsense], "reason": [nonsense], "details": [nonsense]}).details is None


@pytest.mark.parametrize("code", [True, -404, 404.0, "404", 2**31, 10**400, [404]])
def test_a_code_that_is_no_code_counts_as_absent(code):
    assert error_from_status({"code": code}).status_code == 0
    assert error_from_status({"code": code, "reason": "NotFound"}).status_code == 404


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
reasons = st.sampled_from([cls.default_reason for cls in EVERY_API_CLASS] + ["StoreReadError", "Nonsense", ""])
causes = st.lists(
    json_like | st.fixed_dictionaries({}, optional=dict.fromkeys(["reason", "message", "field"], json_like))
)
details = json_like | st.fixed_dictionaries(
    {},
    optional={"causes": json_like | causes} | dict.fromkeys(["name", "kind", "uid", "retryAfterSeconds"], json_like),
)
garbage = st.fixed_dictionaries(
    {},
    optional={
        "reason": reasons | json_like,
        "code": st.integers(390, 600) | json_like,
        "message": json_like,
        "details": details,
    },
)


@given(garbage | json_like)
def test_any_garbage_is_an_api_error_that_prints_and_goes_back_on_the_wire(status):
    error = error_from_status(status)

    assert isinstance(error, APIError)
    assert "\n" not in str(error)
    again = error_from_status(json.loads(json.dumps(status_from_error(error))), status_code=error.status_code)
    assert type(again) is type(error)
    assert (again.message, again.reason) == (error.message, error.reason)
    assert again.causes == error.causes


# --- No Status --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(BY_CODE.keys() - {410, 413}))
def test_the_error_of_a_response_without_a_status_depends_on_its_code(code):
    error = error_from_code(code, "nginx says no", verb="GET")
    assert type(error) is BY_CODE[code]
    assert (error.status_code, error.reason) == (code, BY_CODE[code].default_reason)


@pytest.mark.parametrize(
    ("verb", "cls"), [("POST", AlreadyExistsError), ("post", AlreadyExistsError), ("PUT", ConflictError)]
)
def test_a_409_means_already_exists_only_for_a_create(verb, cls):
    assert type(error_from_code(409, verb=verb)) is cls


@pytest.mark.parametrize("code", [501, 502, 505, 599])
def test_any_other_code_from_500_is_the_servers_fault(code):
    error = error_from_code(code)
    assert type(error) is InternalServerError
    assert (error.status_code, error.reason) == (code, "InternalError")


@pytest.mark.parametrize(
    ("code", "cls"), [(410, GoneError), (413, RequestEntityTooLargeError), (302, APIError), (418, APIError)]
)
def test_a_code_that_gives_no_reason_is_still_recognised(code, cls):
    error = error_from_code(code)
    assert type(error) is cls
    assert (error.status_code, error.reason) == (code, "")


def test_the_body_of_a_proxy_is_kept_as_the_cause_and_truncated():
    error = error_from_code(502, "  bad gateway " + "x" * 5000, doing="list pods", retry_after=4, request_id="b3")
    assert len(error.body) == 2048
    assert error.causes == (StatusCause("UnexpectedServerResponse", error.body),)
    assert (error.doing, error.retry_after, error.request_id) == ("list pods", 4.0, "b3")
    assert str(error).startswith("list pods: the server responded with code 502")
    assert "bad gateway" in str(error)


@given(st.integers(), st.text(), st.text(), st.none() | st.floats())
def test_any_response_without_a_status_is_an_api_error(code, body, verb, retry_after):
    error = error_from_code(code, body, verb=verb, retry_after=retry_after)
    assert isinstance(error, APIError)
    assert error.status_code == code
    assert "\n" not in str(error)
    status_from_error(error)


# --- Back on the wire -------------------------------------------------------------------------------------------------


def test_a_status_survives_the_way_to_an_error_and_back():
    assert status_from_error(error_from_status(STATUS)) == STATUS


def test_the_token_to_go_on_with_an_expired_list_survives_the_way_there_and_back():
    error = ExpiredError("too old")
    error.continue_token = "go-on"
    status = status_from_error(error)
    assert status["metadata"] == {"continue": "go-on"}
    read = error_from_status(status)
    assert isinstance(read, ExpiredError)
    assert read.continue_token == "go-on"


def test_a_servers_error_becomes_the_status_that_kubernetes_sends():
    assert status_from_error(NotFoundError.of("deployments", "x", group="apps")) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "x" not found',
        "reason": "NotFound",
        "details": {"name": "x", "group": "apps", "kind": "deployments"},
        "code": 404,
    }


def test_empty_details_are_sent():
    assert status_from_error(NotFoundError("gone", details=StatusDetails()))["details"] == {}
    assert "details" not in status_from_error(NotFoundError("gone"))


def test_a_part_of_a_second_is_rounded_up_on_the_wire():
    status = status_from_error(TooManyRequestsError("slow down", retry_after=1.2))
    assert status["details"] == {"retryAfterSeconds": 2}


# --- Delays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "delay"),
    [
        (error_from_status({"reason": "TooManyRequests", "details": {"retryAfterSeconds": 5}}), 5.0),
        (error_from_status({"reason": "Conflict", "details": {"retryAfterSeconds": 5}}), 5.0),
        (error_from_status({"reason": "TooManyRequests", "details": {"retryAfterSeconds": 0}}), None),
        (error_from_status({"reason": "TooManyRequests"}), None),
        (error_from_status({"reason": "ServerTimeout", "details": {"retryAfterSeconds": 5}}), 5.0),
        (ServerTimeoutError("try again"), 0.0),
        (TooManyRequestsError("at once", retry_after=0), None),
        (ExpiredError("too old"), None),
        (ConnectRefusedError("refused"), None),
        (ValueError("not ours"), None),
    ],
)
def test_a_delay_is_suggested_when_one_is_named_and_always_by_a_server_timeout(error, delay):
    assert suggests_delay(error) == delay
