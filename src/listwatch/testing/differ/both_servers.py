"""Plays on two servers at once, step by step, and gathers where their answers differ."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from listwatch.testing.differ.comparison import Normal, differences
from listwatch.testing.differ.playing import Player, Server
from listwatch.testing.differ.plays import Play
from listwatch.testing.differ.report import Report

__all__ = ["compare_servers"]


def compare_servers(
    plays: Sequence[Play], servers: tuple[Server, Server], *, progress: Callable[[int], None] = lambda _number: None
) -> Report:
    """Play all; `progress` is told the number of each play before it begins."""
    report = Report(titles=(servers[0].title, servers[1].title))
    run = secrets.token_hex(3)  # a server that runs already knows the namespaces of earlier runs
    with ThreadPoolExecutor(len(servers)) as both:
        for number, play in enumerate(plays):
            progress(number)
            with _players(servers, f"play-{run}-{number}", both) as players:
                _play(play, players, both, report)
    return report


@contextmanager
def _players(servers: Sequence[Server], namespace: str, both: ThreadPoolExecutor) -> Iterator[list[Player]]:
    players = [Player(server, namespace) for server in servers]
    try:
        list(both.map(Player.open, players))
        yield players
    finally:
        list(both.map(Player.close, players))


def _play(play: Play, players: Sequence[Player], both: ThreadPoolExecutor, report: Report) -> None:
    report.plays += 1
    normal = (Normal(), Normal())
    for place, request in enumerate(play.requests):
        asked = [both.submit(player.play, request) for player in players]
        left, right = (answer.result() for answer in asked)
        report.requests += 1
        report.statuses[left.status] += 1
        for difference in differences(left, right, normal, watched="watch" in request.query):
            report.add(difference, play, place)
        if left.status != right.status:
            return  # from here on they hold different things
