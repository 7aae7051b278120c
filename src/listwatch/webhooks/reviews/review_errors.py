"""Why a review gets no answer: the API server then follows the webhook's failure policy."""

from __future__ import annotations

__all__ = ["ReviewError"]


class ReviewError(Exception):
    """A review that cannot be answered; the message is the text of an HTTP error."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
