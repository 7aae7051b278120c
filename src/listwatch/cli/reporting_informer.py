"""An informer for the terminal: it fails if it cannot sync, and reports on stderr how it recovers later."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from listwatch.api.list_pages import ListPage
from listwatch.informer.reflector.lister_watcher import ListerWatcher, WatchSource
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.keyed import Cached

__all__ = ["synced_informer"]

T = TypeVar("T", bound=Cached)


@asynccontextmanager
async def synced_informer(
    source: ListerWatcher[T], kind: type[T], *, name: str
) -> AsyncIterator[SharedIndexInformer[T]]:
    """Run an informer that has synced. A failure before that is raised; later ones, and what follows, go to stderr."""
    reporter = _Reporter(name)
    informer = SharedIndexInformer(_ReportingSource(source, reporter), kind, name=name, on_problem=reporter.report)
    try:
        async with asyncio.timeout(None) as scope:
            reporter.fail_with(scope)
            async with informer:
                await informer.wait_for_sync()
                reporter.fail_with(None)
                yield informer
    except TimeoutError:
        if reporter.error is None or not scope.expired():
            raise
        raise reporter.error from None


class _Reporter:
    """Ends a scope at the first failure; once the informer has synced, writes failures to stderr instead."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.error: Exception | None = None
        self._scope: asyncio.Timeout | None = None
        self._has_failed = False

    def fail_with(self, scope: asyncio.Timeout | None) -> None:
        """Let the first failure end this scope; None: only report failures."""
        self._scope = scope

    def report(self, problem: Problem) -> None:
        """Report a failure, and when the request is repeated."""
        if self._scope is not None and problem.attempt:
            self.error = problem.error
            self._scope.reschedule(asyncio.get_running_loop().time())
            return
        self._has_failed = self._has_failed or bool(problem.attempt)
        retry = f"; next attempt in {problem.delay:.1f} s" if problem.attempt else ""
        self._print(f"{problem.error}{retry}")

    def report_list(self) -> None:
        """Report that everything is listed again."""
        if self._scope is None:
            self._print("listing again")
            self._has_failed = False

    def report_watch(self, resource_version: str) -> None:
        """Report that a watch is resumed after a failure; one that ended at its timeout is resumed silently."""
        if self._has_failed:
            self._print(f"resuming the watch at version {resource_version}")
            self._has_failed = False

    def _print(self, text: str) -> None:
        print(f"watch of {self._name}: {text}", file=sys.stderr, flush=True)


class _ReportingSource(Generic[T]):
    """A source that reports when it is listed again, and when a lost watch is resumed."""

    def __init__(self, source: ListerWatcher[T], reporter: _Reporter) -> None:
        self._source = source
        self._reporter = reporter
        self.supports_streaming: bool = getattr(source, "supports_streaming", True)

    @property
    def resource(self) -> object:
        """The resource of a client, which the informer expects objects of."""
        return getattr(self._source, "resource", None)

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ListPage[T]:
        if not continue_token:
            self._reporter.report_list()
        return await self._source.list(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            limit=limit,
            continue_token=continue_token,
        )

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> WatchSource[T]:
        if send_initial_events:
            self._reporter.report_list()
        else:
            self._reporter.report_watch(resource_version)
        return self._source.watch(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            send_initial_events=send_initial_events,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )
