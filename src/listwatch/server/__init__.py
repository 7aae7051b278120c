"""The server is an API server in your own process: it stores, validates, patches and streams as a real one does.

async with APIServer() as server: ...
"""

from typing import TYPE_CHECKING

__all__ = ["APIServer"]

# Imported when it is first used: most modules of this package need neither aiohttp nor all the others.
if TYPE_CHECKING:
    from listwatch.server.api_server import APIServer as APIServer
else:

    def __getattr__(name):
        if name != "APIServer":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from listwatch.server.api_server import APIServer

        globals()[name] = APIServer  # found without this function from now on
        return APIServer

    def __dir__():
        return __all__
