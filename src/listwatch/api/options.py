"""The options of requests under their names on the wire: in the query, or in the body of a deletion.

`client/resources/resource_client.py` has them as keywords. Options that were not given are not sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from listwatch.errors import RequestError
from listwatch.objects.fields import wire_name
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike, parse_field_selector, parse_label_selector

__all__ = [
    "FieldValidation",
    "ListOptions",
    "LogSource",
    "PropagationPolicy",
    "delete_options",
    "log_options",
    "query",
    "selection",
]

FieldValidation = Literal["", "Ignore", "Warn", "Strict"]
PropagationPolicy = Literal["", "Orphan", "Background", "Foreground"]
LogSource = Literal["", "All", "Stdout", "Stderr"]

_OTHER_NAMES = {
    "continue_token": "continue",
    "insecure_skip_tls_verify_backend": "insecureSkipTLSVerifyBackend",
}
# To be told no is something else than not to be told.
_SAID_IF_FALSE = frozenset({"send_initial_events"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """The options of a list or a watch request, under the API's names in snake_case.

    An instance is immutable: `dataclasses.replace(options, limit=100)` returns a changed copy.
    """

    label_selector: str = ""
    field_selector: str = ""
    shard_selector: str = ""
    resource_version: str = ""
    """What the response must be as new as; "0" is any version, empty the most recent one."""
    resource_version_match: str = ""
    """`Exact` or `NotOlderThan`; empty leaves it to the server."""
    limit: int | None = None
    """The largest number of objects in one response; None and 0 set no limit."""
    continue_token: str = ""
    timeout_seconds: int | None = None
    watch: bool = False
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None

    def parameters(self) -> dict[str, str | int | bool]:
        """Return the query parameters under their names on the wire, without those that are not set."""
        selectors = selection(self.label_selector, self.field_selector, self.shard_selector)
        return selectors | query(
            resource_version=self.resource_version,
            resource_version_match=self.resource_version_match,
            limit=self.limit or None,
            continue_token=self.continue_token,
            timeout_seconds=self.timeout_seconds,
            watch=self.watch,
            allow_watch_bookmarks=self.allow_watch_bookmarks,
            send_initial_events=self.send_initial_events,
        )


def query(*, dry_run: bool = False, **options: Any) -> dict[str, Any]:
    """The parameters of a request."""
    given = {name: value for name, value in options.items() if _is_given(name, value)}
    parameters = {_OTHER_NAMES.get(name) or wire_name(name): value for name, value in given.items()}
    return parameters | ({"dryRun": "All"} if dry_run else {})


def selection(
    label_selector: LabelSelectorLike, field_selector: FieldSelectorLike, shard_selector: str
) -> dict[str, str]:
    """The parameters that select objects."""
    labels, fields = str(parse_label_selector(label_selector)), str(parse_field_selector(field_selector))
    return query(label_selector=labels, field_selector=fields, shard_selector=shard_selector)


def delete_options(
    *,
    grace_period_seconds: int | None,
    propagation_policy: PropagationPolicy,
    uid: str,
    resource_version: str,
    dry_run: bool,
    ignore_store_read_error: bool,
) -> dict[str, Any] | None:
    """The body of a deletion; None if there is nothing to say."""
    options = query(
        grace_period_seconds=grace_period_seconds,
        propagation_policy=propagation_policy,
        preconditions=query(uid=uid, resource_version=resource_version) or None,
        ignore_store_read_error_with_cluster_breaking_potential=ignore_store_read_error,
    ) | ({"dryRun": ["All"]} if dry_run else {})
    return {"apiVersion": "v1", "kind": "DeleteOptions", **options} if options else None


def log_options(*, since: float | timedelta | datetime | None, **options: Any) -> dict[str, Any]:
    """The parameters of a request for a log, which begins at a time, or so many seconds ago."""
    begin: dict[str, Any] = {}
    match since:
        case None:
            pass
        case datetime(tzinfo=None):
            raise RequestError(f"{since} has no time zone, so nobody knows when that was")
        case datetime():
            begin = {"since_time": since.astimezone(UTC).isoformat().replace("+00:00", "Z")}
        case timedelta():
            return log_options(since=since.total_seconds(), **options)
        case int() | float():
            begin = {"since_seconds": max(int(since), 1)}
        case _:
            raise RequestError(f"a log begins at a time, or so many seconds ago, not at {since!r}")
    return query(**begin, **options)


def _is_given(name: str, value: Any) -> bool:
    return value is not None and value != "" and (value is not False or name in _SAID_IF_FALSE)
