"""Plays a recording: applies its records when they are due, on the clock of the server."""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from listwatch.clock import Clock, time_limit
from listwatch.errors import UsageError
from listwatch.meta import GroupVersionResource
from listwatch.recording.recording_file import read_entries, scan_recording
from listwatch.recording.records import Data, End, Entry
from listwatch.server.replay.replayed_api import ReplayedAPI, registry_of
from listwatch.server.replay.replayed_resource import ReplayedResource
from listwatch.server.replay.summary import RecordingSummary, positions, summarize
from listwatch.server.replay.timeline import NoEffects, Timeline

__all__ = ["Playback"]

_log = logging.getLogger("listwatch.server")

_MAX_BACKLOG = 5_000
"""The largest backlog of a client, in events, at unlimited speed; above it, the playback waits."""
_PAUSE = 0.001
_RECORDS_AT_ONCE = 50


class Playback:
    """Plays a recording; pass it to an `APIServer` as `replay`.

    At a `speed` of 10, an hour takes six minutes; `math.inf` plays as fast as the clients read. With `paused`, it waits
    for `resume` or `step`. With `wait_for_watches`, it starts when that number of watches is open. The first `start_at`
    seconds are played before the server listens, also with `paused`.

    Before that, the server has the first recorded list of each resource; after the end, it keeps the last state, and
    all requests succeed. A server that is started again plays from the beginning.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        speed: float = 1.0,
        paused: bool = False,
        wait_for_watches: int = 0,
        start_at: float = 0.0,
    ) -> None:
        self._file = os.fspath(file)
        self._speed = _checked_speed(speed)
        self._starts_paused = self._is_paused = paused
        self._wait_for_watches = wait_for_watches
        self._start_at = start_at
        self._summary: RecordingSummary | None = None
        self._resources: dict[GroupVersionResource, ReplayedResource] = {}
        self._end = 0  # of the readable part of the file
        self._position = 0.0
        self._is_finished = False
        self._steps = 0
        self._base = start_at, 0.0  # a position, and the time of the clock at which it was reached
        self._run: _Run | None = None
        self._remaining: Iterator[tuple[float, Entry]] = iter(())
        self._timeline = Timeline({}, NoEffects())

    def __repr__(self) -> str:
        return f"<Playback of {self._file!r} at {self._position:.1f} s>"

    # --- Control

    @property
    def file(self) -> str:
        """The file of the recording."""
        return self._file

    @property
    def summary(self) -> RecordingSummary:
        """What the recording contains; known when the server has started."""
        if self._summary is None:
            raise UsageError("the recording is read when the server starts")
        return self._summary

    @property
    def position(self) -> float:
        """The seconds of the recording that have been played."""
        return self._position

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    @property
    def is_finished(self) -> bool:
        """Whether all of the recording has been played."""
        return self._is_finished

    @property
    def speed(self) -> float:
        """How many seconds are played in one second. It can be changed at any time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._set_base()
        self._speed = _checked_speed(speed)
        self._notify()

    def pause(self) -> None:
        """Pause until `resume` or `step`. Requests are still served."""
        self._set_base()
        self._is_paused = True
        self._notify()

    def resume(self) -> None:
        """Continue."""
        self._set_base()
        self._is_paused = False
        self._notify()

    def step(self, count: int = 1) -> None:
        """While it is paused, play up to the next received data or the next end of a response."""
        self._steps += count
        self._notify()

    async def wait_finished(self) -> None:
        """Wait until all of the recording has been played; raises UsageError if the server is stopped before."""
        if self._run is None:
            raise UsageError("the recording is played while its server runs")
        task = self._run.task
        await asyncio.wait([task])
        if task.cancelled():
            raise UsageError("the server was stopped before all of the recording was played")
        task.result()

    def _set_base(self) -> None:
        """Restart the measurement of time at the current position, because the speed changes."""
        if self._run is None:
            return
        position, since = self._base
        now = self._run.clock.monotonic()
        if not self._is_paused:
            position = self._position if math.isinf(self._speed) else position + (now - since) * self._speed
        self._base = position, now

    def _notify(self) -> None:
        if self._run is not None:
            self._run.loop.call_soon_threadsafe(self._run.changed.set)

    # --- For the server

    def _load(self) -> list[ReplayedResource]:
        """Read the recording, and the initial state of its resources; raises ConfigError. It blocks."""
        scan = scan_recording(self._file)
        self._end = scan.end
        self._summary, found = summarize(self._entries(), problem=scan.problem)
        if scan.problem:
            _log.warning(
                "The recording %s can be played only up to %.1f s: %s",
                self._file,
                self._summary.duration,
                scan.problem,
                extra={"file": self._file, "seconds": self._summary.duration},
            )
        registry = registry_of(self._summary.resources)
        self._resources = {
            resource.gvr: ReplayedResource(
                resource,
                registry.storage_id(resource),
                only_gets=recorded.only_gets,
                only_metadata=recorded.only_metadata,
            )
            for resource, recorded in found.items()
        }
        resources = [*self._resources.values()]
        loading = Timeline(self._resources, NoEffects())
        for entry in self._entries():
            loading.apply(entry)
            if all(each.is_loaded for each in resources):
                break
        for each in resources:
            each.finish_loading()
        return resources

    def _entries(self) -> Iterator[Entry]:
        return read_entries(self._file, end=self._end)

    async def _skip_to_start(self, api: ReplayedAPI) -> None:
        """Play the first `start_at` seconds, before the server listens."""
        self._position, self._is_finished, self._steps, self._is_paused = 0.0, False, 0, self._starts_paused
        self._timeline = Timeline(self._resources, api)
        self._remaining = positions(self._entries())
        for number, (position, entry) in enumerate(self._remaining):
            if position > self._start_at or not self._start_at:
                self._remaining = chain([(position, entry)], self._remaining)
                break
            self._apply(api, position, entry)
            if number % _RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _start(self, api: ReplayedAPI, clock: Clock) -> None:
        changed = asyncio.Event()
        api.on_opened(changed.set)
        task = asyncio.create_task(self._play(), name="playback")
        self._run = _Run(api, clock, changed, task, asyncio.get_running_loop())

    async def _stop(self) -> None:
        run, self._run = self._run, None
        self._remaining = iter(())
        if run is not None:
            run.task.cancel()
            await asyncio.gather(run.task, return_exceptions=True)

    async def _play(self) -> None:
        run = self._run
        assert run is not None
        try:
            while len(run.api) < self._wait_for_watches:
                run.changed.clear()
                await run.changed.wait()
            self._base = self._start_at, run.clock.monotonic()
            for number, (position, entry) in enumerate(self._remaining):
                await self._wait_due(run, position, entry)
                self._apply(run.api, position, entry)
                if number % _RECORDS_AT_ONCE == 0:
                    await asyncio.sleep(0)
                while run.api.backlog > _MAX_BACKLOG and math.isinf(self._speed):  # noqa: ASYNC110  # set by each send
                    await asyncio.sleep(_PAUSE)  # not by the clock: clients read in real time
            self._finish(run, self._timeline)
        except Exception:
            _log.exception("The playback of %s failed", self._file, extra={"file": self._file})
            raise

    def _apply(self, api: ReplayedAPI, position: float, entry: Entry) -> None:
        self._position = position
        self._timeline.apply(entry)
        api.advance()

    async def _wait_due(self, run: _Run, position: float, entry: Entry) -> None:
        """Wait until a record is due, at the current speed."""
        while position > self._start_at:
            if self._is_paused:
                if self._steps:
                    self._steps -= isinstance(entry.record, Data | End)
                    return
                run.changed.clear()
                await run.changed.wait()
                continue
            base, since = self._base
            delay = (position - base) / self._speed - (run.clock.monotonic() - since)
            if delay <= 0:
                return
            run.changed.clear()
            with suppress(TimeoutError):
                async with time_limit(run.clock, delay):
                    await run.changed.wait()

    def _finish(self, run: _Run, timeline: Timeline) -> None:
        run.api.recover_all()
        self._is_finished = True
        fields = {"file": self._file, "left_out": timeline.left_out}
        _log.info("The recording %s has been played; the server keeps its last state", self._file, extra=fields)
        if timeline.left_out:
            _log.warning("%d events or responses of %s cannot be decoded", timeline.left_out, self._file, extra=fields)


class _Run(NamedTuple):
    """The state between the start and the stop of the server."""

    api: ReplayedAPI
    clock: Clock
    changed: asyncio.Event
    """Set when a watch is opened, or the speed changes."""
    task: asyncio.Task[None]
    loop: asyncio.AbstractEventLoop


def _checked_speed(speed: float) -> float:
    if not speed > 0:
        raise UsageError(f"speed must be a positive number, such as 10, or math.inf, not {speed!r}")
    return float(speed)
