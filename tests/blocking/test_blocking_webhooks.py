"""Webhooks of a blocking Manager: plain functions, in threads, which use blocking clients."""

from __future__ import annotations

import threading

import pytest

from listwatch import blocking
from listwatch.errors import DeniedError, ForbiddenError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.webhooks import AdmissionRequest, Webhooks


def a_config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def test_a_blocking_manager_serves_webhooks(api_server: APIServerThread):
    hooks = Webhooks("maps", port=0)
    with blocking.ClientSet(api_server.config) as client:
        maps = client.core_v1.configmaps("default")
        maps.create(a_config_map("limits", most="2"))

        @hooks.validate(ConfigMap)
        def few_keys(obj: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None:
            assert threading.current_thread() is not threading.main_thread()
            if len(obj.data) > int(maps.get("limits").data["most"]):
                raise DeniedError(f"{len(obj.data)} keys are too many")

        manager = blocking.Manager(client)
        manager.add_webhooks(hooks)
        with manager:
            manager.wait_ready(timeout=60)
            assert manager.webhook_port
            maps.create(a_config_map("small", a="1"))
            with pytest.raises(ForbiddenError, match="denied the request: 3 keys are too many"):
                maps.create(a_config_map("large", a="1", b="2", c="3"))
            statistics = manager.statistics().webhooks
            assert statistics is not None
            assert statistics.webhooks[0].rejected == 1
