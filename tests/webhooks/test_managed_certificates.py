"""Certificates that are created and rotated in a Secret that replicas share."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from cryptography import x509
from tests.controller.worlds import world

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ConfigError, ConflictError, UsageError
from listwatch.server import Fail, Fault
from listwatch.testing.clocks import START, VirtualClock
from listwatch.webhooks import ManagedCertificates
from listwatch.webhooks.certificates.rotation_state import Action, SecretFacts, next_action
from listwatch.webhooks.certificates.secret_contents import SecretContents
from listwatch.webhooks.certificates.secret_rotation import SecretRotation
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate
from listwatch.webhooks.certificates.validity import Validity, certificates_in

DAY = timedelta(days=1)
HOSTS = ["hooks.default.svc"]


def trusts(bundle: bytes, certificate: bytes, now: datetime) -> bool:
    """Whether a server with this bundle accepts the certificate."""
    leaf = x509.load_pem_x509_certificate(certificate)
    if not leaf.not_valid_before_utc <= now < leaf.not_valid_after_utc:
        return False
    for pem in certificates_in(bundle):
        authority = x509.load_pem_x509_certificate(pem)
        if now < authority.not_valid_after_utc:
            try:
                leaf.verify_directly_issued_by(authority)
            except Exception:  # noqa: BLE001  # not of this authority
                continue
            return True
    return False


def test_api_servers_trust_the_certificate_of_every_replica_at_any_time():
    contents = SecretContents("hooks", HOSTS, validity=9 * DAY, authority_validity=36 * DAY)
    now, data = START, dict[str, bytes]()
    published, in_use = b"", [b"", b""]
    done, seen = dict[Action, int](), set[bytes]()
    for step in range(4 * 64):
        now += DAY / 4
        # The replicas act in turn, and some are absent for a while.
        for replica in (0, 1) if step % 7 else (step // 7 % 2,):
            while True:
                action = next_action(
                    contents.facts(data), now, overlap=DAY, is_published=published == data.get("ca.crt")
                )
                if action is Action.KEEP:
                    break
                done[action] = done.get(action, 0) + 1
                data = contents.after(action, data, now)
            in_use[replica] = data["tls.crt"]
            if step > 1:
                assert all(trusts(published, each, now) for each in in_use if each), (step, done)
            published = data["ca.crt"]
            assert trusts(published, data["tls.crt"], now)
        assert len(certificates_in(published)) <= 3
        seen.update(in_use)
    assert (done[Action.CREATE], done[Action.PREPARE], done[Action.SWITCH]) == (1, 2, 2)
    assert len(seen - {b""}) == 1 + done[Action.ISSUE] + done[Action.SWITCH]


def at(start: int, end: int) -> Validity:
    return Validity(START + start * DAY, START + end * DAY)


@pytest.mark.parametrize(
    ("facts", "day", "is_published", "action"),
    [
        (SecretFacts(), 0, False, Action.CREATE),
        (SecretFacts(at(0, 30), None, None), 1, True, Action.ISSUE),
        (SecretFacts(at(0, 30), None, at(0, 9)), 5, True, Action.KEEP),
        (SecretFacts(at(0, 30), None, at(0, 9)), 7, True, Action.ISSUE),
        (SecretFacts(at(0, 30), None, at(15, 30)), 21, True, Action.PREPARE),
        (SecretFacts(at(0, 30), at(21, 51), at(21, 30)), 21, True, Action.KEEP),
        (SecretFacts(at(0, 30), at(21, 51), at(21, 30)), 23, False, Action.KEEP),
        (SecretFacts(at(0, 30), at(21, 51), at(21, 30)), 23, True, Action.SWITCH),
        # After months without a replica.
        (SecretFacts(at(0, 30), at(21, 51), at(21, 30)), 31, False, Action.SWITCH),
        (SecretFacts(at(0, 30), at(21, 51), at(21, 30)), 52, False, Action.CREATE),
        (SecretFacts(at(0, 30), None, at(21, 30)), 52, True, Action.CREATE),
    ],
)
def test_the_next_step_follows_from_the_contents(facts: SecretFacts, day: int, is_published: bool, action: Action):
    assert next_action(facts, START + day * DAY, overlap=DAY, is_published=is_published) is action


def rotation(client: ClientSet, clock: VirtualClock, hosts: list[str] | None = None) -> SecretRotation:
    options = ManagedCertificates(validity=9 * DAY, authority_validity=36 * DAY)
    return SecretRotation(client, options, name="fleets", namespace="default", hosts=hosts or HOSTS, clock=clock)


async def test_replicas_that_start_or_rotate_together_share_one_certificate():
    clock = VirtualClock()
    async with world() as (_, client):
        replicas = [rotation(client, clock) for _ in range(6)]

        async def load() -> ServingCertificate:
            loaded = await asyncio.gather(*(each.load() for each in replicas))
            assert len(set(loaded)) == 1
            return loaded[0]

        first = await load()
        secret = await client.core_v1.secrets("default").get("fleets-webhook-certificates")
        assert secret.type == "kubernetes.io/tls"
        assert secret.data["tls.crt"] == first.chain
        assert (await load()) == first
        clock.jump(7 * 86_400)
        second = await load()
        assert second.chain != first.chain
        assert second.ca_bundle == first.ca_bundle
        for replica in replicas:
            replica.published = second.ca_bundle
        clock.jump(20 * 86_400)
        prepared = await load()
        assert len(certificates_in(prepared.ca_bundle)) == 2
        # A replica that could not write the bundle into the configurations does not switch.
        clock.jump(2 * 86_400)
        assert (await replicas[0].load()).ca_bundle == prepared.ca_bundle
        replicas[1].published = prepared.ca_bundle
        switched = await replicas[1].load()
        assert switched.chain != prepared.chain
        assert certificates_in(switched.ca_bundle) == certificates_in(prepared.ca_bundle)[::-1]
        assert (await load()) == switched


async def test_contents_that_cannot_be_used_are_replaced():
    clock = VirtualClock()
    async with world() as (_, client):
        secrets = client.core_v1.secrets("default")
        first = await rotation(client, clock).load()
        other = SecretContents("x", HOSTS, validity=DAY, authority_validity=DAY).after(Action.CREATE, {}, clock.now())
        for name in ("ca.crt", "ca.key", "tls.crt", "tls.key"):
            for damage in (b"garbage", b"", other[name]):
                secret = await secrets.get("fleets-webhook-certificates")
                secret.data = {**secret.data, name: damage, "other": b"kept"}
                await secrets.update(secret)
                loaded = await rotation(client, clock).load()
                assert trusts(loaded.ca_bundle, loaded.chain, clock.now()), (name, damage)
                loaded.context()
        assert (await secrets.get("fleets-webhook-certificates")).data["other"] == b"kept"
        # Other names of the service.
        before = await rotation(client, clock).load()
        after = await rotation(client, clock, ["other.default.svc", "127.0.0.1"]).load()
        assert (after.chain != before.chain, after.ca_bundle) == (True, before.ca_bundle)
        assert first.chain != before.chain


async def test_a_secret_that_another_program_keeps_changing_is_an_error():
    clock = VirtualClock()
    async with world() as (server, client):
        server.faults.add(Fault(Fail(ConflictError("again")), resource="secrets", verb="create"))
        with pytest.raises(ConfigError, match="secret default/fleets-webhook-certificates was changed during each"):
            await rotation(client, clock).load()
        assert len(server.requests.matching(resource="secrets", verb="create")) == 10


def test_mistakes_in_the_options_are_errors():
    for mistake, why in (
        ({"validity": timedelta(seconds=1)}, "a minute or more"),
        ({"validity": 500 * DAY}, "not over authority_validity"),
        ({"overlap": 200 * DAY}, "less than a third"),
        ({"interval": 0}, "greater than 0"),
    ):
        with pytest.raises(UsageError, match=why):
            ManagedCertificates(**mistake)  # type: ignore[arg-type]  # the mistakes
