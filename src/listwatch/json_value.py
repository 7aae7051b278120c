"""The type of JSON values."""

from typing import TypeAlias

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None
"""Any JSON value, as Python's own types."""

JSONObject: TypeAlias = dict[str, JSON]
"""A JSON object."""
