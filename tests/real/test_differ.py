"""Generated requests on the embedded and on a real server.

LISTWATCH_DIFFER_REQUESTS is the number of requests (default 500), LISTWATCH_DIFFER_SEED the seed (default 1).
"""

import asyncio
import os
from collections.abc import Callable
from functools import partial

from listwatch.server import APIServer
from listwatch.testing import RealAPIServer
from listwatch.testing.differ.differ import compare_servers
from listwatch.testing.differ.generation.scenarios import generate
from listwatch.testing.differ.runner import Server

REQUESTS = int(os.environ.get("LISTWATCH_DIFFER_REQUESTS", "500"))
SEED = int(os.environ.get("LISTWATCH_DIFFER_SEED", "1"))


async def test_the_servers_answer_generated_requests_alike(
    cluster: RealAPIServer, record_property: Callable[[str, object], None]
):
    real = Server("real", cluster.url, cluster.token, cluster.ca_certificate)
    async with APIServer(controllers=["resourcequota-controller"], authorization="rbac") as embedded:
        servers = (Server("embedded", embedded.url, embedded.token), real)
        compare = partial(compare_servers, generate(REQUESTS, seed=SEED), servers, parallel=4)
        report = await asyncio.to_thread(compare)
    record_property("generated requests", f"{report.requests}, {sum(report.accepted.values())} accepted differences")
    assert not report.found, report.text()
