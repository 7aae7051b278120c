"""The error of a server that fails internally."""

from __future__ import annotations

from listwatch.errors import InternalServerError, StatusCause, StatusDetails

__all__ = ["internal_error"]


def internal_error(text: str) -> InternalServerError:
    """Return the error with the message and the details of kube-apiserver."""
    details = StatusDetails(causes=(StatusCause("", text),))
    return InternalServerError(f"Internal error occurred: {text}", details=details)
