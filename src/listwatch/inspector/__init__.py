"""The inspector page: the state of informers, queues and controllers, and the cached objects, live in a browser.

It is read-only, listens on loopback by default, and needs the token that is in its URL.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Inspector": "listwatch.inspector.inspector",
    "InspectorOptions": "listwatch.inspector.options",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.inspector.inspector import Inspector as Inspector
    from listwatch.inspector.options import InspectorOptions as InspectorOptions
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
