"""A simulated cluster: nodes, scheduler, kubelets and controllers, without containers.

async with APIServer(simulate=True) as server: ...
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "DEFAULT_STAGES": "listwatch.simulation.stages",
    "NodeGroup": "listwatch.simulation.options",
    "Program": "listwatch.simulation.programs",
    "SimulatedCluster": "listwatch.simulation.cluster",
    "SimulationOptions": "listwatch.simulation.options",
    "Stage": "listwatch.simulation.stages",
    "read_stages": "listwatch.simulation.stages",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.simulation.cluster import SimulatedCluster as SimulatedCluster
    from listwatch.simulation.options import NodeGroup as NodeGroup
    from listwatch.simulation.options import SimulationOptions as SimulationOptions
    from listwatch.simulation.programs import Program as Program
    from listwatch.simulation.stages import DEFAULT_STAGES as DEFAULT_STAGES
    from listwatch.simulation.stages import Stage as Stage
    from listwatch.simulation.stages import read_stages as read_stages
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
