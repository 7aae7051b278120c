"""The rules for work that ends: Job and CronJob. `pods` has those for their pods, `workloads` those for selectors."""

from __future__ import annotations

from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import Tree, child
from listwatch.server.rules.checks import Causes, all_changes, all_of, at, at_least, immutable, inside, one_of
from listwatch.server.rules.workloads.cron import cron_schedule
from listwatch.server.rules.workloads.pods import POD_TEMPLATE
from listwatch.server.rules.workloads.workloads import template_selector

__all__ = ["CRON_JOB", "JOB", "NEW_JOB", "job_change"]

_NOT_NEGATIVE = at_least(0)
_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


def _comes_to_an_end(spec: Tree, path: str) -> Causes:
    policy, where = child(spec, "template", "spec", "restartPolicy"), f"{path}.template.spec.restartPolicy"
    if policy in (None, "Always"):
        yield required(where, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(where, policy, ("OnFailure", "Never"))


def _counted_indexes(spec: Tree, path: str) -> Causes:
    if spec.get("completionMode") == "Indexed" and "completions" not in spec:
        yield required(f"{path}.completions", "when completion mode is Indexed")


_JOB_SPEC = all_of(
    *(
        at(name, _NOT_NEGATIVE)
        for name in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    ),
    at("completionMode", one_of("NonIndexed", "Indexed")),
    _counted_indexes,
    at("template", POD_TEMPLATE),
    _comes_to_an_end,
)


def _own_selector(job: Tree, path: str) -> Causes:
    selected = child(job, "spec", "selector", "matchLabels") or {}
    uid = child(job, "metadata", "uid")
    if not child(job, "spec", "manualSelector") and selected and selected != {_CONTROLLER_UID: uid}:
        where = inside(path, "spec.selector")
        yield invalid(where, child(job, "spec", "selector"), "`selector` not auto-generated")


JOB = at("spec", _JOB_SPEC, template_selector("job"))
NEW_JOB = _own_selector


def _no_selector(spec: Tree, path: str) -> Causes:
    if (value := spec.get("selector")) is not None:
        yield invalid(f"{path}.selector", value, "`selector` will be auto-generated")


def _schedule(spec: Tree, path: str) -> Causes:
    text = spec.get("schedule")
    if not text:
        yield required(f"{path}.schedule")
    else:
        yield from (invalid(f"{path}.schedule", text, said) for said in cron_schedule(text))


CRON_JOB = at(
    "spec",
    _schedule,
    at("startingDeadlineSeconds", _NOT_NEGATIVE),
    at("concurrencyPolicy", one_of("Allow", "Forbid", "Replace")),
    at("jobTemplate.spec", _JOB_SPEC, _no_selector),
    at("successfulJobsHistoryLimit", _NOT_NEGATIVE),
    at("failedJobsHistoryLimit", _NOT_NEGATIVE),
)


def _suspended_or_same_template(new: Tree, old: Tree, path: str) -> Causes:
    """Where the pods run may still be said while none was started."""
    waits = child(old, "spec", "suspend") and not child(old, "status", "startTime")
    if not waits:
        yield from immutable("spec.template")(new, old, path)


def _completions(new: Tree, old: Tree, path: str) -> Causes:
    spec = new["spec"]
    grows_with_parallelism = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    if not grows_with_parallelism:
        yield from immutable("spec.completions")(new, old, path)


job_change = all_changes(
    _completions,
    immutable("spec.selector"),
    _suspended_or_same_template,
    immutable("spec.completionMode"),
    immutable("spec.podFailurePolicy"),
    immutable("spec.backoffLimitPerIndex"),
    immutable("spec.managedBy"),
    immutable("spec.successPolicy"),
)
