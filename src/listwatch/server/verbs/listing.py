"""Lists objects of the storage page by page, at the current revision or an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from listwatch.errors import ExpiredError, RequestTimeoutError
from listwatch.server.protocol.continue_tokens import write_continue
from listwatch.server.protocol.list_options import ListOptions, check_reached
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import RevisionCompactedError, RevisionTooLargeError, Stored

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list: its objects, its revision, and the token of the next page, if any."""

    items: list[Stored]
    revision: int
    continue_token: str = ""
    remaining_item_count: int | None = None


Convert = Callable[[Sequence[Stored]], list[Stored]]
"""Returns states in the requested version."""


def list_objects(storage: Storage, storage_id: str, options: ListOptions, convert: Convert | None = None) -> Listing:
    """List objects. With `convert`, they are converted before they are selected.

    Raises RequestTimeoutError for a revision in the future and ExpiredError for one that was compacted.
    """
    check_reached(options.minimum, storage.revision)
    if options.only:
        found = storage.get(storage_id, options.only)
        if found and convert:
            [found] = convert([found])
        return Listing([found] if found and options.selection.matches(found) else [], storage.revision)
    try:
        return _page(storage, storage_id, options, convert)
    except RevisionTooLargeError as error:
        raise RequestTimeoutError.too_large_resource_version(error.requested, error.current) from None
    except RevisionCompactedError:
        raise _expired(options) from None


def _page(storage: Storage, storage_id: str, options: ListOptions, convert: Convert | None) -> Listing:
    selection, limit = options.selection, options.limit
    namespace = selection.namespace or None
    revision = storage.revision if options.revision is None else options.revision
    scanned = storage.scan(storage_id, namespace=namespace, revision=revision, start_after=options.start_after)
    if convert:
        scanned = iter(convert([*scanned]))
    selected = scanned if selection.is_everything else filter(selection.matches, scanned)
    items = list(islice(selected, limit or None))
    # As kube-apiserver: the remaining objects may or may not be selected, which is not checked.
    if not limit or len(items) < limit or next(scanned, None) is None:
        return Listing(items, revision)
    last = items[-1].key
    token = write_continue(last, revision, selection.namespace)
    if not selection.has_no_terms:
        return Listing(items, revision, token)
    # As kube-apiserver: all remaining objects are counted, whatever their shards.
    remaining = storage.count(storage_id, namespace=namespace, revision=revision, start_after=last)
    return Listing(items, revision, token, remaining)


def _expired(options: ListOptions) -> ExpiredError:
    if options.start_after is None:
        return ExpiredError(_TOO_OLD)
    error = ExpiredError(_TOKEN_TOO_OLD)
    error.continue_token = write_continue(options.start_after, None, options.selection.namespace)
    return error
