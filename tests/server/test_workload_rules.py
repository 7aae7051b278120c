"""The rules for kinds that make pods, each by what the real server answers when it is broken."""

import pytest
from tests.server.broken_objects import (
    LABEL,
    MISMATCH,
    NAME_PART,
    NEGATIVE,
    SELECTOR,
    check,
    cron_job,
    forbidden,
    invalid,
    job,
    required,
    template,
    unsupported,
    workload,
)

WORKLOADS = [
    (
        "apps/v1/Deployment",
        {"spec": {"template": template()}},
        [
            required("spec.selector"),
            invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH),
        ],
    ),
    (
        "apps/v1/Deployment",
        workload(selector={}),
        [invalid("spec.selector", {}, "empty selector is invalid for deployment")],
    ),
    (
        "apps/v1/Deployment",
        workload(selector={"matchLabels": {"a": "c"}}),
        [invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH)],
    ),
    (
        "apps/v1/Deployment",
        workload(selector={"matchLabels": {"a b": "c"}}),
        [
            invalid("spec.selector.matchLabels", "a b", NAME_PART),
            invalid("spec.selector", {"matchLabels": {"a b": "c"}}, "invalid label selector"),
        ],
    ),
    ("apps/v1/Deployment", workload(replicas=-1), [invalid("spec.replicas", -1, NEGATIVE)]),
    (
        "apps/v1/Deployment",
        workload(minReadySeconds=600),
        [invalid("spec.progressDeadlineSeconds", 600, "must be greater than minReadySeconds")],
    ),
    (
        "apps/v1/Deployment",
        workload(template=template(restartPolicy="Never")),
        [unsupported("spec.template.spec.restartPolicy", "Never", "Always")],
    ),
    (
        "apps/v1/Deployment",
        workload(strategy={"type": "Recreate", "rollingUpdate": {}}),
        [
            forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"),
        ],
    ),
    (
        "apps/v1/Deployment",
        workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
        [
            invalid("spec.strategy.rollingUpdate.maxUnavailable", "0%", "may not be 0 when `maxSurge` is 0"),
        ],
    ),
    (
        "apps/v1/Deployment",
        workload(strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
        [
            invalid("spec.strategy.rollingUpdate.maxUnavailable", "101%", "must not be greater than 100%"),
        ],
    ),
    (
        "apps/v1/ReplicaSet",
        workload(selector={"matchLabels": {"a": "c"}}),
        [invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH)],
    ),
    (
        "apps/v1/StatefulSet",
        workload(podManagementPolicy="x"),
        [invalid("spec.podManagementPolicy", "x", "must be 'OrderedReady' or 'Parallel'")],
    ),
    ("apps/v1/StatefulSet", workload(serviceName="A"), [invalid("spec.serviceName", "A", LABEL)]),
    (
        "apps/v1/DaemonSet",
        workload(updateStrategy={"rollingUpdate": {"maxUnavailable": 0}}),
        [
            required("spec.updateStrategy.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0"),
        ],
    ),
    (
        "v1/ReplicationController",
        {"spec": {"replicas": -1}},
        [
            required("spec.selector"),
            invalid("spec.replicas", -1, NEGATIVE),
            required("spec.template"),
        ],
    ),
    (
        "batch/v1/Job",
        job(template=template()),
        [required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')],
    ),
    ("batch/v1/Job", job(completions=-1), [invalid("spec.completions", -1, NEGATIVE)]),
    (
        "batch/v1/Job",
        job(manualSelector=True),
        [
            required("spec.selector"),
            invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH),
        ],
    ),
    (
        "batch/v1/Job",
        job(selector=SELECTOR),
        [
            invalid(
                "spec.selector",
                {"matchLabels": {"a": "b", "batch.kubernetes.io/controller-uid": "u"}},
                "`selector` not auto-generated",
            ),
        ],
    ),
    (
        "batch/v1/Job",
        job(completionMode="Indexed", parallelism=1),
        [required("spec.completions", "when completion mode is Indexed")],
    ),
    ("batch/v1/CronJob", cron_job(schedule=""), [required("spec.schedule")]),
    *(
        ("batch/v1/CronJob", cron_job(schedule=text), [invalid("spec.schedule", text, detail)])
        for text, detail in (
            ("x", "expected exactly 5 fields, found 1: [x]"),
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("@foo", "unrecognized descriptor: @foo"),
            ("TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
        )
    ),
    (
        "batch/v1/CronJob",
        cron_job(concurrencyPolicy="x"),
        [unsupported("spec.concurrencyPolicy", "x", "Allow", "Forbid", "Replace")],
    ),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), WORKLOADS)
def test_workloads_keep_their_rules(kind, fields, expected):
    check(kind, fields, expected)
