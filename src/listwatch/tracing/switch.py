"""Enables and disables tracing for the whole process, like the global tracer provider of OpenTelemetry.

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
        """Creates the spans; None while tracing is disabled."""


switch = _Switch()


def enable(tracer_provider: TracerProvider | None = None) -> None:
    """Create spans from now on, with this provider or the global one of OpenTelemetry."""
    try:
        from listwatch.tracing.spans import Tracing
    except ImportError:
        raise ConfigError("tracing needs the opentelemetry-api package: install listwatch[otel]") from None
    switch.tracing = Tracing(tracer_provider)


def disable() -> None:
    """Create no more spans. Started ones are still ended."""
    switch.tracing = None


def is_enabled() -> bool:
    """Whether tracing is enabled."""
    return switch.tracing is not None
