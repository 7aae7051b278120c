"""The error of the generators."""

from __future__ import annotations

from listwatch.errors import UsageError

__all__ = ["GenerateError"]


class GenerateError(UsageError):
    """A class cannot be expressed as a CustomResourceDefinition, or a definition not as classes."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason

    def __reduce__(self) -> tuple[type[GenerateError], tuple[str, str]]:
        return type(self), (self.place, self.reason)
