"""The webhooks of a manager, called by a real kube-apiserver."""

from __future__ import annotations

from tests.webhooks.scenario import check_admission, check_conversion, declared, define, managed

from listwatch.client.resources.client_set import ClientSet


async def test_a_real_server_calls_webhooks_with_certificates_of_their_own(client: ClientSet):
    await define(client)
    async with managed(client, declared()):
        await check_admission(client)
        await check_conversion(client, admits_v1beta1=True)
