"""Runs scenarios on two servers, request by request, and collects where the responses differ."""

from __future__ import annotations

import secrets
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
) -> Report:
    """Run all scenarios on both servers; `progress` is called with the number of each scenario before it starts."""
    report = Report(titles=(servers[0].title, servers[1].title))
    run = secrets.token_hex(3)  # a running server may still have the namespaces of earlier runs
    with ThreadPoolExecutor(len(servers)) as executor:
        for number, scenario in enumerate(scenarios):
            progress(number)
            with _runners(servers, f"scenario-{run}-{number}", executor) as runners:
                _compare(scenario, runners, executor, report)
    return report


@contextmanager
def _runners(servers: Sequence[Server], namespace: str, executor: ThreadPoolExecutor) -> Iterator[list[Runner]]:
    runners = [Runner(server, namespace) for server in servers]
    try:
        list(executor.map(Runner.open, runners))
        yield runners
    finally:
        list(executor.map(Runner.close, runners))


def _compare(scenario: Scenario, runners: Sequence[Runner], executor: ThreadPoolExecutor, report: Report) -> None:
    report.scenarios += 1
    normalizers = (Normalizer(), Normalizer())
    for index, request in enumerate(scenario.requests):
        futures = [executor.submit(runner.send, request) for runner in runners]
        left, right = (future.result() for future in futures)
        report.requests += 1
        report.statuses[left.status] += 1
        for difference in differences(left, right, normalizers, watched="watch" in request.query):
            report.add(difference, scenario, index)
        if left.status != right.status:
            return  # the servers' contents differ from here on
