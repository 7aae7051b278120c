"""The tables of all built-in kinds."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.server.tables.access import ACCESS
from listwatch.server.tables.columns import CREATED_AT, NAME, Table
from listwatch.server.tables.configuration import CONFIGURATION
from listwatch.server.tables.networking import NETWORKING
from listwatch.server.tables.scheduling import SCHEDULING
from listwatch.server.tables.storage import STORAGE
from listwatch.server.tables.workloads import WORKLOADS

__all__ = ["BUILTIN_TABLES", "DEFAULT_TABLE"]

BUILTIN_TABLES: Mapping[tuple[str, str], Table] = {
    **WORKLOADS,
    **CONFIGURATION,
    **NETWORKING,
    **STORAGE,
    **ACCESS,
    **SCHEDULING,
    ("events.k8s.io", "Event"): CONFIGURATION["", "Event"],
}
"""The tables of the kinds that have columns of their own, by group and kind."""

DEFAULT_TABLE = Table(NAME, CREATED_AT, null_if_empty=True)
"""The table of the other kinds."""
