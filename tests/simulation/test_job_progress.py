"""What the pods of a Job mean for it: failure policies, indexes with limits of their own, success policies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from listwatch.models.batch_v1 import Job
from listwatch.models.core_v1 import Pod
from listwatch.simulation.batch.job_indexes_state import FAILURES, IGNORED_FAILURES, INDEX
from listwatch.simulation.batch.job_progress_state import JobProgress
from listwatch.simulation.batch.job_state import TRACKING, Ending, RetryBackoff

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IGNORE_DISRUPTION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
ON_42 = {"containerName": "main", "operator": "In", "values": [42]}


def job(status: dict[str, Any] | None = None, **spec: Any) -> Job:
    body = {"completions": 4, "parallelism": 4, "backoffLimit": 1, **spec, "template": {"spec": {"containers": []}}}
    return Job.from_dict({"metadata": {"name": "job", "namespace": "default"}, "spec": body, "status": status or {}})


def indexed(status: dict[str, Any] | None = None, **spec: Any) -> Job:
    return job(status, completionMode="Indexed", **spec)


def pod(number: int, phase: str, *, code: int = 0, index: int | None = None, failures: int = 0, **more: Any) -> Pod:
    annotations = {} if index is None else {INDEX: str(index), FAILURES: str(failures), **more.pop("annotations", {})}
    metadata = {
        "name": f"pod-{number}",
        "namespace": "default",
        "uid": f"uid-{number}",
        "finalizers": [TRACKING],
        "annotations": annotations,
        "creationTimestamp": "2025-12-31T23:00:00Z",
        **more.pop("metadata", {}),
    }
    terminated = {"exitCode": code, "finishedAt": (NOW - timedelta(seconds=4)).isoformat()}
    statuses = [{"name": "main", "state": {"terminated": terminated}}] if phase in ("Succeeded", "Failed") else []
    status = {"phase": phase, "containerStatuses": statuses, **more}
    return Pod.from_dict({"metadata": metadata, "spec": {}, "status": status})


def progress(of: Job, *pods: Pod, **more: Any) -> JobProgress:
    return JobProgress(of, pods, NOW, **more)


def test_an_exit_code_of_the_failure_policy_fails_the_job_at_once():
    rule = {"action": "FailJob", "onExitCodes": ON_42}
    found = progress(
        job(backoffLimit=10, podFailurePolicy={"rules": [rule]}), pod(0, "Failed", code=42), pod(1, "Running")
    )
    text = "Container main for pod default/pod-0 failed with exit code 42 matching FailJob rule at index 0"
    assert found.ending() == Ending(False, "PodFailurePolicy", text)
    assert found.failed(found.ending()) == 2  # the pod that is left counts as failed


@pytest.mark.parametrize(
    ("rule", "code", "fails"),
    [
        ({"onExitCodes": {**ON_42, "containerName": "other"}}, 42, False),
        ({"onExitCodes": ON_42}, 1, False),
        ({"onExitCodes": {"operator": "NotIn", "values": [1]}}, 42, True),
        ({"onExitCodes": {"operator": "NotIn", "values": [1]}}, 1, False),
    ],
)
def test_a_rule_on_exit_codes_matches_by_container_and_operator(rule: dict[str, Any], code: int, fails: bool):
    found = progress(job(podFailurePolicy={"rules": [{"action": "FailJob", **rule}]}), pod(0, "Failed", code=code))
    assert (found.ending() is not None) == fails


def test_an_ignored_failure_does_not_count():
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    pods = [pod(number, "Failed", code=1, conditions=disrupted) for number in range(3)]
    found = progress(job(podFailurePolicy={"rules": [IGNORE_DISRUPTION]}), *pods)
    assert found.ending() is None
    assert found.failed(None) == 0
    assert found.to_release(None) == pods
    assert found.missing() == 4


def test_failures_beyond_the_limit_fail_the_job():
    found = progress(job({"failed": 1}), pod(0, "Failed", code=1))
    assert found.ending() == Ending(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")


def test_a_counted_pod_is_not_counted_again():
    found = progress(job({"failed": 1}), pod(0, "Failed", code=1), counted={"uid-0"})
    assert found.ending() is None
    assert found.failed(None) == 1


def test_a_deleted_pod_counts_as_failed_unless_the_job_waits_for_its_end():
    deleted = pod(
        0, "Running", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    )
    at_once, later = progress(job(), deleted), progress(job(podReplacementPolicy="Failed"), deleted)
    assert (at_once.failed(None), at_once.missing()) == (1, 4)
    assert (later.failed(None), later.missing()) == (0, 3)


def test_each_index_has_its_own_limit():
    spec = {"backoffLimitPerIndex": 1, "backoffLimit": 100}
    failed = [
        pod(0, "Failed", code=1, index=0, failures=1),
        pod(1, "Failed", code=1, index=1, failures=0),
        pod(2, "Succeeded", index=2),
        pod(3, "Running", index=3),
    ]
    found = progress(indexed(**spec), *failed)
    assert found.failed_indexes == {0}
    assert found.done == {2}
    assert found.ending() is None
    assert found.to_release(None) == [failed[0], failed[2]]  # the other one is kept for its count
    assert found.indexes_to_add(4) == ([], 6.0)
    assert found.failure_counts(1) == {FAILURES: "1"}


def test_a_job_with_failed_indexes_fails_when_all_others_are_done():
    spec = {"backoffLimitPerIndex": 0, "backoffLimit": 100}
    found = progress(indexed({"completedIndexes": "0,2"}, **spec), *(pod(n, "Failed", code=1, index=n) for n in (1, 3)))
    assert found.ending() == Ending(False, "FailedIndexes", "Job has failed indexes")


def test_too_many_failed_indexes_fail_the_job_early():
    spec = {"backoffLimitPerIndex": 0, "backoffLimit": 100, "maxFailedIndexes": 1}
    found = progress(
        indexed({"failedIndexes": "0"}, **spec), pod(3, "Failed", code=1, index=3), pod(1, "Running", index=1)
    )
    text = "Job has exceeded the specified maximal number of failed indexes"
    assert found.ending() == Ending(False, "MaxFailedIndexesExceeded", text)


def test_the_action_fail_index_fails_an_index_before_its_limit():
    rules = [{"action": "FailIndex", "onExitCodes": ON_42}, IGNORE_DISRUPTION]
    spec = {"backoffLimitPerIndex": 5, "backoffLimit": 100, "podFailurePolicy": {"rules": rules}}
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    found = progress(
        indexed(**spec),
        pod(0, "Failed", code=42, index=0),
        pod(1, "Failed", code=1, index=1, conditions=disrupted),
    )
    assert found.failed_indexes == {0}
    assert found.failure_counts(1) == {FAILURES: "0", IGNORED_FAILURES: "1"}


@pytest.mark.parametrize(
    ("rule", "done", "is_met"),
    [
        ({"succeededIndexes": "0-1"}, "0", False),
        ({"succeededIndexes": "0-1"}, "0,1", True),
        ({"succeededIndexes": "0-3", "succeededCount": 2}, "1,3", True),
        ({"succeededIndexes": "0-3", "succeededCount": 3}, "1,3", False),
        ({"succeededCount": 1}, "3", True),
        ({"succeededCount": 2}, "3", False),
    ],
)
def test_a_success_policy_ends_the_job_while_pods_run(rule: dict[str, Any], done: str, is_met: bool):
    found = progress(
        indexed({"completedIndexes": done}, successPolicy={"rules": [{"succeededCount": 4}, rule]}),
        pod(2, "Running", index=2),
    )
    expected = Ending(True, "SuccessPolicy", "Matched rules at index 1") if is_met else None
    assert found.ending() == expected
    assert found.failed(found.ending()) == 0


def test_pods_of_the_same_or_of_no_index_are_removed():
    twins = [pod(number, "Running", index=index) for number, index in enumerate((0, 0, 1, 7))]
    surplus = progress(indexed(), *twins).surplus()
    assert len(surplus) == 2
    assert twins[3] in surplus
    assert twins[2] not in surplus


def test_restarts_in_place_count_if_pods_restart_their_containers():
    spec = job().to_dict() | {}
    spec["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    running = pod(0, "Running", containerStatuses=[{"name": "main", "restartCount": 1}])
    found = progress(Job.from_dict(spec), running).ending()
    assert found is not None
    assert found.reason == "BackoffLimitExceeded"


def test_failures_after_the_last_success_delay_the_next_pod():
    first = RetryBackoff().after([], [NOW])
    second = first.after([], [NOW + timedelta(seconds=20)])
    assert first.delay(NOW) == 10.0
    assert second.delay(NOW + timedelta(seconds=20)) == 20.0
    assert second.after([NOW + timedelta(seconds=30)], []).delay(NOW) == 0.0
    assert second.after([NOW], [NOW + timedelta(seconds=5)]) == RetryBackoff(1, NOW + timedelta(seconds=5))
