"""Reads the options of get, list and watch requests.

    resourceVersion    unset: the latest     0: any     N: not older than N; with a limit or Exact, exactly N
    continue           the rest of an earlier list, at its revision
    watch from         unset or 0: initial events, then later ones     N: the events after N

`verbs.listing` makes the lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from listwatch.api.shard_selector import ShardSelector
from listwatch.errors import (
    BadRequestError,
    InternalServerError,
    InvalidError,
    RequestTimeoutError,
    ResourceVersionError,
    SelectorError,
    StatusCause,
)
from listwatch.meta import ObjectKey
from listwatch.selectors import FieldRequirement, FieldSelector, LabelSelector, Operator
from listwatch.server.field_errors import forbidden, not_supported
from listwatch.server.json_tree import quoted
from listwatch.server.protocol.continue_tokens import read_continue
from listwatch.server.protocol.field_selectors import Selection, check_fields
from listwatch.server.protocol.routes import MAX_TERMS
from listwatch.server.protocol.selector_errors import field_selector_error, label_selector_error
from listwatch.server.requests import APIRequest, Query
from listwatch.server.schema.registry import Registry

_NOT_CACHED = "events"
"""Of these, kube-apiserver has no cache."""
_EXACT, _NOT_OLDER_THAN = "Exact", "NotOlderThan"
_VERSION, _MATCH = "resourceVersion", "resourceVersionMatch"
_UNSIGNED = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """A list at `revision`, or else at the current revision, which must have reached `minimum`.

    `only` is the key of the only object that can be selected, if it is known.
    """

    selection: Selection
    limit: int = 0
    revision: int | None = None
    minimum: int = 0
    start_after: ObjectKey | None = None
    only: ObjectKey | None = None


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """A watch: initial events, if requested, then the events after `after`, or after the initial events.

    It ends after `timeout` seconds; None means the server's default.
    """

    selection: Selection
    initial_events: bool = False
    minimum: int = 0
    after: int | None = None
    bookmarks: bool = False
    timeout: float | None = None

    @property
    def marks_end_of_initial_events(self) -> bool:
        return self.initial_events and self.bookmarks


# --- Requests ---------------------------------------------------------------------------------------------------------


def read_get_minimum(query: Query) -> int:
    """Return the oldest revision that may be returned for a get."""
    return _trusted_revision(query)


def check_reached(minimum: int, current: int) -> None:
    """Raise RequestTimeoutError if the current revision is less than the minimum."""
    if minimum > current:
        raise RequestTimeoutError.too_large_resource_version(minimum, current)


def read_list_selection(request: APIRequest, registry: Registry) -> tuple[int, Selection]:
    """Read the limit and the selectors of a list or deletecollection, which are checked before its version."""
    limit, labels, fields = _read_common(request.query)
    _check(_list_problems(request.query))
    return limit, _selection(request, registry, labels, fields)


def read_list_options(request: APIRequest, registry: Registry) -> ListOptions:
    """Read the options of a list or deletecollection."""
    query = request.query
    limit, selection = read_list_selection(request, registry)
    if token := query.text("continue"):
        revision, start_after = read_continue(token, request.namespace)
        if query.text(_VERSION) not in ("", "0"):
            raise BadRequestError("specifying resource version is not allowed when using continue")
        return ListOptions(selection, limit, revision=revision, start_after=start_after)
    requested = _checked_revision(query)
    if query.text(_VERSION) == "0" and request.resource.plural != _NOT_CACHED:
        limit = 0  # the cache of kube-apiserver, which serves any version, ignores it
    if requested and (query.text(_MATCH) or (_EXACT if limit else "")) == _EXACT:
        return ListOptions(selection, limit, revision=requested)
    return ListOptions(selection, limit, minimum=requested, only=_only_key(selection, request))


def _only_key(selection: Selection, request: APIRequest) -> ObjectKey | None:
    if not selection.name or (request.resource.namespaced and not request.namespace):
        return None
    return ObjectKey(request.namespace, selection.name)


def read_watch_options(request: APIRequest, registry: Registry) -> WatchOptions:
    query = request.query
    _, labels, fields = _read_common(query)
    initial, match = query.optional_flag("sendInitialEvents"), query.text(_MATCH)
    if initial is None and not match and query.text(_VERSION) in ("", "0"):
        initial, match = True, _NOT_OLDER_THAN
    _check(_watch_problems(initial=initial, match=match, continues=bool(query.text("continue"))))
    selection = _selection(request, registry, labels, fields)
    requested = _trusted_revision(query)
    return WatchOptions(
        selection,
        initial_events=bool(initial),
        minimum=requested if initial else 0,
        after=None if initial else requested or None,
        bookmarks=query.flag("allowWatchBookmarks"),
        timeout=_timeout(query),
    )


def _read_common(query: Query) -> tuple[int, LabelSelector, FieldSelector]:
    """Read the options that are checked in all these requests, even if they are not used."""
    _timeout(query)
    return max(query.number("limit") or 0, 0), *_read_selectors(query)


def _timeout(query: Query) -> float | None:
    seconds = query.number("timeoutSeconds")
    return max(float(seconds), 0.0) if seconds else None


def _checked_revision(query: Query) -> int:
    try:
        return _revision(query.text(_VERSION))
    except ResourceVersionError as error:
        raise BadRequestError(f"invalid resource version: {error}") from None


def _trusted_revision(query: Query) -> int:
    try:
        return _revision(query.text(_VERSION))
    except ResourceVersionError as error:
        # Except for lists, kube-apiserver responds with an internal error.
        raise InternalServerError(str(error), reason="") from None


def _revision(text: str) -> int:
    """Return zero for an empty version."""
    if not text:
        return 0
    problem = "" if _UNSIGNED.fullmatch(text) else "invalid syntax"
    # The length stays below Python's limit on the digits of an int.
    if not problem and (len(text) > 100 or int(text) >= 2**64):
        problem = "value out of range"
    if problem:
        parsing = f"strconv.ParseUint: parsing {quoted(text)}: {problem}"
        raise ResourceVersionError(f"resourceVersion: Invalid value: {quoted(text)}: {parsing}", text=text)
    return int(text)


# --- Selectors --------------------------------------------------------------------------------------------------------


def _read_selectors(query: Query) -> tuple[LabelSelector, FieldSelector]:
    try:
        labels = LabelSelector.parse(query.text("labelSelector"))
    except SelectorError as error:
        raise BadRequestError(label_selector_error(query.text("labelSelector")) or str(error)) from None
    if len(labels.requirements) > MAX_TERMS or query.text("fieldSelector").count(",") > MAX_TERMS:
        raise BadRequestError(f"invalid selector: it has more than {MAX_TERMS} terms, the limit of the embedded server")
    try:
        return labels, FieldSelector.parse(query.text("fieldSelector"))
    except SelectorError:
        raise BadRequestError(field_selector_error(query.text("fieldSelector"))) from None


def _selection(request: APIRequest, registry: Registry, labels: LabelSelector, fields: FieldSelector) -> Selection:
    selectable = registry.selectable_fields(request.resource)
    return Selection(
        stored_as=registry.stored_as(request.resource).group_resource,
        namespace=request.namespace,
        labels=labels,
        fields=_with_name(check_fields(fields, request.resource, selectable), request.name),
        selectable=selectable or (),
        shards=_shards(request.query) if registry.has_shard_selectors else None,
    )


def _shards(query: Query) -> ShardSelector | None:
    text = query.text("shardSelector")
    try:
        return ShardSelector.parse(text) if text else None
    except SelectorError as error:
        # kube-apiserver responds with an internal error.
        raise InternalServerError(f"invalid shard selector: {error}", reason="") from None


def _with_name(fields: FieldSelector, name: str) -> FieldSelector:
    """A watch of one object by its path selects that object."""
    if not name:
        return fields
    only = FieldRequirement("metadata.name", Operator.EQUALS, name)
    if not fields.is_empty and only not in fields.requirements:
        raise BadRequestError("fieldSelector metadata.name doesn't match requested name")
    return FieldSelector((only,)) if fields.is_empty else fields


# --- Invalid combinations ---------------------------------------------------------------------------------------------


def _check(problems: list[StatusCause]) -> None:
    if problems:
        raise InvalidError.of("ListOptions", "", problems, group="meta.k8s.io")


def _list_problems(query: Query) -> list[StatusCause]:
    match, version = query.text(_MATCH), query.text(_VERSION)
    problems = []
    if match and not version:
        problems.append(forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if match and query.text("continue"):
        problems.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in ("", _EXACT, _NOT_OLDER_THAN):
        problems.append(not_supported(_MATCH, match, (_EXACT, _NOT_OLDER_THAN, "")))
    if match == _EXACT and version == "0":
        problems.append(forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if "sendInitialEvents" in query:
        problems.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return problems


def _watch_problems(*, initial: bool | None, match: str, continues: bool) -> list[StatusCause]:
    problems = []
    if initial is not None and match != _NOT_OLDER_THAN:
        problems.append(
            forbidden(_MATCH, f"sendInitialEvents requires setting resourceVersionMatch to {_NOT_OLDER_THAN}")
        )
    if match and initial is None:
        problems.append(
            forbidden(_MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
        )
    if match not in ("", _NOT_OLDER_THAN):
        problems.append(not_supported(_MATCH, match, (_NOT_OLDER_THAN,)))
    if match and continues:
        problems.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return problems
