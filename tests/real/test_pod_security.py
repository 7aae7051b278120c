"""Compares the Pod Security checks of the embedded server with those of a real one, for generated pods."""

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

import listwatch as lw
from listwatch.server import APIServer
from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

Tree = dict[str, Any]
PREFIX = "pod-security.kubernetes.io/"
VERSIONS = ("latest", "v1.0", "v1.8", "v1.18", "v1.19", "v1.22", "v1.24", "v1.26", "v1.28", "v1.31", "v1.34", "v1.99")
PODS = int(os.environ.get("LISTWATCH_PODS", "400"))


def some(random_: random.Random, share: float, **fields: Any) -> Tree:
    return {name: value for name, value in fields.items() if random_.random() < share}


def context(random_: random.Random, *, pod: bool) -> Tree:
    choice = random_.choice
    found = some(
        random_,
        0.25,
        runAsNonRoot=choice([True, False]),
        runAsUser=choice([0, 1]),
        seccompProfile={"type": choice(["RuntimeDefault", "Unconfined"])},
        appArmorProfile={"type": choice(["RuntimeDefault", "Unconfined"])},
        seLinuxOptions=some(
            random_, 0.5, type=choice(["container_t", "container_engine_t", "x_t"]), user="u", role="r"
        ),
    )
    if pod:
        sysctls = ["kernel.shm_rmid_forced", "net.ipv4.tcp_rmem", "net.ipv4.tcp_fin_timeout", "kernel.msgmax"]
        return found | some(random_, 0.2, sysctls=[{"name": choice(sysctls), "value": "1"}])
    names = ["ALL", "CHOWN", "NET_BIND_SERVICE", "SYS_TIME", "NET_RAW"]
    added = [each for each in names if random_.random() < 0.2]
    return found | some(
        random_,
        0.4,
        allowPrivilegeEscalation=False,
        privileged=choice([True, False]),
        capabilities=some(random_, 0.5, add=added, drop=[choice(names)]),
    )


def container(random_: random.Random, name: str) -> Tree:
    choice = random_.choice
    return {
        "name": name,
        "image": "busybox",
        **some(random_, 0.6, securityContext=context(random_, pod=False)),
        **some(
            random_,
            0.15,
            ports=[{"containerPort": 80, "hostPort": choice([80, 443])}],
            livenessProbe={"httpGet": {"port": 1, **some(random_, 0.5, host=choice(["a", "b"]))}},
        ),
    }


def pod(random_: random.Random, name: str) -> Tree:
    volumes = [{"hostPath": {"path": "/"}}, {"nfs": {"server": "a", "path": "/"}}, {"emptyDir": {}}]
    spec = {
        "containers": [container(random_, each) for each in ("a", "b")[: random_.randint(1, 2)]],
        **some(random_, 0.3, initContainers=[container(random_, "i")]),
        **some(random_, 0.15, hostNetwork=True, hostPID=True, hostIPC=True, hostUsers=False),
        **some(random_, 0.5, securityContext=context(random_, pod=True)),
        **some(random_, 0.3, volumes=[{"name": f"v{i}", **random_.choice(volumes)} for i in range(2)]),
        **some(random_, 0.1, os={"name": random_.choice(["linux", "windows"])}),
    }
    annotations = some(
        random_,
        0.1,
        **{
            # Of a container that does not exist: a real server copies the others to fields.
            "container.apparmor.security.beta.kubernetes.io/z": random_.choice(["unconfined", "runtime/default"]),
            "seccomp.security.alpha.kubernetes.io/pod": random_.choice(["unconfined", "docker/default"]),
        },
    )
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


@pytest.fixture
def real() -> Iterator[RealAPIServerThread]:
    with RealAPIServerThread() as server:
        yield server


async def outcomes(client: lw.ClientSet, pods: list[Tree]) -> list[Tree]:
    """Create each pod in namespaces with different levels; returns the errors, by level."""
    levels = [(level, version) for version in VERSIONS for level in ("baseline", "restricted")]
    for level, version in levels:
        labels = {f"{PREFIX}enforce": level, f"{PREFIX}enforce-version": version}
        name = f"{level}-{version.replace('.', '-')}"
        await client.core_v1.namespaces().create({"metadata": {"name": name, "labels": labels}})
    found: list[Tree] = []
    for index, tree in enumerate(pods):
        level, version = levels[index % len(levels)]
        try:
            await client.core_v1.pods(f"{level}-{version.replace('.', '-')}").create(tree, dry_run=True)
        except lw.errors.APIError as error:
            found.append({"pod": tree, "code": error.status_code, "message": error.message})
        else:
            found.append({"pod": tree})
    return found


async def test_generated_pods_are_judged_like_on_a_real_server(real: RealAPIServerThread, record_property):
    random_ = random.Random(20)
    pods = [pod(random_, f"p{index}") for index in range(PODS)]
    async with lw.ClientSet(real.config) as client:
        expected = await outcomes(client, pods)
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        found = await outcomes(client, pods)
    denied = sum(each.get("code") == 403 for each in expected)
    record_property("pods", f"{len(pods)} generated pods, {denied} of which violate their level")
    assert denied > PODS / 2
    # Pods that are invalid are rejected before; other tests compare their rules.
    compared = [pair for pair in zip(found, expected, strict=True) if pair[1].get("code") != 422]
    assert len(compared) > PODS * 2 / 3
    assert [pair for pair in compared if pair[0] != pair[1]] == []
