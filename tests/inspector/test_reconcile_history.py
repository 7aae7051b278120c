"""The history of reconciles: bounded, by key, with triggers."""

from __future__ import annotations

from listwatch.inspector import reconcile_history
from listwatch.inspector.reconcile_history import ReconcileHistory, Trigger
from listwatch.meta import ObjectKey
from listwatch.testing import InstantClock


def key(name: str) -> ObjectKey:
    return ObjectKey("default", name)


def done(history: ReconcileHistory, name: str, result: str = "succeeded", delay: float | None = None) -> None:
    history.finish(history.start(key(name), attempt=1, waited=0.0), result, delay=delay)


def test_the_last_change_of_a_key_is_its_trigger_and_the_others_are_counted():
    history = ReconcileHistory(InstantClock())
    history.note([key("a")], Trigger("added", "Pod", "default/p", "5"))
    history.note([key("a")], Trigger("updated", "Pod", "default/p", "6"))
    record = history.start(key("a"), attempt=1, waited=0.0)
    assert record.snapshot().trigger == "Pod default/p @6 updated (and 1 more changes)"
    assert history.recent(5) == [record] == history.of_key(key("a"))
    assert record.snapshot().result == "running"


def test_without_a_change_the_last_outcome_is_the_trigger():
    history = ReconcileHistory(InstantClock())
    triggers = []
    for result, delay in [("failed", 1.0), ("requeued", 30.0), ("succeeded", None), ("succeeded", None)]:
        done(history, "a", result, delay)
        triggers.append(history.of_key(key("a"))[0].snapshot().trigger)
    assert triggers == ["enqueue()", "retry", "requeue", "enqueue()"]


def test_the_next_try_is_a_time_on_the_clock():
    clock = InstantClock()
    history = ReconcileHistory(clock)
    record = history.start(key("a"), attempt=3, waited=0.5)
    history.finish(record, "failed", ValueError("broken"), delay=8.0)
    snapshot = record.snapshot()
    assert snapshot.next_try == clock.now().timestamp() + 8.0
    assert (snapshot.error, snapshot.attempt, snapshot.waited) == ("ValueError: broken", 3, 0.5)


def test_memory_is_bounded():
    history = ReconcileHistory(InstantClock())
    for number in range(3 * reconcile_history._MAX_KEYS):
        done(history, f"k{number}")
    for _ in range(3 * reconcile_history._PER_KEY):
        done(history, "often")
    assert len(history) == reconcile_history._MAX_KEYS
    assert len(history.of_key(key("often"))) == reconcile_history._PER_KEY
    assert history.of_key(key("k0")) == []
    assert len(history.recent(10_000)) == reconcile_history._MAX_RECENT
    record = history.start(key("loud"), attempt=1, waited=0.0)
    history.finish(record, "failed", ValueError("x" * 100_000))
    assert len(record.error) == reconcile_history._MAX_ERROR


def test_triggers_that_do_not_fit_are_not_confused_with_calls_of_enqueue():
    history = ReconcileHistory(InstantClock())
    history.note((key(f"k{number}") for number in range(reconcile_history._MAX_TRIGGERS + 1)), Trigger("listed"))
    assert history.start(key("k0"), attempt=1, waited=0.0).snapshot().trigger == "listed"
    last = key(f"k{reconcile_history._MAX_TRIGGERS}")
    assert history.start(last, attempt=1, waited=0.0).snapshot().trigger == "not recorded"


def test_keys_are_found_by_a_part_of_them_the_latest_first():
    history = ReconcileHistory(InstantClock())
    for name in ("web-1", "db-1", "web-2"):
        done(history, name)
    history.start(key("web-3"), attempt=1, waited=0.0)
    assert history.keys_with("web", 5) == [key("web-3"), key("web-2"), key("web-1")]
    assert history.keys_with("web", 1) == [key("web-3")]
