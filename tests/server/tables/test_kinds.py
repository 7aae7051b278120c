"""The definitions of all tables: their columns, and rows of objects without fields, which bookmarks are."""

from datetime import UTC, datetime

import pytest

from listwatch.server.openapi.descriptions import descriptions_of
from listwatch.server.tables.columns import FieldOfType, Table
from listwatch.server.tables.kinds import BUILTIN_TABLES

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WITH_MORE_CELLS = {("networking.k8s.io", "IPAddress")}


@pytest.mark.parametrize(("kind", "table"), [pytest.param(*each, id=each[0][1]) for each in BUILTIN_TABLES.items()])
def test_every_row_has_a_cell_for_each_column(kind: tuple[str, str], table: Table):
    cells = table.row({}, NOW)
    assert len(cells) - len(table.columns) == (kind in WITH_MORE_CELLS)


@pytest.mark.parametrize(("kind", "table"), [pytest.param(*each, id=each[0][1]) for each in BUILTIN_TABLES.items()])
def test_the_api_describes_every_field_that_a_column_refers_to(kind: tuple[str, str], table: Table):
    references = [each.description for each in table.columns if isinstance(each.description, FieldOfType)]
    missing = [each for each in references if not descriptions_of(each.package, each.type).fields.get(each.field)]
    assert missing == []
