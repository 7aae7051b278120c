"""What the server finds wrong with the types in policies. `tests/real` compares it with kube-controller-manager."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import listwatch as lw
from listwatch.server import APIServer

Tree = dict[str, Any]


@pytest.fixture
async def client() -> AsyncIterator[lw.ClientSet]:
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        yield client


async def status(client: lw.ClientSet, *validations: Tree, resources: str = "deployments") -> Tree:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resources]}
    policies = client.admissionregistration_v1.validatingadmissionpolicies()
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [*validations]}
    await policies.create({"metadata": {"name": "checked"}, "spec": spec})
    found: Tree = (await policies.get("checked")).to_dict()["status"]
    return found


async def test_a_correct_policy_has_no_warnings(client: lw.ClientSet):
    found = await status(client, {"expression": "object.spec.replicas > 1"})
    assert found == {"observedGeneration": 1, "typeChecking": {}}


async def test_each_wrong_expression_has_a_warning(client: lw.ClientSet):
    found = await status(
        client,
        {"expression": "object.spec.replicas > '1'", "messageExpression": "'got ' + object.spec.replicas"},
        {"expression": "object.spec.missing == 1"},
    )
    first, second, third = found["typeChecking"]["expressionWarnings"]
    assert first == {
        "fieldRef": "spec.validations[0].expression",
        "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to "
        "'(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
    }
    assert second["fieldRef"] == "spec.validations[0].messageExpression"
    assert "'_+_' applied to '(string, int)'" in second["warning"]
    assert third["fieldRef"] == "spec.validations[1].expression"
    assert "undefined field 'missing'" in third["warning"]


async def test_a_changed_policy_is_checked_again(client: lw.ClientSet):
    await status(client, {"expression": "object.spec.missing == 1"})
    policies = client.admissionregistration_v1.validatingadmissionpolicies()
    await policies.patch("checked", {"spec": {"validations": [{"expression": "object.spec.replicas == 1"}]}})
    # An applied status without warnings removes the field, also on a real cluster.
    assert (await policies.get("checked")).to_dict()["status"] == {"observedGeneration": 2}


async def test_the_check_can_be_disabled():
    options = ["*", "-validatingadmissionpolicy-status-controller"]
    async with APIServer(controllers=options) as server, lw.ClientSet(server.config) as client:
        assert await status(client, {"expression": "object.spec.missing == 1"}) == {}
