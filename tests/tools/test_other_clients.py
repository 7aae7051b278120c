"""The pages about other clients have the programs that `make clients` runs."""

from pathlib import Path

import pytest

from tools.other_clients import DRIVERS, FOLDER, PAGES, read_page

VERSIONS = Path(__file__).parents[2] / "bench" / "environments"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_program_its_port_and_a_way_to_check_them(name: str):
    page = read_page(name)
    assert bool(page.output) != (name in DRIVERS), "either its output is known, or it is driven"
    compile(page.after, name, "exec")
    if name != "client-go":
        compile(page.before, name, "exec")


def test_every_page_is_tried():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(PAGES)


@pytest.mark.parametrize("name", [name for name in PAGES if name != "client-go"])
def test_a_page_names_the_version_that_is_tried(name: str):
    library = name.replace("-", "_")
    pinned = (VERSIONS / f"{library}.txt").read_text()
    [version] = [line.partition("==")[2] for line in pinned.splitlines() if line.startswith(f"{library}==")]
    assert f"here in version {'.'.join(version.split('.')[:2])}" in (FOLDER / f"{name}.md").read_text()
