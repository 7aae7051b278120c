"""Admission plugins are enabled and disabled by their names."""

from typing import Any

import pytest

import listwatch as lw
from listwatch.errors import ForbiddenError, NotFoundError, UsageError
from listwatch.server import APIServer

POD: Any = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


async def test_without_namespace_lifecycle_a_namespace_may_be_missing():
    async with (
        APIServer(disable_admission_plugins=["NamespaceLifecycle"]) as server,
        lw.ClientSet(server.config) as client,
    ):
        await client.core_v1.configmaps("missing").create({"metadata": {"name": "a"}})
        await client.core_v1.namespaces().delete("default")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        with pytest.raises(NotFoundError):
            await client.core_v1.configmaps("missing").create({"metadata": {"name": "a"}})
        with pytest.raises(ForbiddenError):
            await client.core_v1.namespaces().delete("default")


async def test_without_their_plugins_pods_get_no_tolerations_and_no_level_is_enforced():
    plugins = ["DefaultTolerationSeconds", "PodSecurity"]
    async with APIServer(disable_admission_plugins=plugins) as server, lw.ClientSet(server.config) as client:
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        await client.core_v1.namespaces().create({"metadata": {"name": "strict", "labels": labels}})
        pod = await client.core_v1.pods("strict").create(POD)
        assert not pod.spec.tolerations
        pod.metadata.labels = {"a": "b"}
        assert not (await client.core_v1.pods("strict").update(pod)).spec.tolerations


async def test_without_its_plugin_pods_get_no_priority():
    async with (
        APIServer(disable_admission_plugins=["Priority"]) as server,
        lw.ClientSet(server.config) as client,
    ):
        pod = await client.core_v1.pods("default").create(POD)
        assert (pod.spec.priority, pod.spec.preemption_policy) == (None, None)


async def test_a_pod_needs_the_default_account_if_no_controller_creates_it():
    async with (
        APIServer(enable_admission_plugins=["ServiceAccount"], controllers=[]) as server,
        lw.ClientSet(server.config) as client,
    ):
        await client.core_v1.namespaces().create({"metadata": {"name": "new"}})
        with pytest.raises(ForbiddenError, match='new/default: serviceaccount "default" not found'):
            await client.core_v1.pods("new").create(POD)


def test_unknown_and_contradicting_names_are_refused():
    with pytest.raises(UsageError, match="'Quota' is not an admission plugin of the server, which has Default"):
        APIServer(enable_admission_plugins=["Quota"])
    with pytest.raises(UsageError, match="'ServiceAccount' cannot be both enabled and disabled"):
        APIServer(enable_admission_plugins=["ServiceAccount"], disable_admission_plugins=["ServiceAccount"])
