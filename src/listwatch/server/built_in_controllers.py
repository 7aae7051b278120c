"""The controllers that run inside the server: which of them a server has, and what they do when it starts."""

from __future__ import annotations

from collections.abc import Callable, Collection

from listwatch.errors import APIError
from listwatch.server.bootstrap.bootstrap import Bootstrap, create_namespaces
from listwatch.server.controllers.custom_resources import CustomResources
from listwatch.server.controllers.enabled_controllers import (
    NODE_LIFECYCLE,
    POLICY_STATUS,
    RESOURCE_QUOTA,
    ROLE_AGGREGATION,
)
from listwatch.server.controllers.garbage_collector import GarbageCollector
from listwatch.server.controllers.node_taints import NodeTaints
from listwatch.server.controllers.owner_graph import StorageKey
from listwatch.server.controllers.policy_status import PolicyStatus
from listwatch.server.controllers.role_aggregation import RoleAggregation
from listwatch.server.controllers.volume_protection import VolumeProtection
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import NAMESPACES, Environment
from listwatch.server.quota.resource_quotas import ResourceQuotas
from listwatch.server.storage.commits import Commits, Controller
from listwatch.server.verbs.pipeline import Pipeline

__all__ = ["BuiltInControllers"]


class BuiltInControllers:
    """The controllers of one server; `all` has them in the order in which they react to writes.

    `enabled` are the names of the enabled ones. Without `quotas`, ResourceQuotas are neither enforced nor counted;
    without `taints`, nodes keep the taint of a new node. `ca_certificate` is that of the server, empty without TLS;
    None creates no initial objects except the namespaces.
    """

    def __init__(
        self,
        objects: ObjectStore,
        environment: Environment,
        pipeline: Pipeline,
        end_watches: Callable[[str], None],
        *,
        enabled: Collection[str],
        quotas: bool,
        taints: bool,
        ca_certificate: bytes | None,
        on_rejected: Callable[[StorageKey, APIError], None],
    ) -> None:
        self._objects = objects
        self._environment = environment
        now = environment.now
        self._custom_resources = CustomResources(objects, pipeline.deleter, now, end_watches)
        self._garbage_collector = GarbageCollector(
            objects, pipeline.deleter, now=now, on_rejected=on_rejected, enabled=enabled
        )
        self._role_aggregation = RoleAggregation(objects, pipeline.respond)
        self._volume_protection = VolumeProtection(objects, enabled)
        self.bootstrap = None if ca_certificate is None else Bootstrap(objects, environment, ca_certificate, enabled)
        controllers: list[Controller] = [self._custom_resources, self._garbage_collector, self._volume_protection]
        if ROLE_AGGREGATION in enabled:
            controllers.append(self._role_aggregation)
        if self.bootstrap:
            controllers += self.bootstrap.controllers
        if quotas:
            pipeline.steps.quotas = quota = ResourceQuotas(
                objects, now, pipeline.respond, writes_status=RESOURCE_QUOTA in enabled
            )
            controllers.append(quota)
        if NODE_LIFECYCLE in enabled and taints:
            controllers.append(NodeTaints(objects, now, pipeline.respond))
        if POLICY_STATUS in enabled:
            controllers.append(PolicyStatus(objects, pipeline.respond))
        self.all = tuple(controllers)

    def start(self, commits: Commits) -> None:
        """Create the initial objects that are missing, and finish what was pending in the storage."""
        # The custom resources are served before their objects are read.
        self._custom_resources.recover()
        commits.run_controllers()
        self._garbage_collector.recover()
        self._volume_protection.recover()
        is_new = not self._objects.storage.count(NAMESPACES)
        create_namespaces(self._objects, self._environment)
        if self.bootstrap:
            self.bootstrap.create()
        # The roles of a new server are aggregated already.
        self._role_aggregation.has_pending = not is_new
        commits.run_controllers()
        self._objects.storage.sync()
