"""Settings of a program that are read from a ConfigMap or Secret, and follow its changes."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Settings": "listwatch.settings.settings",
    "SettingsError": "listwatch.errors",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.errors import SettingsError as SettingsError
    from listwatch.settings.settings import Settings as Settings
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
