"""Spans of OpenTelemetry for requests, lists, watches and reconciles; needs the extra `otel`."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "disable": "listwatch.tracing.switch",
    "enable": "listwatch.tracing.switch",
    "is_enabled": "listwatch.tracing.switch",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.tracing.switch import disable as disable
    from listwatch.tracing.switch import enable as enable
    from listwatch.tracing.switch import is_enabled as is_enabled
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
