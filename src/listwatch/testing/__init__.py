"""Test support for this project and its users: clocks, scripted sources, real API servers.

    async with RealAPIServer() as server: ...

No other package imports this one.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "APIServerThread": "listwatch.testing.api_server_thread",
    "ControlPlane": "listwatch.testing.real.control_plane",
    "ControlPlaneBinaries": "listwatch.testing.real.real_binaries",
    "InstantClock": "listwatch.testing.clocks",
    "RealAPIServer": "listwatch.testing.real.real_api_server",
    "RealAPIServerThread": "listwatch.testing.real.real_api_server_thread",
    "RealBinaries": "listwatch.testing.real.real_binaries",
    "RealEtcd": "listwatch.testing.real.real_etcd",
    "ScriptedServer": "listwatch.testing.scripted_server",
    "ScriptedSource": "listwatch.testing.scripted_source",
    "ScriptedWatch": "listwatch.testing.scripted_source",
    "SkewedClock": "listwatch.testing.clocks",
    "SourceBackend": "listwatch.testing.source_contract",
    "SourceContract": "listwatch.testing.source_contract",
    "VirtualClock": "listwatch.testing.clocks",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.testing.api_server_thread import APIServerThread as APIServerThread
    from listwatch.testing.clocks import InstantClock as InstantClock
    from listwatch.testing.clocks import SkewedClock as SkewedClock
    from listwatch.testing.clocks import VirtualClock as VirtualClock
    from listwatch.testing.real.control_plane import ControlPlane as ControlPlane
    from listwatch.testing.real.real_api_server import RealAPIServer as RealAPIServer
    from listwatch.testing.real.real_api_server_thread import RealAPIServerThread as RealAPIServerThread
    from listwatch.testing.real.real_binaries import ControlPlaneBinaries as ControlPlaneBinaries
    from listwatch.testing.real.real_binaries import RealBinaries as RealBinaries
    from listwatch.testing.real.real_etcd import RealEtcd as RealEtcd
    from listwatch.testing.scripted_server import ScriptedServer as ScriptedServer
    from listwatch.testing.scripted_source import ScriptedSource as ScriptedSource
    from listwatch.testing.scripted_source import ScriptedWatch as ScriptedWatch
    from listwatch.testing.source_contract import SourceBackend as SourceBackend
    from listwatch.testing.source_contract import SourceContract as SourceContract
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
