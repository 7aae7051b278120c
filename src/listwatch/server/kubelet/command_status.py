"""How a command or a connection ended, as the error channel reports it."""

from __future__ import annotations

import msgspec

from listwatch.api.statuses import status_from_error
from listwatch.errors import APIError
from listwatch.json_value import JSONObject

__all__ = ["encode_status", "exit_status", "failure_status"]


def exit_status(code: int) -> JSONObject:
    """Return the Status of a command that has ended with an exit code."""
    if not code:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: command terminated with exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def failure_status(error: APIError) -> JSONObject:
    """Return the Status of an error, without apiVersion and kind, as kube-apiserver sends it."""
    tree = status_from_error(error)
    return {name: value for name, value in tree.items() if name not in ("apiVersion", "kind")}


def encode_status(status: JSONObject, *, has_status: bool) -> bytes:
    """Encode a Status for the error channel; old protocols have a text, and nothing for success."""
    if has_status:
        return msgspec.json.encode(status)
    return b"" if status["status"] == "Success" else str(status.get("message", "")).encode()
