"""Bindings, admission and certificates, priorities and devices in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import LONG_AGO, LONG_SELECTOR, Sample, Tree, cluster, local

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
SUBJECTS = [
    {"kind": "User", "name": "u1", "apiGroup": RBAC},
    {"kind": "Group", "name": "g1", "apiGroup": RBAC},
    {"kind": "ServiceAccount", "name": "s1", "namespace": "n1"},
    {"kind": "User", "name": "u2", "apiGroup": RBAC},
]
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
NEVER = {"resourceRules": [{**RULE, "resourceNames": ["never"]}]}
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": '[JSONPatch{op: "remove", path: "/a"}]'}}


def webhook(name: str) -> Tree:
    return {
        "name": name,
        "clientConfig": {"url": "https://example.com/a"},
        "rules": [{**RULE, "resources": ["nothing"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
    }


def policy_bindings(version: str, plural: str, **more: Any) -> list[Sample]:
    references: dict[str, Tree] = {
        "table-plain": {},
        "table-named": {"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}},
        "table-local": {"paramRef": {"name": "p", "namespace": "n", "parameterNotFoundAction": "Allow"}},
        "table-selected": {"paramRef": {"selector": LONG_SELECTOR, "parameterNotFoundAction": "Allow"}},
        "table-everything": {"paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"}},
    }
    return [
        cluster(f"{ADMISSION}/{version}", plural, name, spec={"policyName": "table-missing", **spec, **more})
        for name, spec in references.items()
    ]


ACCESS = [
    local(f"{RBAC}/v1", "roles", "a", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    cluster(f"{RBAC}/v1", "clusterroles", "table-a", rules=[]),
    local(
        f"{RBAC}/v1", "rolebindings", "a", subjects=SUBJECTS, roleRef={"kind": "Role", "name": "a", "apiGroup": RBAC}
    ),
    local(f"{RBAC}/v1", "rolebindings", "none", roleRef={"kind": "ClusterRole", "name": "a", "apiGroup": RBAC}),
    cluster(
        f"{RBAC}/v1",
        "clusterrolebindings",
        "table-a",
        subjects=SUBJECTS,
        roleRef={"kind": "ClusterRole", "name": "a", "apiGroup": RBAC},
    ),
    cluster(f"{ADMISSION}/v1", "mutatingwebhookconfigurations", "table-none"),
    cluster(
        f"{ADMISSION}/v1",
        "validatingwebhookconfigurations",
        "table-two",
        webhooks=[webhook("a.example.com"), webhook("b.example.com")],
    ),
    cluster(
        f"{ADMISSION}/v1",
        "validatingadmissionpolicies",
        "table-a",
        spec={"matchConstraints": NEVER, "validations": [{"expression": "true"}, {"expression": "false"}]},
    ),
    cluster(
        f"{ADMISSION}/v1",
        "validatingadmissionpolicies",
        "table-param",
        spec={
            "matchConstraints": NEVER,
            "validations": [{"expression": "true"}],
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        },
    ),
    cluster(
        f"{ADMISSION}/v1",
        "mutatingadmissionpolicies",
        "table-a",
        spec={
            "matchConstraints": NEVER,
            "mutations": [MUTATION],
            "reinvocationPolicy": "Never",
            "failurePolicy": "Fail",
        },
    ),
    *policy_bindings("v1", "validatingadmissionpolicybindings", validationActions=["Deny"]),
    *policy_bindings("v1", "mutatingadmissionpolicybindings"),
    *(
        cluster(
            "certificates.k8s.io/v1beta1",
            "clustertrustbundles",
            name,
            spec={**signer, "trustBundle": "{certificate}"},
        )
        for name, signer in (("table-a", {}), ("example.com:signer:table", {"signerName": "example.com/signer"}))
    ),
    *(
        cluster(
            "certificates.k8s.io/v1",
            "certificatesigningrequests",
            f"table-{name}",
            spec={"request": "{request}", "signerName": "example.com/signer", "usages": ["client auth"], **spec},
        )
        for name, spec in (("a", {}), ("short", {"expirationSeconds": 3600}), ("long", {"expirationSeconds": 864000}))
    ),
]

CLAIM = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a.example.com"}}]}}
ALLOCATION = {
    "allocation": {
        "devices": {"results": [{"request": "a", "driver": "a.example.com", "pool": "p", "device": "d"}]},
    }
}
RESERVED = {"reservedFor": [{"resource": "pods", "name": "web", "uid": "1"}]}

SCHEDULING = [
    cluster("scheduling.k8s.io/v1", "priorityclasses", "table-a", value=-5),
    cluster(
        "scheduling.k8s.io/v1", "priorityclasses", "table-never", value=5, preemptionPolicy="Never", description="d"
    ),
    cluster("resource.k8s.io/v1", "deviceclasses", "table-a", spec={}),
    local("resource.k8s.io/v1", "resourceclaims", "pending", spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "allocated", ALLOCATION, spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "reserved", {**ALLOCATION, **RESERVED}, spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "deleted", spec=CLAIM, deleted=True),
    local("resource.k8s.io/v1", "resourceclaims", "deleted-allocated", ALLOCATION, spec=CLAIM, deleted=True),
    local("resource.k8s.io/v1", "resourceclaimtemplates", "a", spec={"spec": CLAIM}),
    cluster(
        "resource.k8s.io/v1",
        "resourceslices",
        "table-a",
        spec={
            "driver": "a.example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        },
    ),
    cluster(
        "resource.k8s.io/v1",
        "resourceslices",
        "table-all",
        spec={
            "driver": "a.example.com",
            "allNodes": True,
            "pool": {"name": "q", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        },
    ),
    cluster(
        "resource.k8s.io/v1beta2",
        "devicetaintrules",
        "table-a",
        spec={"taint": {"key": "example.com/a", "value": "v", "effect": "NoSchedule", "timeAdded": LONG_AGO}},
    ),
    cluster(
        "resource.k8s.io/v1beta2",
        "devicetaintrules",
        "table-b",
        spec={"taint": {"key": "example.com/a", "effect": "NoExecute"}},
    ),
]
