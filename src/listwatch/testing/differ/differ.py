"""Runs scenarios on two servers, request by request, and collects where the responses differ."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from listwatch.testing.differ.comparison import Normalizer, differences
from listwatch.testing.differ.report import Report
from listwatch.testing.differ.runner import Runner, Server
from listwatch.testing.differ.scenarios import Scenario

__all__ = ["compare_servers"]


def compare_servers(
    scenarios: Sequence[Scenario],
    servers: tuple[Server, Server],
    *,
    progress: Callable[[int], None] = lambda _number: None,
    parallel: int = 1,
) -> Report:
    """Run all scenarios on both servers, `parallel` at a time; `progress` gets the number of completed ones."""
    comparison = _Comparison(servers, progress)
    first = [scenario for scenario in scenarios if scenario.is_first]
    for scenario in first:
        comparison.run(scenario)
    with ThreadPoolExecutor(parallel) as executor:
        list(executor.map(comparison.run, (scenario for scenario in scenarios if not scenario.is_first)))
    return comparison.report


class _Comparison:
    """Runs scenarios, also several at the same time, and collects their differences in one report."""

    def __init__(self, servers: tuple[Server, Server], progress: Callable[[int], None]) -> None:
        self.report = Report(titles=(servers[0].title, servers[1].title))
        self._servers = servers
        self._progress = progress
        self._run = secrets.token_hex(3)  # a running server may still have the namespaces of earlier runs
        self._lock = threading.Lock()
        self._started = 0

    def run(self, scenario: Scenario) -> None:
        with self._lock:
            namespace = f"scenario-{self._run}-{self._started}"
            self._started += 1
        with (
            ThreadPoolExecutor(len(self._servers)) as executor,
            self._runners(namespace, executor, keep=scenario.is_first) as runners,
        ):
            self._compare(scenario, runners, executor)
        with self._lock:
            self.report.scenarios += 1
            self._progress(self.report.scenarios)

    @contextmanager
    def _runners(self, namespace: str, executor: ThreadPoolExecutor, *, keep: bool) -> Iterator[list[Runner]]:
        runners = [Runner(server, namespace) for server in self._servers]
        try:
            list(executor.map(Runner.open, runners))
            yield runners
        finally:
            list(executor.map(Runner.disconnect if keep else Runner.close, runners))

    def _compare(self, scenario: Scenario, runners: Sequence[Runner], executor: ThreadPoolExecutor) -> None:
        normalizers = (Normalizer(), Normalizer())
        for index, request in enumerate(scenario.requests):
            left, right = executor.map(lambda runner, request=request: runner.send(request), runners)
            found = list(differences(left, right, normalizers, watched="watch" in request.query))
            with self._lock:
                self.report.requests += 1
                self.report.statuses[left.status] += 1
                for difference in found:
                    self.report.add(difference, scenario, index)
            if left.status != right.status:
                return  # the servers' contents differ from here on
