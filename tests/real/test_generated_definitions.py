"""CustomResourceDefinitions of classes on a real server."""

from __future__ import annotations

from tests.generate.checks import check_accepted
from tests.generate.varied_classes import EXAMPLES

from listwatch.client.resources.client_set import ClientSet


async def test_a_real_server_accepts_the_definitions_of_all_classes_unchanged(client: ClientSet):
    for example in EXAMPLES:
        await check_accepted(client, example)
