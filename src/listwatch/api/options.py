"""Options of requests, as query parameters or as the body of a deletion. Options that are not set are not sent.

The keywords of ResourceClient have the API's names in snake_case; here they get their wire names.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from listwatch.errors import RequestError
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.fields import wire_name
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike, parse_field_selector, parse_label_selector

__all__ = [
    "FieldValidation",
    "ListOptions",
    "LogSource",
    "PropagationPolicy",
    "QueryValue",
    "delete_options",
    "log_parameters",
    "query_parameters",
    "selector_parameters",
]

FieldValidation = Literal["", "Ignore", "Warn", "Strict"]
"""How the server treats unknown and duplicate fields; empty for its default."""
PropagationPolicy = Literal["", "Orphan", "Background", "Foreground"]
"""What happens to the dependents of a deleted object; empty for the default of the kind."""
LogSource = Literal["", "All", "Stdout", "Stderr"]
"""The stream of a container log; empty for the default of the server."""
QueryValue = str | int | bool
"""The value of a query parameter."""

# Wire names that are not the camelCase form of the keyword.
_WIRE_NAMES = {
    "continue_token": "continue",
    "insecure_skip_tls_verify_backend": "insecureSkipTLSVerifyBackend",
}
# False differs from unset.
_SENT_IF_FALSE = frozenset({"send_initial_events"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """The options of a list or a watch request, under the API's names in snake_case.

    An instance is immutable: `dataclasses.replace(options, limit=100)` returns a changed copy.
    """

    label_selector: str = ""
    field_selector: str = ""
    shard_selector: str = ""
    resource_version: str = ""
    """The response is at least this new; "0" accepts any version, empty requires the most recent one."""
    resource_version_match: str = ""
    """`Exact` or `NotOlderThan`; empty leaves it to the server."""
    limit: int | None = None
    """The largest number of objects in one response; None and 0 set no limit."""
    continue_token: str = ""
    timeout_seconds: int | None = None
    watch: bool = False
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None

    def parameters(self) -> dict[str, QueryValue]:
        """Return the query parameters under their names on the wire, without those that are not set."""
        selectors = selector_parameters(self.label_selector, self.field_selector, self.shard_selector)
        return {
            **selectors,
            **query_parameters(
                resource_version=self.resource_version,
                resource_version_match=self.resource_version_match,
                limit=self.limit or None,
                continue_token=self.continue_token,
                timeout_seconds=self.timeout_seconds,
                watch=self.watch,
                allow_watch_bookmarks=self.allow_watch_bookmarks,
                send_initial_events=self.send_initial_events,
            ),
        }


def query_parameters(**options: QueryValue | None) -> dict[str, QueryValue]:
    """Return the query parameters of these options, without those that are not set."""
    parameters = {
        _WIRE_NAMES.get(name) or wire_name(name): value
        for name, value in options.items()
        if value is not None and value != "" and (value is not False or name in _SENT_IF_FALSE)
    }
    if "dryRun" in parameters:
        parameters["dryRun"] = "All"
    return parameters


def selector_parameters(
    label_selector: LabelSelectorLike, field_selector: FieldSelectorLike, shard_selector: str
) -> dict[str, str]:
    """Return the query parameters of selectors; SelectorError if one is invalid."""
    selectors = {
        "labelSelector": str(parse_label_selector(label_selector)),
        "fieldSelector": str(parse_field_selector(field_selector)),
        "shardSelector": shard_selector,
    }
    return {name: text for name, text in selectors.items() if text}


def delete_options(
    *,
    grace_period_seconds: int | None = None,
    propagation_policy: PropagationPolicy = "",
    uid: str = "",
    resource_version: str = "",
    dry_run: bool = False,
    ignore_store_read_error_with_cluster_breaking_potential: bool = False,
) -> JSONObject | None:
    """Return the body of a deletion; None if no option is set."""
    options: dict[str, JSON] = {
        **query_parameters(
            grace_period_seconds=grace_period_seconds,
            propagation_policy=propagation_policy,
            ignore_store_read_error_with_cluster_breaking_potential=(
                ignore_store_read_error_with_cluster_breaking_potential
            ),
        )
    }
    if preconditions := query_parameters(uid=uid, resource_version=resource_version):
        options["preconditions"] = {**preconditions}
    if dry_run:
        options["dryRun"] = ["All"]
    return {"apiVersion": "v1", "kind": "DeleteOptions", **options} if options else None


def log_parameters(
    *, since_seconds: float | None = None, since_time: datetime | None = None, **options: QueryValue | None
) -> dict[str, QueryValue]:
    """Return the query parameters of a log request."""
    if since_seconds is not None and since_time is not None:
        raise RequestError("pass either since_seconds or since_time, not both")
    return query_parameters(
        since_seconds=None if since_seconds is None else _whole_seconds(since_seconds),
        since_time=None if since_time is None else _utc(since_time),
        **options,
    )


def _whole_seconds(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise RequestError(f"since_seconds must be a number of seconds, not {seconds!r}")
    return max(int(seconds), 1)  # the API takes whole seconds above zero


def _utc(time: object) -> str:
    if not isinstance(time, datetime):
        raise RequestError(f"since_time must be a datetime, not {time!r}")
    if time.tzinfo is None:
        raise RequestError(f"since_time {time} has no time zone; pass an aware datetime")
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
