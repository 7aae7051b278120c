"""The rules of workload controllers: each violation has the causes that a real API server returns."""

import pytest
from tests.server.broken_objects import (
    LABEL,
    LABEL_VALUE,
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
            ("* 24 * * *", "end of range (24) above maximum (23): 24"),
            ("* * * 13 *", "end of range (13) above maximum (12): 13"),
            ("* * * * 7", "end of range (7) above maximum (6): 7"),
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
    (
        "apps/v1/Deployment",
        {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
        [invalid("spec.template.metadata.labels", None, MISMATCH), required("spec.template.spec.containers")],
    ),
    (
        "apps/v1/Deployment",
        {},
        [
            required("spec.selector"),
            invalid("spec.template.metadata.labels", None, MISMATCH),
            required("spec.template.spec.containers"),
        ],
    ),
    (
        "apps/v1/Deployment",
        {
            "spec": {
                "selector": {"matchLabels": {"a b": "c d"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
            }
        },
        [
            invalid("spec.selector.matchLabels", "a b", NAME_PART),
            invalid("spec.selector.matchLabels", "c d", LABEL_VALUE),
            invalid("spec.selector", {"matchLabels": {"a b": "c d"}}, "invalid label selector"),
        ],
    ),
    (
        "apps/v1/Deployment",
        {
            "spec": {
                "selector": {
                    "matchExpressions": [
                        {"key": "a", "operator": "In"},
                        {"key": "a", "operator": "Exists", "values": ["x"]},
                        {"key": "a", "operator": "Foo"},
                    ]
                },
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
            }
        },
        [
            required(
                "spec.selector.matchExpressions[0].values", "must be specified when `operator` is 'In' or 'NotIn'"
            ),
            forbidden(
                "spec.selector.matchExpressions[1].values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            invalid("spec.selector.matchExpressions[2].operator", "Foo", "not a valid selector operator"),
            invalid(
                "spec.selector",
                {
                    "matchExpressions": [
                        {"key": "a", "operator": "In"},
                        {"key": "a", "operator": "Exists", "values": ["x"]},
                        {"key": "a", "operator": "Foo"},
                    ]
                },
                "invalid label selector",
            ),
        ],
    ),
    (
        "apps/v1/Deployment",
        workload(replicas=-1, minReadySeconds=-1, revisionHistoryLimit=-1, progressDeadlineSeconds=-1),
        [
            invalid("spec.replicas", -1, NEGATIVE),
            invalid("spec.minReadySeconds", -1, NEGATIVE),
            invalid("spec.revisionHistoryLimit", -1, NEGATIVE),
            invalid("spec.progressDeadlineSeconds", -1, NEGATIVE),
            invalid("spec.progressDeadlineSeconds", -1, "must be greater than minReadySeconds"),
        ],
    ),
    (
        "apps/v1/Deployment",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "activeDeadlineSeconds": 3},
                },
            }
        },
        [forbidden("spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in ReplicaSet is not Supported")],
    ),
    (
        "apps/v1/Deployment",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}},
            }
        },
        [required("spec.template.spec.containers")],
    ),
    (
        "apps/v1/Deployment",
        workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        [invalid("spec.strategy.rollingUpdate.maxUnavailable", 0, "may not be 0 when `maxSurge` is 0")],
    ),
    (
        "apps/v1/Deployment",
        workload(strategy={"rollingUpdate": {"maxSurge": "x", "maxUnavailable": -1}}),
        [
            invalid("spec.strategy.rollingUpdate.maxUnavailable", -1, NEGATIVE),
            invalid(
                "spec.strategy.rollingUpdate.maxSurge",
                "x",
                "a valid percent string must be a numeric string followed by an ending '%' "
                "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
            ),
        ],
    ),
    (
        "apps/v1/ReplicaSet",
        {
            "spec": {
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}
            }
        },
        [required("spec.selector"), invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH)],
    ),
    (
        "apps/v1/ReplicaSet",
        {
            "spec": {
                "selector": {},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
            }
        },
        [invalid("spec.selector", {}, "empty selector is invalid for deployment")],
    ),
    (
        "apps/v1/ReplicaSet",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "c"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
                "replicas": -1,
                "minReadySeconds": -1,
            }
        },
        [
            invalid("spec.replicas", -1, NEGATIVE),
            invalid("spec.minReadySeconds", -1, NEGATIVE),
            invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH),
        ],
    ),
    (
        "apps/v1/ReplicaSet",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
            }
        },
        [unsupported("spec.template.spec.restartPolicy", "Never", "Always")],
    ),
    (
        "apps/v1/ReplicaSet",
        {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
        [invalid("spec.template.metadata.labels", None, MISMATCH), required("spec.template.spec.containers")],
    ),
    (
        "apps/v1/StatefulSet",
        {
            "spec": {
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}
            }
        },
        [required("spec.selector"), invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH)],
    ),
    (
        "apps/v1/StatefulSet",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "c"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
                "replicas": -1,
                "podManagementPolicy": "x",
            }
        },
        [
            invalid("spec.podManagementPolicy", "x", "must be 'OrderedReady' or 'Parallel'"),
            invalid("spec.replicas", -1, NEGATIVE),
            invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH),
        ],
    ),
    (
        "apps/v1/StatefulSet",
        workload(updateStrategy={"rollingUpdate": {"partition": -1}}),
        [invalid("spec.updateStrategy.rollingUpdate.partition", -1, NEGATIVE)],
    ),
    (
        "apps/v1/StatefulSet",
        {
            "spec": {
                "selector": {},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
            }
        },
        [
            invalid("spec.selector", {}, "empty selector is invalid for statefulset"),
            unsupported("spec.template.spec.restartPolicy", "Never", "Always"),
        ],
    ),
    (
        "apps/v1/StatefulSet",
        workload(persistentVolumeClaimRetentionPolicy={"whenDeleted": "x", "whenScaled": "y"}),
        [
            unsupported("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "x", "Retain", "Delete"),
            unsupported("spec.persistentVolumeClaimRetentionPolicy.whenScaled", "y", "Retain", "Delete"),
        ],
    ),
    (
        "apps/v1/DaemonSet",
        {
            "spec": {
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}
            }
        },
        [invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH)],
    ),
    (
        "apps/v1/DaemonSet",
        {
            "spec": {
                "selector": {},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
            }
        },
        [invalid("spec.selector", {}, "empty selector is invalid for daemonset")],
    ),
    (
        "apps/v1/DaemonSet",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "c"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}},
                "minReadySeconds": -1,
            }
        },
        [invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH), invalid("spec.minReadySeconds", -1, NEGATIVE)],
    ),
    (
        "apps/v1/DaemonSet",
        {
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
            }
        },
        [unsupported("spec.template.spec.restartPolicy", "Never", "Always")],
    ),
    (
        "apps/v1/DaemonSet",
        workload(updateStrategy={"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}),
        [invalid("spec.updateStrategy.rollingUpdate.maxSurge", 1, "may not be set when maxUnavailable is non-zero")],
    ),
    (
        "v1/ReplicationController",
        {
            "spec": {
                "selector": {"a": "c"},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
            }
        },
        [
            invalid("spec.template.metadata.labels", {"a": "b"}, MISMATCH),
            unsupported("spec.template.spec.restartPolicy", "Never", "Always"),
        ],
    ),
    (
        "batch/v1/Job",
        {},
        [
            required("spec.template.spec.containers"),
            required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'),
        ],
    ),
    (
        "batch/v1/Job",
        {
            "spec": {
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
                "parallelism": -1,
                "completions": -1,
                "backoffLimit": -1,
                "activeDeadlineSeconds": -1,
                "ttlSecondsAfterFinished": -1,
            }
        },
        [
            invalid("spec.parallelism", -1, NEGATIVE),
            invalid("spec.completions", -1, NEGATIVE),
            invalid("spec.activeDeadlineSeconds", -1, NEGATIVE),
            invalid("spec.backoffLimit", -1, NEGATIVE),
            invalid("spec.ttlSecondsAfterFinished", -1, NEGATIVE),
        ],
    ),
    (
        "batch/v1/Job",
        {
            "spec": {
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Foo"},
                }
            }
        },
        [
            unsupported("spec.template.spec.restartPolicy", "Foo", "Always", "OnFailure", "Never"),
            unsupported("spec.template.spec.restartPolicy", "Foo", "OnFailure", "Never"),
        ],
    ),
    (
        "batch/v1/Job",
        {
            "spec": {
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
                "completionMode": "x",
            }
        },
        [unsupported("spec.completionMode", "x", "NonIndexed", "Indexed")],
    ),
    (
        "batch/v1/Job",
        {
            "spec": {
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                },
                "completionMode": "Indexed",
                "completions": None,
                "parallelism": 1,
            }
        },
        [required("spec.completions", "when completion mode is Indexed")],
    ),
    (
        "batch/v1/CronJob",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {
                        "template": {
                            "metadata": {"labels": {"a": "b"}},
                            "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                        }
                    }
                },
                "concurrencyPolicy": "x",
                "startingDeadlineSeconds": -1,
                "successfulJobsHistoryLimit": -1,
                "failedJobsHistoryLimit": -1,
            }
        },
        [
            invalid("spec.startingDeadlineSeconds", -1, NEGATIVE),
            unsupported("spec.concurrencyPolicy", "x", "Allow", "Forbid", "Replace"),
            invalid("spec.successfulJobsHistoryLimit", -1, NEGATIVE),
            invalid("spec.failedJobsHistoryLimit", -1, NEGATIVE),
        ],
    ),
    (
        "batch/v1/CronJob",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {
                        "template": {
                            "metadata": {"labels": {"a": "b"}},
                            "spec": {"containers": [{"name": "a", "image": "x"}]},
                        }
                    }
                },
            }
        },
        [required("spec.jobTemplate.spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')],
    ),
    (
        "batch/v1/CronJob",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {
                        "template": {
                            "metadata": {"labels": {"a": "b"}},
                            "spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"},
                        },
                        "selector": {"matchLabels": {"a": "b"}},
                    }
                },
            }
        },
        [invalid("spec.jobTemplate.spec.selector", {"matchLabels": {"a": "b"}}, "`selector` will be auto-generated")],
    ),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), WORKLOADS)
def test_an_invalid_workload_is_rejected_with_the_causes_of_a_real_server(kind, fields, expected):
    check(kind, fields, expected)
