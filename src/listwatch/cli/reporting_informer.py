"""An informer for the terminal: it fails if it cannot sync, and reports on stderr how it recovers later."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from listwatch.api.list_pages import ListPage
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.informer.list_watch import WatchSource
from listwatch.informer.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.objects.unstructured import Unstructured

__all__ = ["synced_informer"]


@asynccontextmanager
async def synced_informer(client: ResourceClient[Unstructured]) -> AsyncIterator[SharedIndexInformer[Unstructured]]:
    """Run an informer that has synced. A failure before that is raised; later ones, and what follows, go to stderr."""
    source = _ReportingSource(client)
    informer = SharedIndexInformer(source, Unstructured, name=source.name, on_problem=source.report)
    try:
        async with asyncio.timeout(None) as scope:
            source.fail_with(scope)
            async with informer:
                await informer.wait_for_sync()
                source.fail_with(None)
                yield informer
    except TimeoutError:
        if source.error is None or not scope.expired():
            raise
        raise source.error from None


class _ReportingSource:
    """A resource client that reports on stderr when a lost watch is resumed, and when the resource is listed again."""

    def __init__(self, client: ResourceClient[Unstructured]) -> None:
        self._client = client
        self.name = client.resource.plural if client.resource else "objects"
        self.error: Exception | None = None
        self._scope: asyncio.Timeout | None = None
        self._has_failed = False

    def fail_with(self, scope: asyncio.Timeout | None) -> None:
        """Let the first failure end this scope; None: only report failures."""
        self._scope = scope

    def report(self, problem: Problem) -> None:
        """Report a failure, and what follows."""
        if self._scope is not None and problem.attempt:
            self.error = problem.error
            self._scope.reschedule(asyncio.get_running_loop().time())
            return
        self._has_failed = self._has_failed or bool(problem.attempt)
        retry = f"; next attempt in {problem.delay:.1f} s" if problem.attempt else ""
        self._print(f"{problem.error}{retry}")

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ListPage[Unstructured]:
        if not continue_token:
            self._report_list()
        return await self._client.list(
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
    ) -> WatchSource[Unstructured]:
        if send_initial_events:
            self._report_list()
        elif self._has_failed:
            # A watch that ends at its timeout is resumed without a report.
            self._print(f"resuming the watch at version {resource_version}")
            self._has_failed = False
        return self._client.watch(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            send_initial_events=send_initial_events,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )

    def namespace(self, namespace: str) -> ResourceClient[Unstructured]:
        """Return the client of one namespace, with which the informer reads damaged objects again."""
        return self._client.namespace(namespace)

    async def get(self, name: str) -> Unstructured:
        """Read one object."""
        return await self._client.get(name)

    def _report_list(self) -> None:
        if self._scope is None:
            self._print("listing again")
            self._has_failed = False

    def _print(self, text: str) -> None:
        print(f"watch of {self.name}: {text}", file=sys.stderr, flush=True)
