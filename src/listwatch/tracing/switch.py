"""Switches tracing on and off, for the whole process, as the tracer provider of OpenTelemetry is.

The other packages check `switch.tracing`, which is None until `enable` is called; only then OpenTelemetry is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from listwatch.tracing.spans import Tracing

__all__ = ["disable", "enable", "is_enabled", "switch"]


class _Switch:
    __slots__ = ("tracing",)

    def __init__(self) -> None:
        self.tracing: Tracing | None = None
        """What makes the spans; None while tracing is off."""


switch = _Switch()


def enable(tracer_provider: TracerProvider | None = None) -> None:
    """From now on, make spans with this provider, or with the global one of OpenTelemetry."""
    try:
        from listwatch.tracing.spans import Tracing
    except ImportError:
        raise ConfigError("tracing needs the opentelemetry-api package: install listwatch[otel]") from None
    switch.tracing = Tracing(tracer_provider)


def disable() -> None:
    """Make no further spans. Those that have started are still ended."""
    switch.tracing = None


def is_enabled() -> bool:
    """Whether spans are made."""
    return switch.tracing is not None
