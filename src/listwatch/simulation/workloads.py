"""All controllers of workloads, Services and volumes."""

from __future__ import annotations

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.models.core_v1 import ReplicationController
from listwatch.simulation.batch.cron_jobs import CronJobs
from listwatch.simulation.batch.jobs import Jobs
from listwatch.simulation.controllers.daemon_sets import DaemonSets
from listwatch.simulation.controllers.deployments import Deployments
from listwatch.simulation.controllers.disruption_budgets import DisruptionBudgets
from listwatch.simulation.controllers.endpoints import ServiceEndpoints
from listwatch.simulation.controllers.horizontal_autoscalers import HorizontalAutoscalers
from listwatch.simulation.controllers.mirrored_endpoints import MirroredEndpoints
from listwatch.simulation.controllers.replica_sets import ReplicaSets
from listwatch.simulation.controllers.stateful_sets import StatefulSets
from listwatch.simulation.controllers.volume_claims import VolumeClaims
from listwatch.simulation.options import SimulationOptions

__all__ = ["workload_controllers"]


def workload_controllers(options: SimulationOptions, clock: Clock) -> list[Controller]:
    """The controllers, which were not started."""
    return [
        Deployments(options, clock).controller,
        ReplicaSets(options, clock).controller,
        ReplicaSets(options, clock, ReplicationController).controller,
        StatefulSets(options, clock).controller,
        DaemonSets(options, clock).controller,
        Jobs(options, clock).controller,
        CronJobs(options, clock).controller,
        ServiceEndpoints(options, clock).controller,
        MirroredEndpoints(options, clock).controller,
        VolumeClaims(options, clock).controller,
        DisruptionBudgets(options, clock).controller,
        HorizontalAutoscalers(options, clock).controller,
    ]
