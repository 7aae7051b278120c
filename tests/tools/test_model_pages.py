"""The pages about the models, from their stubs."""

from pathlib import Path

from tools.model_pages import model_page, model_pages

STUB = '''"""The kinds and types of `fleet/v1`.

Generated.
"""

class ShipSpec(Model):
    """What a ship <is>."""
    masts: int | None = None
    """Number of masts.

    JSON: `masts`. Default: absent."""
    engine: core_v1.Engine | None = None
    flags: list[Flag] = []
    """The `flags`."""

class Flag(Model):
    """A flag."""

class Ship(Object):
    """A ship."""
    spec: ShipSpec = ...
    """Its spec."""

class ShipList(ObjectList[Ship]):
    """Ships."""
'''


def test_kinds_come_first_and_lists_are_left_out():
    page = model_page("fleet_v1", STUB)
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == ["## Ship { #Ship }", "## Flag { #Flag }", "## ShipSpec { #ShipSpec }"]
    assert "from listwatch.models.fleet_v1 import Ship\n" in page


def test_a_field_has_its_type_with_links_and_its_description():
    page = model_page("fleet_v1", STUB)
    assert "<code>masts</code><br><code>int | None</code></td><td>Number of masts.<br>JSON: <code>masts</code>." in page
    assert '<a href="core_v1.html#Engine">Engine</a> | None' in page
    assert 'list[<a href="#Flag">Flag</a>]' in page
    assert "What a ship &lt;is&gt;." in page


def test_every_group_version_has_a_page():
    pages = model_pages(Path(__file__).parents[2] / "src/listwatch/models")
    assert {"core_v1", "apps_v1", "meta_v1"} <= pages.keys()
    assert "<code>node_name</code>" in pages["core_v1"]
