"""The policies of a Job: what the failure of a pod means, and which successes are enough. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from listwatch.models.batch_v1 import Job, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule
from listwatch.models.core_v1 import ContainerStatus, Pod
from listwatch.simulation.batch.job_indexes_state import parse_indexes

__all__ = ["FailureVerdict", "failure_verdict", "is_failed", "only_replaces_failed", "success_message"]

Action = Literal["Count", "Ignore", "FailIndex", "FailJob"]


@dataclass(frozen=True, slots=True)
class FailureVerdict:
    """What the failure of a pod means for its Job."""

    action: Action = "Count"
    message: str = ""
    """Why the Job fails, for `FailJob`."""

    @property
    def counts(self) -> bool:
        """Whether it counts towards the backoff limit."""
        return self.action != "Ignore"


def only_replaces_failed(job: Job) -> bool:
    """Whether pods that are terminating are replaced, and counted, only when they have failed."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def is_failed(job: Job, pod: Pod) -> bool:
    """Whether a pod counts as failed: a deleted one does, unless the Job waits for its end."""
    if pod.status.phase == "Failed":
        return True
    is_deleted = pod.metadata.deletion_timestamp is not None
    return is_deleted and pod.status.phase != "Succeeded" and not only_replaces_failed(job)


def failure_verdict(job: Job, pod: Pod) -> FailureVerdict:
    """What the first matching rule of the pod failure policy says about a failed pod."""
    policy = job.spec.pod_failure_policy
    for number, rule in enumerate(policy.rules if policy else ()):
        if (matched := _match(rule, pod)) is None:
            continue
        action = _action(rule.action)
        if action != "FailJob":
            return FailureVerdict(action)
        return FailureVerdict(action, f"{matched} matching FailJob rule at index {number}")
    return FailureVerdict()


def _action(text: str) -> Action:
    match text:
        case "Ignore" | "FailIndex" | "FailJob":
            return text
    return "Count"


def _match(rule: PodFailurePolicyRule, pod: Pod) -> str | None:
    """What of the pod matches the rule, as messages say it."""
    name = f"{pod.namespace}/{pod.name}"
    if rule.on_exit_codes is not None:
        statuses = [*pod.status.container_statuses, *pod.status.init_container_statuses]
        if (found := _exit_code(statuses, rule.on_exit_codes)) is None:
            return None
        return f"Container {found[0]} for pod {name} failed with exit code {found[1]}"
    patterns = {(each.type, each.status or "True") for each in rule.on_pod_conditions}
    for condition in pod.status.conditions:
        if (condition.type, condition.status) in patterns:
            return f"Pod {name} has condition {condition.type}"
    return None


def _exit_code(
    statuses: Iterable[ContainerStatus], required: PodFailurePolicyOnExitCodesRequirement
) -> tuple[str, int] | None:
    for each in statuses:
        terminated = each.state.terminated
        if terminated is None or not terminated.exit_code or required.container_name not in (None, each.name):
            continue
        if (terminated.exit_code in required.values) == (required.operator == "In"):
            return each.name, terminated.exit_code
    return None


def success_message(job: Job, done: Collection[int]) -> str:
    """Which rule of the success policy the succeeded indexes meet; empty if none."""
    policy = job.spec.success_policy
    for number, rule in enumerate(policy.rules if policy and done else ()):
        if rule.succeeded_indexes is not None:
            required = parse_indexes(rule.succeeded_indexes, below=job.spec.completions)
            count = len(required & {*done})
            is_met = bool(required) and (
                count == len(required) or (rule.succeeded_count is not None and count >= rule.succeeded_count)
            )
        else:
            is_met = rule.succeeded_count is not None and len(done) >= rule.succeeded_count
        if is_met:
            return f"Matched rules at index {number}"
    return ""
