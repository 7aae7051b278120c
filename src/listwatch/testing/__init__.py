"""Testing holds the stand-ins for our tests and yours: clocks that obey, scripted sources, contracts to meet.

    async with RealAPIServer() as server: ...

The rest of the package never imports it.
"""

from typing import TYPE_CHECKING

__all__ = ["RealAPIServer", "RealBinaries"]

# Imported when they are first used: the pytest plugin is here as well, and whoever has it installed waits for it.
if TYPE_CHECKING:
    from listwatch.testing.real_api_server import RealAPIServer as RealAPIServer
    from listwatch.testing.real_binaries import RealBinaries as RealBinaries
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from listwatch.testing import real_api_server

        return getattr(real_api_server, name)

    def __dir__():
        return __all__
