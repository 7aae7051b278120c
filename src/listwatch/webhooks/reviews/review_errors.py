"""Failed reviews, for which the API server applies the failure policy of the webhook."""

from __future__ import annotations

__all__ = ["ReviewError"]


class ReviewError(Exception):
    """A review failed; the message is the body of an HTTP error."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
