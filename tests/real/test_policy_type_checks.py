"""The warnings of the embedded server about the types in policies, beside those of kube-controller-manager."""

from typing import Any

import pytest

import listwatch as lw
from listwatch.errors import ConfigError
from listwatch.server import APIServer
from listwatch.testing import ControlPlane, ControlPlaneBinaries, RealAPIServer

CONTROLLER = "validatingadmissionpolicy-status-controller"
TRIES = 2000
FIELDS = {
    "replicas": {"type": "integer"},
    "port": {"x-kubernetes-int-or-string": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "at": {"type": "string", "format": "date-time"},
    "for": {"type": "string"},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
}
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "properties": FIELDS}}}
DEFINITION = {
    "metadata": {"name": "crontabs.stable.example.com"},
    "spec": {
        "group": "stable.example.com",
        "scope": "Namespaced",
        "names": {"plural": "crontabs", "kind": "CronTab"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}
CORE = ["configmaps", "daemonsets", "deployments", "endpoints", "events", "limitranges", "namespaces", "nodes", "pods"]
CORE += ["secrets", "services"]

Policy = tuple[str, list[str], list[str], dict[str, Any]]
POLICIES: dict[str, Policy] = {
    "correct": ("apps", ["deployments"], ["object.spec.replicas > 1"], {}),
    "confused": ("apps", ["deployments"], ["object.spec.replicas > '1'", "has(object.spec.nope)"], {}),
    "several": ("apps", ["deployments", "replicasets"], ["object.spec.nope == 1"], {}),
    "old": ("", ["pods"], ["oldObject.spec.nope == 1 && object.metadata.labels.a == 1"], {}),
    "ports": (
        "",
        ["services"],
        ["object.spec.ports[0].targetPort == 1", "object.spec.ports.all(p, p.port == 'x')"],
        {},
    ),
    "quantities": ("", ["pods"], ["object.spec.containers.all(c, c.resources.limits['cpu'] == 'x')"], {}),
    "times": ("", ["pods"], ["object.metadata.creationTimestamp == 'x'"], {}),
    "bytes": ("", ["secrets"], ["object.data['a'] == 'x'", "object.data.a == b'x'"], {}),
    "params": (
        "",
        ["pods"],
        ["params.data.x == 1 && params.nope == 'x'"],
        {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}},
    ),
    "unknown-params": (
        "",
        ["pods"],
        ["params.data.x == 1"],
        {"paramKind": {"apiVersion": "x.example.com/v1", "kind": "Foo"}},
    ),
    "variables": (
        "apps",
        ["deployments"],
        ["variables.replicas > 'x'", "variables.broken == 1"],
        {
            "variables": [
                {"name": "replicas", "expression": "object.spec.replicas"},
                {"name": "broken", "expression": "object.spec.nope"},
            ]
        },
    ),
    "wildcard": ("*", ["deployments"], ["object.nope == 1"], {}),
    "subresource": ("apps", ["deployments/scale"], ["object.nope == 1"], {}),
    "unknown": ("apps", ["nothings"], ["object.nope == 1"], {}),
    "custom": (
        "stable.example.com",
        ["crontabs"],
        [
            "object.spec.replicas > '1'",
            "object.spec.missing < 10",
            "object.spec.port == 'a' && object.spec.port == 1",
            "object.spec.any.x == 1",
            "object.spec.free.x == 1",
            "object.spec.at == 'x'",
            "object.spec.__for__ == 1",
            "object.spec.map.x == 1",
            "object.metadata.labels.x == 1",
        ],
        {},
    ),
    "recursive": (
        "apiextensions.k8s.io",
        ["customresourcedefinitions"],
        ["object.spec.versions.all(v, v.nope)"],
        {},
    ),
    "many": ("", CORE, ["object.nope == 1"], {}),
    "lines": (
        "apps",
        ["deployments"],
        ["object.spec.replicas > 0 &&\n  object.spec.x == 'x' && object.spec.y == 2"],
        {},
    ),
}


async def create_policies(client: lw.ClientSet) -> None:
    definitions = client.apiextensions_v1.customresourcedefinitions()
    await definitions.create(DEFINITION)
    await lw.wait_for(definitions, "crontabs.stable.example.com", "condition=Established")
    await wait_until_published(client)
    policies = client.admissionregistration_v1.validatingadmissionpolicies()
    for name, (group, resources, expressions, more) in POLICIES.items():
        rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": resources}
        validations = [{"expression": each, "messageExpression": f"string({each})"} for each in expressions]
        spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": validations, **more}
        await policies.create({"metadata": {"name": name}, "spec": spec})


async def wait_until_published(client: lw.ClientSet) -> None:
    """Wait for the schema of the definition, which kube-apiserver publishes later than its resource."""
    path = "/openapi/v3/apis/stable.example.com/v1"
    for _ in range(TRIES):
        try:
            if b'"CronTab"' in (await client.rest.get().abs_path(path).do()).raw:
                return
        except lw.errors.NotFoundError:
            continue
    raise AssertionError("the server has not published the schema")


async def checked_policies(client: lw.ClientSet) -> dict[str, Any]:
    """The status of all policies, when all of them have been checked."""
    found: dict[str, Any] = {}
    policies = client.admissionregistration_v1.validatingadmissionpolicies()
    async for event in policies.watch():
        tree = event.object.to_dict()
        if "typeChecking" in tree.get("status", {}):
            found[event.object.name] = tree["status"]
        if len(found) == len(POLICIES):
            return found
    raise AssertionError("the watch ended")


async def test_the_warnings_are_those_of_kube_controller_manager():
    try:
        ControlPlaneBinaries.find()
    except ConfigError as error:
        pytest.skip(str(error))
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await create_policies(client)
        embedded = await checked_policies(client)
    async with RealAPIServer() as server, lw.ClientSet(server.config) as client:
        await create_policies(client)
        async with ControlPlane(server, scheduler=False, flags=[f"--controllers={CONTROLLER}"]):
            real = await checked_policies(client)
    assert embedded == real
