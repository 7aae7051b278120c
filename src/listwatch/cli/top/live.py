"""Feeds a live table from an informer, and draws it until a key ends it."""

from __future__ import annotations

import asyncio
import sys
from collections import deque

from rich.console import Console

from listwatch.cli.output import format_table
from listwatch.cli.screen import Screen, captured_log
from listwatch.cli.top.columns import Column, columns_for
from listwatch.cli.top.keyboard import keyboard
from listwatch.cli.top.rows import Rows
from listwatch.cli.top.table import Status, Table
from listwatch.clock import Clock
from listwatch.errors import UsageError
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import Resource
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.objects.object import Object

__all__ = ["Top"]

_REFRESH = 0.012
"""Seconds of a frame in which the order of the rows is brought up to date."""
_RATE_SAMPLES = 10


class Top:
    """The informer and the table of one resource."""

    def __init__(
        self,
        source: AnySource,
        kind: type[Object],
        resource: Resource,
        *,
        where: str,
        metadata_only: bool,
        clock: Clock,
    ) -> None:
        self._resource = resource
        self._where = where
        self._clock = clock
        self._problem = ""
        self.informer: SharedIndexInformer[Object] = SharedIndexInformer(
            source,
            kind,
            name=str(resource.group_resource),
            transform=strip_managed_fields,
            on_problem=self._report,
            clock=clock,
        )
        self.rows = Rows(columns_for(resource, metadata_only=metadata_only), self.informer.indexer.get, clock=clock)
        self.table = Table(self.rows, clock=clock, yaml=self._yaml)
        self.informer.add_handler(self)
        self._samples: deque[tuple[float, int]] = deque(maxlen=_RATE_SAMPLES)

    # --- handlers ----------------------------------------------------------------------------------------------------

    def on_add(self, item: Object, *, is_initial: bool) -> None:
        (self.rows.add if is_initial else self.rows.change)(item.cache_key)

    def on_update(self, _old: Object, new: Object) -> None:
        self.rows.change(new.cache_key)

    def on_delete(self, item: Object) -> None:
        self.rows.remove(item.cache_key)

    def _report(self, problem: Problem) -> None:
        self._problem = f"{problem.error}; retry in {problem.delay:.0f} s" if problem.delay else str(problem.error)

    def _show_problem(self, text: str) -> None:
        self._problem = text

    # --- the table ---------------------------------------------------------------------------------------------------

    def column(self, title: str) -> Column:
        """The column of this title; UsageError if there is none."""
        for column in self.rows.columns:
            if column.title == title.upper():
                return column
        known = ", ".join(column.title.lower() for column in self.rows.columns)
        raise UsageError(f"there is no column {title!r} to sort {self._resource.plural} by; the columns are {known}")

    def status(self) -> Status:
        """What the first line shows."""
        statistics = self.informer.statistics()
        source = statistics.sources[0]
        if source.state == "watching":
            self._problem = ""
        now = self._clock.monotonic()
        self._samples.append((now, source.events))
        since, before = self._samples[0]
        return Status(
            title=str(self._resource.group_resource),
            where=self._where,
            objects=statistics.objects,
            state=source.state,
            resource_version=statistics.resource_version,
            rate=(source.events - before) / (now - since) if now > since else 0.0,
            problem=self._problem,
        )

    def frame(self, screen: Screen, *, width: int, height: int) -> None:
        """Bring the order up to date, and draw."""
        if not self.table.is_paused:
            self.rows.refresh(_REFRESH)
        screen.draw(self.table.lines(self.status(), width=width, height=height))

    async def run(self, console: Console, *, interval: float) -> None:
        """Draw the table until `q`, or until cancelled."""
        screen = Screen(console)
        async with self.informer:
            with (
                captured_log(self._show_problem),
                keyboard(sys.stdin.fileno()) as pressed,
                console.screen(hide_cursor=True),
            ):
                while True:
                    self.frame(screen, width=console.width, height=console.height)
                    # An order that is being built gets the time between two frames, too.
                    if not await self._handle_keys(pressed, interval if self.rows.progress >= 1 else 0.001):
                        return

    async def _handle_keys(self, pressed: asyncio.Queue[str], interval: float) -> bool:
        """Wait for the next frame, or draw at once after a key; False if a key ends the table."""
        try:
            async with asyncio.timeout(interval):
                key = await pressed.get()
        except TimeoutError:
            return True
        while self.table.press(key):
            if pressed.empty():
                return True
            key = pressed.get_nowait()
        return False

    async def text(self, timeout: float) -> str:
        """The whole table once, as plain text."""
        async with self.informer:
            await self.informer.wait_for_sync(timeout)
            while not self.rows.is_current:
                self.rows.refresh(_REFRESH)
                await asyncio.sleep(0)
            now = self._clock.now()
            found = [self.rows.row(key, now) for key in self.rows.window(0, len(self.rows))]
        shown = [column for column in self.rows.columns if column.title not in ("CHANGES", "CHANGED")]
        rows = [[column.text(row) for column in shown] for row in found if row is not None]
        return format_table([column.title for column in shown], rows)

    def _yaml(self, item: Object) -> str:
        if self._resource.kind == "Secret" and not self._resource.group:
            return "The data of Secrets is not shown here; use `listwatch get secret NAME -o yaml`."
        return item.to_yaml()
