"""Subresources: scale, binding, eviction, tokens and others."""

from typing import Any

import pytest
from tests.contract.client.samples import APP, deployment, pod

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import ConflictError, InvalidError, NotFoundError, TooManyRequestsError
from listwatch.models.apps_v1 import Deployment
from listwatch.models.authentication_v1 import SelfSubjectReview
from listwatch.models.core_v1 import Pod

# --- scale -----------------------------------------------------------------------------------------------------------


async def test_a_scale_is_read_and_replaced(deployments: ResourceClient[Deployment]):
    await deployments.create(deployment("web", replicas=2))
    scale = await deployments.get_scale("web")
    assert (scale.kind, scale.name, scale.spec.replicas, scale.status.selector) == ("Scale", "web", 2, "app=web")
    scale.spec.replicas = 4
    assert (await deployments.update_scale("web", scale, dry_run=True)).spec.replicas == 4
    assert (await deployments.get("web")).spec.replicas == 2
    assert (await deployments.update_scale("web", scale)).spec.replicas == 4
    assert (await deployments.get("web")).spec.replicas == 4
    with pytest.raises(ConflictError):
        await deployments.update_scale("web", scale)


async def test_a_scale_is_patched_and_checked(deployments: ResourceClient[Deployment]):
    await deployments.create(deployment("web"))
    assert (await deployments.patch_scale("web", {"spec": {"replicas": 3}})).spec.replicas == 3
    by_json = [{"op": "replace", "path": "/spec/replicas", "value": 5}]
    assert (await deployments.patch_scale("web", by_json, type="json")).spec.replicas == 5
    with pytest.raises(InvalidError) as caught:
        await deployments.patch_scale("web", {"spec": {"replicas": -1}})
    assert [cause.field for cause in caught.value.causes] == ["spec.replicas"]


# --- pods ------------------------------------------------------------------------------------------------------------


async def test_a_pod_is_bound_to_a_node_once(pods: ResourceClient[Pod]):
    await pods.create(pod("web"))
    await pods.bind("web", "n1", dry_run=True)
    assert not (await pods.get("web")).spec.node_name
    await pods.bind("web", "n1")
    assert (await pods.get("web")).spec.node_name == "n1"
    with pytest.raises(ConflictError, match="already assigned"):
        await pods.bind("web", "n2")


async def test_a_pod_is_evicted(pods: ResourceClient[Pod]):
    made = await pods.create(pod("web"))
    await pods.evict("web", dry_run=True)
    with pytest.raises(ConflictError):
        await pods.evict("web", uid="00000000-0000-0000-0000-000000000000")
    assert (await pods.get("web")).uid == made.uid
    await pods.evict("web", uid=made.uid, grace_period_seconds=0)
    with pytest.raises(NotFoundError):
        await pods.evict("web")


async def test_a_disruption_budget_can_prevent_an_eviction(
    client: ClientSet, pods: ResourceClient[Pod], namespace: str
):
    await pods.create(pod("web"))
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await pods.patch("web", {"status": running}, type="merge", subresource="status")
    budgets = client.policy_v1.poddisruptionbudgets(namespace)
    await budgets.create({"metadata": {"name": "web"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": APP}}})
    none_left = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    status = {"status": {**none_left, "observedGeneration": 1}}
    await budgets.patch("web", status, type="merge", subresource="status")
    with pytest.raises(TooManyRequestsError, match="disruption budget") as caught:
        await pods.evict("web")
    assert [cause.reason for cause in caught.value.causes] == ["DisruptionBudget"]
    await pods.get("web")


async def test_any_subresource_is_read_and_written_as_a_given_kind(pods: ResourceClient[Pod]):
    await pods.create(pod("web"))
    status = pods.subresource("status", Pod)
    read = await status.get("web")
    assert (type(read), read.status.phase) == (Pod, "Pending")
    patched = await status.patch("web", {"status": {"message": "x"}}, type="merge")
    assert patched.status.message == "x"
    patched.status.message = "y"
    assert (await status.update("web", patched)).status.message == "y"
    untyped: dict[str, Any] = (await pods.subresource("status").get("web")).to_dict()
    assert untyped["status"]["message"] == "y"


async def test_an_ephemeral_container_is_added_to_a_pod(pods: ResourceClient[Pod]):
    await pods.create(pod("web"))
    look = {"spec": {"ephemeralContainers": [{"name": "look", "image": "look:1"}]}}
    patched = await pods.patch("web", look, subresource="ephemeralcontainers")
    assert [each.name for each in patched.spec.ephemeral_containers] == ["look"]


async def test_a_missing_subresource_is_not_found(pods: ResourceClient[Pod]):
    await pods.create(pod("web"))
    with pytest.raises(NotFoundError):
        await pods.get_scale("web")


# --- service accounts ------------------------------------------------------------------------------------------------


async def test_a_token_authenticates_its_service_account(client: ClientSet, namespace: str):
    accounts = client.core_v1.serviceaccounts(namespace)
    await accounts.create({"metadata": {"name": "robot"}})
    token = await accounts.create_token("robot", expiration_seconds=600)
    assert token.spec.expiration_seconds == 600
    review = client.rest.for_group_version("authentication.k8s.io/v1").post().resource("selfsubjectreviews")
    review.header("Authorization", f"Bearer {token.status.token}")
    reviewed = (await review.body(SelfSubjectReview()).do()).into(SelfSubjectReview)
    assert reviewed.status.user_info.username == f"system:serviceaccount:{namespace}:robot"
