"""The built-in controllers of the embedded server can be switched off, as those of kube-controller-manager."""

from typing import Any

import pytest
from tests.server.caller import Caller

from listwatch.errors import UsageError
from listwatch.server.api_server import APIServer
from listwatch.server.controllers.enabled_controllers import CONTROLLERS, enabled_controllers

CORE = "/api/v1/namespaces/default"
CONFIG_MAPS = f"{CORE}/configmaps"
NAMESPACES = "/api/v1/namespaces"
NODES = "/api/v1/nodes"
GARBAGE_COLLECTOR, ROOT_CA = "garbage-collector-controller", "root-ca-certificate-publisher-controller"


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


@pytest.mark.parametrize(
    ("selection", "enabled"),
    [
        ("*", CONTROLLERS),
        ("", set()),
        ([], set()),
        (f"*,-{ROOT_CA}", CONTROLLERS - {ROOT_CA}),
        (["*", f"-{ROOT_CA}"], CONTROLLERS - {ROOT_CA}),
        ([f"-{ROOT_CA}"], set()),
        ([GARBAGE_COLLECTOR], {GARBAGE_COLLECTOR}),
        ([GARBAGE_COLLECTOR, f"-{GARBAGE_COLLECTOR}"], {GARBAGE_COLLECTOR}),
        ([f"-{GARBAGE_COLLECTOR}", GARBAGE_COLLECTOR, "*"], CONTROLLERS - {GARBAGE_COLLECTOR}),
    ],
)
def test_a_selection_is_read_as_by_kube_controller_manager(selection: Any, enabled: set[str]):
    assert enabled_controllers(selection) == enabled


@pytest.mark.parametrize("selection", ["*,-deployment", ["gc"]])
def test_an_unknown_controller_is_an_error(selection: Any):
    with pytest.raises(UsageError, match=r"is not a controller of the embedded server, which has .*namespace-contr"):
        APIServer(controllers=selection)


async def test_without_its_controllers_a_new_namespace_is_empty_and_is_not_finalized():
    async with APIServer(controllers=[], tls=True) as server, Caller(server) as call:
        await call("POST", NAMESPACES, named("a"))
        for resource in ("serviceaccounts", "configmaps"):
            assert (await call("GET", f"{NAMESPACES}/a/{resource}")).json["items"] == []
        await call("DELETE", f"{NAMESPACES}/a")
        left = (await call("GET", f"{NAMESPACES}/a")).json
        assert (left["status"]["phase"], left["spec"]["finalizers"]) == ("Terminating", ["kubernetes"])


async def test_one_controller_is_switched_off():
    async with APIServer(controllers=["*", f"-{ROOT_CA}"], tls=True) as server, Caller(server) as call:
        await call("POST", NAMESPACES, named("a"))
        assert (await call("GET", f"{NAMESPACES}/a/configmaps")).json["items"] == []
        [account] = (await call("GET", f"{NAMESPACES}/a/serviceaccounts")).json["items"]
        assert account["metadata"]["name"] == "default"
        await call("DELETE", f"{NAMESPACES}/a")
        assert (await call("GET", f"{NAMESPACES}/a")).status == 404


async def test_without_the_garbage_collector_dependents_and_finalizers_stay():
    async with APIServer(controllers=["*", f"-{GARBAGE_COLLECTOR}"]) as server, Caller(server) as call:
        owner = (await call("POST", CONFIG_MAPS, named("owner"))).json
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        await call("POST", CONFIG_MAPS, {"metadata": {"name": "dependent", "ownerReferences": [reference]}})
        await call("DELETE", f"{CONFIG_MAPS}/owner?propagationPolicy=Foreground")
        assert (await call("GET", f"{CONFIG_MAPS}/owner")).json["metadata"]["finalizers"] == ["foregroundDeletion"]
        assert (await call("GET", f"{CONFIG_MAPS}/dependent")).status == 200


async def test_without_its_controller_the_status_of_a_quota_is_not_written_but_it_is_enforced():
    async with APIServer(controllers=["*", "-resourcequota-controller"]) as server, Caller(server) as call:
        await call("POST", f"{CORE}/resourcequotas", named("few", spec={"hard": {"configmaps": "0"}}))
        assert (await call("GET", f"{CORE}/resourcequotas/few")).json["status"] == {}
        assert (await call("POST", CONFIG_MAPS, named("one"))).status == 403


async def test_without_the_controller_of_roles_nothing_is_aggregated():
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    rule = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    for controllers, count in (("*", 1), ("", 0)):
        async with APIServer(controllers=controllers) as server, Caller(server) as call:
            await call("POST", roles, named("all", aggregationRule=rule, rules=[]))
            part = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
            await call("POST", roles, {"metadata": {"name": "part", "labels": {"a": "b"}}, "rules": [part]})
            found = (await call("GET", f"{roles}/all")).json.get("rules")
            assert len(found or ()) == count


# --- Claims and volumes

CLAIMS, PODS = f"{CORE}/persistentvolumeclaims", f"{CORE}/pods"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/volumeattributesclasses"


def claim(name: str, **spec: Any) -> dict[str, Any]:
    return named(name, spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec})


def user_of(name: str, **spec: Any) -> dict[str, Any]:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    return named("web", spec={"containers": [{"name": "a", "image": "a"}], "volumes": [volume], **spec})


async def test_a_claim_is_deleted_when_no_bound_pod_uses_it():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", CLAIMS, claim("data"))
        await call("POST", PODS, user_of("data", nodeName="node-1"))
        deleted = await call("DELETE", f"{CLAIMS}/data")
        assert deleted.json["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        assert (await call("GET", f"{CLAIMS}/data")).status == 200
        await call("DELETE", f"{PODS}/web?gracePeriodSeconds=0")
        assert (await call("GET", f"{CLAIMS}/data")).status == 404


async def test_a_claim_of_an_unbound_pod_is_deleted_at_once():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", CLAIMS, claim("data"))
        await call("POST", PODS, user_of("data"))
        await call("DELETE", f"{CLAIMS}/data")
        assert (await call("GET", f"{CLAIMS}/data")).status == 404


async def test_a_claim_with_another_finalizer_loses_only_its_protection():
    async with APIServer() as server, Caller(server) as call:
        data = claim("data")
        data["metadata"]["finalizers"] = ["example.com/keep"]
        await call("POST", CLAIMS, data)
        await call("DELETE", f"{CLAIMS}/data")
        assert (await call("GET", f"{CLAIMS}/data")).json["metadata"]["finalizers"] == ["example.com/keep"]


async def test_a_claim_that_was_being_deleted_is_deleted_by_the_next_server():
    async with APIServer(controllers=[]) as server, Caller(server) as call:
        await call("POST", CLAIMS, claim("data"))
        await call("DELETE", f"{CLAIMS}/data")
        assert (await call("GET", f"{CLAIMS}/data")).status == 200
        snapshot = server.snapshot()
    async with APIServer(snapshot=snapshot) as server, Caller(server) as call:
        assert (await call("GET", f"{CLAIMS}/data")).status == 404


async def test_a_bound_volume_is_deleted_when_it_is_released():
    async with APIServer() as server, Caller(server) as call:
        spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}
        await call("POST", VOLUMES, named("disk", spec=spec))
        for phase, status in (("Bound", 200), ("Released", 404)):
            found = (await call("GET", f"{VOLUMES}/disk")).json
            await call("PUT", f"{VOLUMES}/disk/status", {**found, "status": {"phase": phase}})
            await call("DELETE", f"{VOLUMES}/disk")
            assert (await call("GET", f"{VOLUMES}/disk")).status == status


async def test_a_class_is_deleted_when_no_claim_names_it():
    async with APIServer() as server, Caller(server) as call:
        made = await call("POST", CLASSES, named("fast", driverName="example.com", parameters={"a": "b"}))
        assert made.json["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]
        await call("POST", CLAIMS, claim("data", volumeAttributesClassName="fast"))
        await call("DELETE", f"{CLASSES}/fast")
        assert (await call("GET", f"{CLASSES}/fast")).status == 200
        await call("DELETE", f"{CLAIMS}/data")
        assert (await call("GET", f"{CLASSES}/fast")).status == 404


async def test_the_protection_can_be_disabled():
    options: Any = {"disable_admission_plugins": ["StorageObjectInUseProtection"], "controllers": []}
    async with APIServer(**options) as server, Caller(server) as call:
        assert "finalizers" not in (await call("POST", CLAIMS, claim("data"))).json["metadata"]


# --- Nodes


async def taints(call: Caller) -> list[str]:
    spec = (await call("GET", f"{NODES}/a")).json["spec"]
    return [f"{each['key']}:{each['effect']}" for each in spec.get("taints", ())]


async def test_the_taints_of_a_node_follow_its_conditions_and_other_taints_stay():
    async with APIServer() as server, Caller(server) as call:
        made = await call("POST", NODES, named("a", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]}))
        assert made.json["metadata"]["resourceVersion"] == str(server.revision)
        for conditions, expected in (
            ({"Ready": "False"}, ["gpu:NoSchedule", "node.kubernetes.io/not-ready:NoSchedule"]),
            (
                {"Ready": "Unknown", "DiskPressure": "True"},
                [
                    "gpu:NoSchedule",
                    "node.kubernetes.io/unreachable:NoSchedule",
                    "node.kubernetes.io/disk-pressure:NoSchedule",
                ],
            ),
            ({"Ready": "True", "DiskPressure": "False"}, ["gpu:NoSchedule"]),
        ):
            found = (await call("GET", f"{NODES}/a")).json
            written = [{"type": type_, "status": status} for type_, status in conditions.items()]
            await call("PUT", f"{NODES}/a/status", {**found, "status": {"conditions": written}})
            assert await taints(call) == expected


async def test_a_cordoned_node_is_tainted():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", NODES, named("a"))
        for value, expected in ((True, ["node.kubernetes.io/unschedulable:NoSchedule"]), (False, [])):
            found = (await call("GET", f"{NODES}/a")).json
            found["spec"]["unschedulable"] = value
            assert (await call("PUT", f"{NODES}/a", found)).status == 200
            assert await taints(call) == expected


async def test_without_the_controller_a_new_node_is_tainted():
    async with APIServer(controllers="") as server, Caller(server) as call:
        await call("POST", NODES, named("a"))
        assert await taints(call) == ["node.kubernetes.io/not-ready:NoSchedule"]
    options: Any = {"controllers": "", "disable_admission_plugins": ["TaintNodesByCondition"]}
    async with APIServer(**options) as server, Caller(server) as call:
        await call("POST", NODES, named("a"))
        assert await taints(call) == []
