"""A simulated cluster: nodes, a scheduler, kubelets and the controllers of Kubernetes, on any API server.

async with APIServer(simulate=True) as server: ...

async with RealAPIServer() as server:
    async with SimulatedCluster(server.config, SimulationOptions(nodes=10)) as cluster: ...
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, SystemClock
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.reports import ManagerStatistics
from listwatch.errors import AlreadyExistsError, UsageError
from listwatch.models.core_v1 import Node, Pod
from listwatch.simulation.controllers.volume_claims import STORAGE_CLASS
from listwatch.simulation.kubelets import SimulatedKubelets
from listwatch.simulation.node_lifecycle import NodeLifecycle
from listwatch.simulation.node_objects import node_objects
from listwatch.simulation.nodes import SimulatedNodes
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.scheduling.scheduler import SimulatedScheduler
from listwatch.simulation.workloads import workload_controllers

__all__ = ["SimulatedCluster"]


class SimulatedCluster:
    """Runs the parts of a cluster that an API server lacks, between `start` and `stop`; it runs once.

    It uses a client, or makes one of a configuration. All Nodes and the pods on them are simulated: no container runs
    anywhere. All delays are those of the clock.
    """

    def __init__(
        self, client: ClientSet | ClientConfig, options: SimulationOptions | None = None, *, clock: Clock | None = None
    ) -> None:
        self._owns_client = isinstance(client, ClientConfig)
        self._client = ClientSet(_quiet(client)) if isinstance(client, ClientConfig) else client
        self._options = options or SimulationOptions()
        self._clock = clock or SystemClock()
        self._manager: Manager | None = None
        random = Random(self._options.seed)
        self._nodes = SimulatedNodes(self._options, self._clock, random)
        self._kubelets = SimulatedKubelets(self._options, self._nodes, self._clock, random)
        self._scheduler = SimulatedScheduler(self._options, self._clock) if self._options.scheduler else None

    def __repr__(self) -> str:
        return f"<SimulatedCluster of {self._client!r}, {'running' if self._manager else 'not running'}>"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Create the nodes and a StorageClass, and start the controllers, without waiting until the nodes are ready."""
        if self._manager is not None:
            raise UsageError("the simulated cluster was started before, and runs only once: create a new one")
        for group in self._options.node_groups:
            for node in node_objects(group):
                try:
                    await self._client.core_v1.nodes().create(node)
                except AlreadyExistsError:
                    continue
        if self._options.controllers:
            await self._create_storage_class()
        self._manager = Manager(self._client, clock=self._clock, grace_period=5.0)
        for controller in self._controllers():
            self._manager.add(controller)
        if self._scheduler is not None:
            scheduler, factory = self._scheduler, self._manager.factory
            factory.informer(Node).informer.add_handler(
                on_add=scheduler.on_node,
                on_update=lambda _, new: scheduler.on_node(new),
                on_delete=scheduler.on_node_deleted,
            )
            factory.informer(Pod).informer.add_handler(
                on_add=scheduler.on_pod,
                on_update=lambda _, new: scheduler.on_pod(new),
                on_delete=scheduler.on_pod_deleted,
            )
        self._manager.start()

    async def _create_storage_class(self) -> None:
        """Create a default StorageClass in a cluster without classes, as kind and minikube do."""
        classes = self._client.storage_v1.storageclasses()
        if await classes.list(limit=1):
            return
        try:
            await classes.create(STORAGE_CLASS)
        except AlreadyExistsError:
            return

    async def stop(self) -> None:
        """Stop the controllers; the objects stay."""
        try:
            if self._manager is not None:
                await self._manager.stop()
        finally:
            if self._owns_client:
                await self._client.aclose()

    def _controllers(self) -> list[Controller]:
        found: list[Controller] = [self._nodes.controller, self._kubelets.controller]
        if self._scheduler is not None:
            found.append(self._scheduler.controller)
        if self._options.controllers:
            found.append(NodeLifecycle(self._options, self._clock).controller)
            found += workload_controllers(self._options, self._clock)
        return found

    # --- control -----------------------------------------------------------------------------------------------------

    def stop_node(self, name: str) -> None:
        """Stop the kubelet of a node, as if the machine was lost: its Lease expires, and its pods are evicted."""
        self._nodes.stop(name)

    def start_node(self, name: str) -> None:
        """Start the kubelet of a node again."""
        self._nodes.start(name)

    def output_of(self, pod: Pod, container: str) -> str:
        """Return what the program of a container prints."""
        return self._kubelets.output_of(pod, container)

    def statistics(self) -> ManagerStatistics:
        """Counters and current state of the controllers and their informers."""
        if self._manager is None:
            raise UsageError("the simulated cluster was not started; use `async with`, or call start() first")
        return self._manager.statistics()


def _quiet(config: ClientConfig) -> ClientConfig:
    """Servers warn of Endpoints, which controllers of Kubernetes write as well."""
    return replace(config, warning_handler=lambda _warning: None)
