"""HorizontalPodAutoscalers scale their targets for the load that an annotation declares."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.simulation.simulated import Scene, simulate, workload

from listwatch.models.autoscaling_v2 import HorizontalPodAutoscaler
from listwatch.simulation.controllers.autoscaling_state import LOAD, MetricsError, Sizes, limited, recommend, stabilized

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def autoscaler(load: str | None = None, target: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metric = {"name": "cpu", "target": target or {"type": "Utilization", "averageUtilization": 50}}
    return {
        "metadata": {"name": "web", "annotations": {} if load is None else {f"{LOAD}cpu": load}},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 10,
            "metrics": [{"type": "Resource", "resource": metric}],
            **spec,
        },
    }


def parsed(*given: Any, **spec: Any) -> HorizontalPodAutoscaler:
    return HorizontalPodAutoscaler.from_dict(autoscaler(*given, **spec))


@pytest.mark.parametrize(
    ("load", "ready", "replicas"),
    [("1", 2, 2), ("1.05", 2, 2), ("1.2", 2, 3), ("4", 2, 8), ("0.2", 2, 1), ("0", 3, 0)],
)
def test_replicas_follow_the_load_beyond_the_tolerance(load: str, ready: int, replicas: int):
    found = recommend(parsed(load), Sizes(ready, ready, {"cpu": Decimal(1)}))
    assert found.replicas == replicas


def test_an_average_value_needs_no_requests():
    found = recommend(parsed("3", {"type": "AverageValue", "averageValue": "500m"}), Sizes(2, 2, {}))
    assert found.replicas == 6
    assert found.statuses[0]["resource"] == {"name": "cpu", "current": {"averageValue": "1500m"}}


@pytest.mark.parametrize(("load", "requests"), [(None, {"cpu": Decimal(1)}), ("1", {}), ("much", {"cpu": Decimal(1)})])
def test_a_metric_without_a_value_is_an_error(load: str | None, requests: dict[str, Decimal]):
    with pytest.raises(MetricsError) as caught:
        recommend(parsed(load), Sizes(1, 1, requests))
    assert caught.value.reason == "FailedGetResourceMetric"


def test_replicas_are_limited():
    assert limited(parsed(), 6, 20)[0] == 10
    assert limited(parsed(maxReplicas=100), 6, 50) == (
        12,
        ("True", "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"),
    )
    assert limited(parsed(minReplicas=2), 6, 1)[1][1] == "TooFewReplicas"
    assert limited(parsed(), 6, 5)[1][:2] == ("False", "DesiredWithinRange")


def test_a_smaller_size_waits_for_the_end_of_the_window():
    history = [(NOW - timedelta(seconds=age), count) for age, count in ((400, 9), (200, 5))]
    assert stabilized(parsed(), history, NOW, 2) == 5
    short = parsed(behavior={"scaleDown": {"stabilizationWindowSeconds": 60}})
    assert stabilized(short, history, NOW, 2) == 2
    assert stabilized(parsed(), history, NOW, 7) == 7


def test_an_autoscaler_scales_a_deployment_up_and_down():
    async def scenario(scene: Scene) -> None:
        deployments = scene.client.apps_v1.deployments("default")
        containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "1"}}}]
        await deployments.create(workload("web", replicas=1, pod_spec={"containers": containers}))
        autoscalers = scene.client.autoscaling_v2.horizontalpodautoscalers("default")
        await autoscalers.create(autoscaler())
        blind = await scene.wait(autoscalers, "web", "condition=ScalingActive=False")
        assert [each.reason for each in blind.status.conditions] == ["SucceededGetScale", "FailedGetResourceMetric"]
        await autoscalers.patch("web", {"metadata": {"annotations": {f"{LOAD}cpu": "2"}}})
        await scene.wait(deployments, "web", lambda it: it.status.available_replicas == 4)
        before = scene.clock.monotonic()
        await autoscalers.patch("web", {"metadata": {"annotations": {f"{LOAD}cpu": "100m"}}})
        await scene.wait(deployments, "web", lambda it: it.status.available_replicas == 1)
        assert scene.clock.monotonic() - before >= 270

    simulate(scenario)


def test_a_target_is_scaled_once_in_an_interval():
    async def scenario(scene: Scene) -> list[int | None]:
        deployments = scene.client.apps_v1.deployments("default")
        containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "100m"}}}]
        await deployments.create(workload("web", replicas=1, pod_spec={"containers": containers}))
        await scene.wait(deployments, "web", lambda it: it.status.available_replicas == 1)
        autoscalers = scene.client.autoscaling_v2.horizontalpodautoscalers("default")
        await autoscalers.create(autoscaler("1", maxReplicas=100))
        sizes = []
        for _ in range(3):
            await scene.pass_time(10)
            sizes.append((await deployments.get("web")).spec.replicas)
            await scene.pass_time(5)
        return sizes

    assert simulate(scenario) == [5, 10, 20]


def test_an_autoscaler_without_metrics_or_target_writes_its_status_once():
    async def scenario(scene: Scene) -> list[str]:
        await scene.client.apps_v1.deployments("default").create(workload("web", replicas=1))
        autoscalers = scene.client.autoscaling_v2.horizontalpodautoscalers("default")
        await autoscalers.create(autoscaler())
        other = autoscaler(scaleTargetRef={"apiVersion": "apps/v1", "kind": "Deployment", "name": "missing"})
        await autoscalers.create({**other, "metadata": {"name": "missing"}})
        await scene.pass_time(60)
        missing = await autoscalers.get("missing")
        why = "the HPA controller was unable to get the target's current scale"
        assert [each.message for each in missing.status.conditions] == [f'{why}: deployments.apps "missing" not found']
        count = len(scene.server.requests)
        await scene.pass_time(60)
        return [each.path for each in list(scene.server.requests)[count:] if each.verb == "patch" and each.subresource]

    assert simulate(scenario, heartbeat=1000.0, node_grace_period=5000.0) == []
