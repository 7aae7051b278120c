import copy
import inspect
import pickle
import re

import pytest

from listwatch import errors
from listwatch.errors import (
    AlreadyExistsError,
    APIError,
    ConfigError,
    ConflictError,
    ConnectRefusedError,
    DecodeError,
    DiscoveryError,
    ExpiredError,
    ForbiddenError,
    GoneError,
    IndexNotFoundError,
    InvalidError,
    ListWatchError,
    MethodNotAllowedError,
    NotFoundError,
    RequestError,
    RequestTimeoutError,
    SelectorError,
    StatusCause,
    StatusDetails,
    SyncTimeoutError,
    TooManyRequestsError,
    WaitTimeoutError,
)

EVERY_CLASS = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ListWatchError)
]
EVERY_API_CLASS = [cls for cls in EVERY_CLASS if issubclass(cls, APIError) and cls is not APIError]

# Plausible values for every keyword that an exception of the tree accepts.
ATTRIBUTES = {
    "status_code": 418,
    "reason": "Teapot",
    "details": StatusDetails(name="web-0", causes=(StatusCause("FieldValueInvalid", "too short", "spec.x"),)),
    "retry_after": 2.5,
    "doing": "get pods default/web-0",
    "request_id": "b3c1",
    "body": "<html>",
    "host": "127.0.0.1:6443",
    "file": "/home/me/.kube/config",
    "entry": "context dev",
    "field": "server",
    "object_name": "Pod default/web-0",
    "text": "a in (",
    "failures": {"metrics/v1": ValueError("down")},
    "found": ("apps/v1",),
    "last": "Running",
    "attempts": 3,
    "exit_code": 3,
    "stdout": b"out",
    "stderr": b"err",
    "last_error": OSError("refused"),
    "code": 418,
    "causes": (StatusCause("FieldValueInvalid", "too short", "spec.x"),),
}


def filled(cls: type[ListWatchError]) -> ListWatchError:
    keywords = [p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return cls("it broke", **{name: ATTRIBUTES[name] for name in keywords})


def comparable(error: ListWatchError) -> dict[str, object]:
    """Exceptions inside attributes have no equality of their own."""
    return {key: repr(value) for key, value in vars(error).items()}


@pytest.mark.parametrize("cls", EVERY_CLASS)
@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))], ids=["copy", "deepcopy", "pickle"]
)
def test_every_error_survives_being_copied_and_pickled(cls, duplicate):
    error = filled(cls)
    error.add_note("seen twice")

    twin = duplicate(error)

    assert type(twin) is cls
    assert comparable(twin) == comparable(error)
    assert (str(twin), twin.args) == (str(error), error.args)


@pytest.mark.parametrize("cls", EVERY_CLASS)
def test_every_error_can_be_created_without_arguments_and_printed(cls):
    assert isinstance(str(cls()), str)
    assert "it broke" in str(filled(cls))


@pytest.mark.parametrize("cls", EVERY_CLASS)
def test_every_error_is_drawn_in_the_tree_under_its_parent(cls):
    lines = errors.__doc__.splitlines()
    depths = {line.split("─ ")[-1].split()[0]: line.find("─ ") for line in lines if "─ " in line}
    if cls is not ListWatchError:
        drawn_above = list(depths)[: list(depths).index(cls.__name__)]
        shallower = [name for name in drawn_above if depths[name] < depths[cls.__name__]]
        parent = shallower[-1] if shallower else "ListWatchError"
        assert parent == cls.__bases__[0].__name__


def test_the_tree_draws_no_error_that_does_not_exist():
    drawn = {line.split("─ ")[-1].split()[0] for line in errors.__doc__.splitlines() if "─ " in line}
    assert drawn == {cls.__name__ for cls in EVERY_CLASS} - {"ListWatchError"}


@pytest.mark.parametrize("cls", EVERY_API_CLASS)
def test_every_api_error_class_has_a_code_and_a_reason(cls):
    assert 400 <= cls.code < 600
    assert cls.default_reason
    assert (cls("x").status_code, cls("x").reason) == (cls.code, cls.default_reason)
    assert re.search(rf"─ {cls.__name__} +{cls.code}\b", errors.__doc__)


def test_no_two_classes_claim_the_same_reason():
    reasons = [cls.default_reason for cls in EVERY_API_CLASS]
    assert len(reasons) == len(set(reasons)) == 18


def test_an_expired_version_is_also_gone():
    assert issubclass(ExpiredError, GoneError)
    assert ExpiredError.code == 410


def test_a_subclass_of_a_users_own_keeps_its_parents_code_and_reason():
    class QuotaError(ForbiddenError):
        pass

    assert (QuotaError("x").status_code, QuotaError("x").reason) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("cls", "builtin"),
    [
        (SelectorError, ValueError),
        (RequestError, ValueError),
        (IndexNotFoundError, LookupError),
        (SyncTimeoutError, TimeoutError),
        (WaitTimeoutError, TimeoutError),
    ],
)
def test_errors_with_a_builtin_counterpart_are_caught_as_that(cls, builtin):
    with pytest.raises(builtin, match="it broke"):
        raise cls("it broke")


# --- Messages ---------------------------------------------------------------------------------------------------------


def test_an_api_error_names_the_request_and_the_response_of_the_server():
    error = NotFoundError('pods "web-0" not found', doing="get pods default/web-0")
    assert str(error) == 'get pods default/web-0: pods "web-0" not found (NotFound, 404)'


def test_causes_are_printed_unless_the_message_contains_them():
    causes = (StatusCause("FieldValueInvalid", "must be positive", "spec.replicas"), StatusCause(message="known"))
    error = InvalidError("all is known", details=StatusDetails(causes=causes))
    assert str(error) == "all is known (Invalid, 422): spec.replicas: must be positive"


def test_an_api_error_prints_on_one_line_and_does_not_print_whole_pages():
    cause = StatusCause("UnexpectedServerResponse", "<html>\n" + "x" * 5000)
    text = str(APIError("first\nsecond", details=StatusDetails(causes=(cause,))))
    assert "\n" not in text
    assert text.startswith("first second: <html> x")
    assert len(text) < 400


def test_an_error_without_code_and_reason_prints_neither():
    assert str(APIError(doing="list pods")) == "list pods: the server sent no message"


def test_other_errors_name_the_place_before_the_problem():
    assert (
        str(ConnectRefusedError("connection refused", doing="list pods", host="127.0.0.1:1"))
        == "list pods: 127.0.0.1:1: connection refused"
    )
    assert (
        str(ConfigError("no such cluster", file="/c", entry='context "dev"', field="cluster"))
        == '/c: context "dev": cluster: no such cluster'
    )
    assert (
        str(DecodeError("expected `int`", object_name="Pod default/web-0", field="spec.priority"))
        == "Pod default/web-0: spec.priority: expected `int`"
    )


def test_a_cache_that_did_not_sync_reports_its_attempts_and_the_last_error():
    last = ForbiddenError("no", doing="list pods")
    assert str(SyncTimeoutError("pods not synced after 30 s", attempts=4, last_error=last)) == (
        "pods not synced after 30 s (4 attempts; the last error was: list pods: no (Forbidden, 403))"
    )
    assert str(SyncTimeoutError("late", attempts=1)) == "late"
    assert str(SyncTimeoutError(f"late: {last}", attempts=1, last_error=last)) == f"late: {last}"


def test_failed_discovery_lists_its_failures_in_order():
    error = DiscoveryError("incomplete", failures={"b/v1": ValueError("2"), "a/v1": ValueError("1")})
    assert str(error) == "incomplete: a/v1: 1; b/v1: 2"


# --- Attributes -------------------------------------------------------------------------------------------------------


def test_the_delay_is_read_from_the_header_and_otherwise_from_the_details():
    details = StatusDetails(retry_after_seconds=7)
    assert TooManyRequestsError("x", details=details, retry_after=2).retry_after == 2.0
    assert TooManyRequestsError("x", details=details).retry_after == 7.0
    assert TooManyRequestsError("x", retry_after=0).retry_after == 0.0
    assert TooManyRequestsError("x", details=StatusDetails()).retry_after is None
    assert TooManyRequestsError("x").retry_after is None


@pytest.mark.parametrize("nonsense", [-1.0, float("inf"), float("nan")])
def test_a_delay_that_is_no_delay_is_ignored(nonsense):
    assert TooManyRequestsError("x", retry_after=nonsense).retry_after is None


def test_only_the_beginning_of_an_unexpected_response_is_kept():
    assert len(APIError("x", body="y" * 10_000).body) == 2048


def test_causes_are_those_of_the_details():
    cause = StatusCause("r", "m", "f")
    assert InvalidError("x", details=StatusDetails(causes=(cause,))).causes == (cause,)
    assert InvalidError("x").causes == ()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RequestTimeoutError("x", details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge"),))), True),
        (APIError("x", details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge"),))), True),
        (
            RequestTimeoutError("x", details=StatusDetails(causes=(StatusCause("", "Too large resource version"),))),
            True,
        ),
        (RequestTimeoutError("Timeout: Too large resource version: 5, current: 3"), True),
        (RequestTimeoutError("x", details=StatusDetails(causes=(StatusCause("", "Too large"),))), False),
        (RequestTimeoutError("context deadline exceeded"), False),
        (APIError("Too large resource version: 5, current: 3"), False),
        (RequestTimeoutError.too_large_resource_version(5, 3), True),
    ],
)
def test_a_future_version_is_recognized_by_its_cause_or_by_the_timeout_message(error, expected):
    assert error.resource_version_too_large is expected


# --- Errors of a server -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (NotFoundError.of("pods", "x"), 'pods "x" not found'),
        (NotFoundError.of("deployments", "x", group="apps"), 'deployments.apps "x" not found'),
        (AlreadyExistsError.of("pods", "x"), 'pods "x" already exists'),
        (
            ConflictError.of("pods", "x"),
            'Operation cannot be fulfilled on pods "x": the object has been modified; '
            "please apply your changes to the latest version and try again",
        ),
        (ConflictError.of("pods", "x", "too late"), 'Operation cannot be fulfilled on pods "x": too late'),
        (ForbiddenError.of("pods", "x", "no"), 'pods "x" is forbidden: no'),
        (ForbiddenError.of("deployments", "", "no", group="apps"), "deployments.apps is forbidden: no"),
        (
            MethodNotAllowedError.of("deployments", "deletecollection", group="apps"),
            'deletecollection is not supported on resources of kind "deployments.apps"',
        ),
        (RequestTimeoutError.too_large_resource_version(9, 4), "Timeout: Too large resource version: 9, current: 4"),
    ],
)
def test_the_servers_messages_are_worded_as_kubernetes_words_them(error, message):
    assert error.message == message


def test_an_invalid_object_names_one_field_plainly_and_several_in_brackets():
    name = StatusCause("FieldValueRequired", "Required value", "metadata.name")
    count = StatusCause("FieldValueInvalid", "Invalid value: -1", "spec.replicas")
    assert InvalidError.of("Pod", "x", [name]).message == 'Pod "x" is invalid: metadata.name: Required value'
    assert (
        InvalidError.of("Deployment", "x", [name, count, name], group="apps").message
        == 'Deployment.apps "x" is invalid: [metadata.name: Required value, spec.replicas: Invalid value: -1]'
    )
    assert InvalidError.of("Pod", "x", []).message == 'Pod "x" is invalid'
    assert InvalidError.of("Pod", "", []).message == 'Pod "" is invalid'
    assert InvalidError.of("Pod", "x", [name, count]).causes == (name, count)


def test_a_servers_error_carries_its_object():
    assert NotFoundError.of("deployments", "x", group="apps").details == StatusDetails(
        name="x", group="apps", kind="deployments"
    )
