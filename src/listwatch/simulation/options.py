"""The options of a simulated cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from listwatch.errors import UsageError
from listwatch.simulation.programs import ProgramFunction
from listwatch.simulation.stages import Stage

__all__ = ["NodeGroup", "SimulationOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """Nodes that are alike: `count` of them, named `name-0`, `name-1` and so on."""

    count: int = 1
    name: str = "node"
    cpu: str = "32"
    memory: str = "256Gi"
    pods: int = 110
    labels: Mapping[str, str] | None = None
    taints: Sequence[Mapping[str, str]] = ()
    """As in the API: `{"key": "gpu", "value": "yes", "effect": "NoSchedule"}`."""
    zones: Sequence[str] = ()
    """The zones of the nodes, in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """What a simulated cluster has.

    `nodes` is a number of nodes, or groups of them. They are created at the start, unless they exist; other Nodes are
    simulated as well. `stages` come before the default ones. Without `controllers` or `scheduler`, those of Kubernetes
    are expected to run, as `listwatch.testing.ControlPlane` starts them, and only nodes and kubelets are simulated.
    Without `events`, no events are recorded. A lease is renewed every `heartbeat` seconds; a node whose lease was not
    renewed for `node_grace_period` seconds becomes unreachable.
    """

    nodes: int | Sequence[NodeGroup] = 3
    stages: Sequence[Stage] = ()
    controllers: bool = True
    scheduler: bool = True
    events: bool = True
    heartbeat: float = 10.0
    node_grace_period: float = 50.0
    job_duration: float = 1.0
    """The seconds after which the containers of a Job's pod complete, if their command is not understood."""
    program: ProgramFunction | None = None
    """What a container does, if its command does not say so; called with the pod and the container."""
    seed: int | None = None
    """Makes jitter and generated names reproducible."""

    def __post_init__(self) -> None:
        if isinstance(self.nodes, int) and self.nodes < 0:
            raise UsageError(f"nodes={self.nodes}: a cluster cannot have fewer than 0 nodes")
        if self.heartbeat <= 0:
            raise UsageError(f"heartbeat={self.heartbeat}: expected a positive number of seconds")

    @property
    def node_groups(self) -> Sequence[NodeGroup]:
        """The groups of nodes."""
        return (NodeGroup(count=self.nodes),) if isinstance(self.nodes, int) else self.nodes
