"""Rules for Job and CronJob. `pods` has those for their templates, `controllers` those for selectors."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.json_value import JSONObject
from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import object_at, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    all_updates,
    at,
    field_path,
    immutable,
    not_negative,
    one_of,
)
from listwatch.server.rules.workloads.controllers import template_selector
from listwatch.server.rules.workloads.pods import POD_TEMPLATE

__all__ = ["CRON_JOB", "JOB", "JOB_STATUS", "NEW_JOB", "job_update"]

_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


def _restart_policy(spec: JSONObject, path: str) -> Causes:
    policy, field = value_at(spec, "template", "spec", "restartPolicy"), f"{path}.template.spec.restartPolicy"
    if policy in (None, "Always"):
        yield required(field, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(field, policy, ("OnFailure", "Never"))


def _indexed_completions(spec: JSONObject, path: str) -> Causes:
    if spec.get("completionMode") == "Indexed" and "completions" not in spec:
        yield required(f"{path}.completions", "when completion mode is Indexed")


_JOB_SPEC = all_of(
    not_negative("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    at("completionMode", one_of("NonIndexed", "Indexed")),
    _indexed_completions,
    at("template", POD_TEMPLATE),
    _restart_policy,
)


def _generated_selector(job: JSONObject, path: str) -> Causes:
    selected = object_at(job, "spec", "selector", "matchLabels")
    uid = value_at(job, "metadata", "uid")
    if not value_at(job, "spec", "manualSelector") and selected and selected != {_CONTROLLER_UID: uid}:
        field = field_path(path, "spec.selector")
        yield invalid(field, value_at(job, "spec", "selector"), "`selector` not auto-generated")


JOB = at("spec", _JOB_SPEC, template_selector("job"))
JOB_STATUS = at("status", not_negative("active", "succeeded", "failed", "ready", "terminating"))
NEW_JOB = _generated_selector


def _no_selector(spec: JSONObject, path: str) -> Causes:
    if (value := spec.get("selector")) is not None:
        yield invalid(f"{path}.selector", value, "`selector` will be auto-generated")


def _schedule(spec: JSONObject, path: str) -> Causes:
    text = text_at(spec, "schedule")
    if not text:
        yield required(f"{path}.schedule")
    else:
        yield from (invalid(f"{path}.schedule", text, detail) for detail in _cron_schedule(text))


CRON_JOB = at(
    "spec",
    _schedule,
    not_negative("startingDeadlineSeconds"),
    at("concurrencyPolicy", one_of("Allow", "Forbid", "Replace")),
    at("jobTemplate.spec", _JOB_SPEC, _no_selector),
    not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
)


def _suspended_or_same_template(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """The template may change while the job is suspended and has not started."""
    is_waiting = value_at(old, "spec", "suspend") and not value_at(old, "status", "startTime")
    if not is_waiting:
        yield from immutable("spec.template")(new, old, path)


def _completions(new: JSONObject, old: JSONObject, path: str) -> Causes:
    spec = new["spec"]
    is_indexed = value_at(spec, "completionMode") == "Indexed"
    # An indexed job may be resized if completions and parallelism stay equal.
    if not is_indexed or value_at(spec, "completions") != value_at(spec, "parallelism"):
        yield from immutable("spec.completions")(new, old, path)


job_update = all_updates(
    _completions,
    immutable("spec.selector"),
    _suspended_or_same_template,
    immutable("spec.completionMode"),
    immutable("spec.podFailurePolicy"),
    immutable("spec.backoffLimitPerIndex"),
    immutable("spec.managedBy"),
    immutable("spec.successPolicy"),
)


# --- cron schedules --------------------------------------------------------------------------------------------------

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAYS = "sun mon tue wed thu fri sat"
# The range of each field, and the names of its values.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS.split(), start=1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS.split())}),
)
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


class _ScheduleError(Exception):
    """A schedule is invalid; the message is the detail of the cause."""


def _cron_schedule(text: str) -> Iterator[str]:
    """The format of a schedule: five fields, or a descriptor such as `@daily`."""
    if "TZ" in text:
        yield "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        return
    try:
        _check_schedule(text)
    except _ScheduleError as error:
        yield str(error)


def _check_schedule(text: str) -> None:
    if text.startswith("@"):
        if text not in _DESCRIPTORS and not text.startswith("@every "):
            raise _ScheduleError(f"unrecognized descriptor: {text}")
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise _ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, (low, high, names) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            _check_range(part, low, high, names)


def _check_range(part: str, low: int, high: int, names: dict[str, int]) -> None:
    """Check one of `*`, `5`, `1-5`, `*/2`, `1-5/2`, `mon-fri`."""
    span, *steps = part.split("/")
    first, *last = span.split("-")
    if len(last) > 1:
        raise _ScheduleError(f"too many hyphens: {part}")
    if len(steps) > 1:
        raise _ScheduleError(f"too many slashes: {part}")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, names)
        end = _number(last[0], names) if last else high if steps else start
    step = _number(steps[0], {}) if steps else 1
    if start < low:
        raise _ScheduleError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise _ScheduleError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise _ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise _ScheduleError(f"step of range should be a positive number: {part}")


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
