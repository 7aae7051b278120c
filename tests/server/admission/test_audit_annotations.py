"""Audit annotations: what Pod Security, policies and webhooks add to the log of requests."""

import json
from typing import Any

from aiohttp import web

import listwatch as lw
from listwatch.server import APIServer

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


async def review(request: web.Request) -> web.Response:
    uid = (await request.json())["request"]["uid"]
    response = {"uid": uid, "allowed": True, "auditAnnotations": {"seen": "yes"}}
    return web.json_response({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})


async def test_plugins_annotate_the_log_of_requests():
    app = web.Application()
    app.router.add_post("/", review)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with APIServer(webhook_services={"default/hooks": url}) as server, lw.ClientSet(server.config) as client:
        await _configure(client)
        pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
        await client.core_v1.pods("default").create(pod)
        [request] = server.requests.matching(resource="pods", verb="create")
        annotations = dict(request.audit_annotations)
    await runner.cleanup()
    [failure] = json.loads(annotations.pop("validation.policy.admission.k8s.io/validation_failure"))
    assert failure == {
        "message": "no",
        "policy": "audited",
        "binding": "audited",
        "expressionIndex": 1,
        "validationActions": ["Audit"],
    }
    violations = annotations.pop("pod-security.kubernetes.io/audit-violations")
    assert violations.startswith('would violate PodSecurity "restricted:v1.20": allowPrivilegeEscalation != false')
    assert annotations == {
        "pod-security.kubernetes.io/enforce-policy": "baseline:latest",
        "hook.example.com/seen": "yes",
        "audited/name": "pod a",
    }


async def _configure(client: lw.ClientSet) -> None:
    prefix = "pod-security.kubernetes.io/"
    levels = {f"{prefix}enforce": "baseline", f"{prefix}audit": "restricted", f"{prefix}audit-version": "v1.20"}
    await client.core_v1.namespaces().patch("default", {"metadata": {"labels": levels}}, type="merge")
    group = client.admissionregistration_v1
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "true"}, {"expression": "false", "message": "no"}],
        "auditAnnotations": [{"key": "name", "valueExpression": "'pod ' + object.metadata.name"}],
    }
    await group.validatingadmissionpolicies().create({"metadata": {"name": "audited"}, "spec": spec})
    binding = {"policyName": "audited", "validationActions": ["Audit"]}
    await group.validatingadmissionpolicybindings().create({"metadata": {"name": "audited"}, "spec": binding})
    webhook = {
        "name": "hook.example.com",
        "clientConfig": {"service": {"namespace": "default", "name": "hooks"}},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    await group.validatingwebhookconfigurations().create({"metadata": {"name": "hook"}, "webhooks": [webhook]})
