"""Blocking leader election on the embedded server, with short leases; no assertion depends on their length."""

import os
import signal
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from listwatch import blocking
from listwatch.blocking.runtime.background import LoopThread
from listwatch.errors import LeadershipLostError, UsageError
from listwatch.models.coordination_v1 import Lease
from listwatch.server import Fault, Refuse
from listwatch.testing.api_server_thread import APIServerThread

TIMEOUT = 30.0


@pytest.fixture
def client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    with blocking.ClientSet(api_server.config) as client:
        yield client
    assert [thread for thread in threading.enumerate() if isinstance(thread, LoopThread)] == []


def elector(client: blocking.ClientSet, identity: str, **options: Any) -> blocking.LeaderElector:
    return blocking.LeaderElector(
        client,
        name="one",
        namespace="default",
        identity=identity,
        **{"lease_duration": 15.0, "renew_deadline": 10.0, "retry_period": 0.05, **options},
    )


def the_lease(client: blocking.ClientSet) -> Lease:
    return client.coordination_v1.leases("default").get("one")


def give_to_another(client: blocking.ClientSet) -> None:
    patch = {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600}}
    client.coordination_v1.leases("default").patch("one", patch)


def test_the_block_runs_while_leading_and_the_lease_is_released_after_it(client: blocking.ClientSet):
    me = elector(client, "me")
    assert not me.is_leader
    with me.lead():
        assert me.is_leader
        assert me.leader == "me"
        assert the_lease(client).spec.holder_identity == "me"
        assert me.wait_lost(timeout=0.2) is False
        assert me.statistics().renewals > 1
    assert not me.is_leader
    assert the_lease(client).spec.holder_identity == ""


def test_a_block_that_lost_leadership_ends_with_an_error_and_does_not_release_the_lease(
    client: blocking.ClientSet,
):
    me = elector(client, "me")

    def lead() -> None:
        with me.lead():
            give_to_another(client)
            assert me.wait_lost(timeout=TIMEOUT)
            assert not me.is_leader

    with pytest.raises(LeadershipLostError, match="other holds it"):
        lead()
    assert the_lease(client).spec.holder_identity == "other"


def test_the_lease_is_not_released_before_a_block_that_lost_it_has_ended(
    client: blocking.ClientSet, api_server: APIServerThread
):
    me = elector(client, "me", lease_duration=2.0, renew_deadline=1.0)
    holders = []

    def lead() -> None:
        with me.lead():
            fault = api_server.faults.add(Fault(Refuse(), resource="leases", verb="update"))
            assert me.wait_lost(timeout=TIMEOUT)
            api_server.faults.remove(fault)
            holders.append(the_lease(client).spec.holder_identity)

    with pytest.raises(LeadershipLostError, match="was not renewed"):
        lead()
    holders.append(the_lease(client).spec.holder_identity)
    assert holders == ["me", ""]


def test_an_error_of_the_block_is_raised_even_if_leadership_was_lost(client: blocking.ClientSet):
    me = elector(client, "me")

    def lead() -> None:
        with me.lead():
            give_to_another(client)
            me.wait_lost(timeout=TIMEOUT)
            raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        lead()


def test_the_next_candidate_leads_after_the_first_block_has_ended(client: blocking.ClientSet):
    one, other = elector(client, "one"), elector(client, "other")
    leaders: SimpleQueue[str] = SimpleQueue()

    def lead() -> None:
        with other.lead():
            leaders.put("other")

    thread = threading.Thread(target=lead)
    with one.lead():
        leaders.put("one")
        thread.start()
        assert one.wait_lost(timeout=0.2) is False
        leaders.put("one ends")
    assert [leaders.get(timeout=TIMEOUT) for _ in range(3)] == ["one", "one ends", "other"]
    thread.join()


def test_run_calls_back_in_the_calling_thread_and_is_elected_again(client: blocking.ClientSet):
    calls: SimpleQueue[Any] = SimpleQueue()

    class EnoughError(Exception):
        """Ends the run."""

    def on_started_leading() -> None:
        calls.put(("started", threading.current_thread()))
        if me.statistics().terms == 2:
            raise EnoughError
        patch = {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 1}}
        client.coordination_v1.leases("default").patch("one", patch)

    def on_stopped_leading() -> str:
        calls.put(("stopped", threading.current_thread()))
        return "a result that is ignored"

    me = elector(client, "me", on_started_leading=on_started_leading, on_stopped_leading=on_stopped_leading)
    with pytest.raises(EnoughError):
        me.run()
    here = threading.current_thread()
    expected = [("started", here), ("stopped", here), ("started", here), ("stopped", here)]
    assert [calls.get(timeout=TIMEOUT) for _ in range(4)] == expected
    assert the_lease(client).spec.holder_identity == ""


def test_on_new_leader_may_block(client: blocking.ClientSet):
    leaders: SimpleQueue[tuple[str, str]] = SimpleQueue()

    def on_new_leader(leader: str) -> None:
        leaders.put((leader, the_lease(client).spec.holder_identity or ""))

    with elector(client, "me", on_new_leader=on_new_leader).lead():
        assert leaders.get(timeout=TIMEOUT) == ("me", "me")


def test_an_interrupted_candidate_withdraws(client: blocking.ClientSet):
    def interrupt(leader: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    me, other = elector(client, "me"), elector(client, "other", on_new_leader=interrupt)
    with me.lead():
        with pytest.raises(KeyboardInterrupt), other.lead():
            pass
        assert me.wait_lost(timeout=0.2) is False
    assert other.statistics().terms == 0


def test_invalid_arguments_raise_the_errors_of_the_asynchronous_class(client: blocking.ClientSet):
    with pytest.raises(UsageError, match="needs name="):
        blocking.LeaderElector(client)
    with pytest.raises(UsageError, match="on_new_leader=5 is not callable"):
        elector(client, "me", on_new_leader=5)
    me = elector(client, "me", on_started_leading=lambda: None)
    with pytest.raises(UsageError, match="are for run"), me.lead():
        pass
