"""The speed figures in README.md and docs/speed.md are those of bench/results."""

from pathlib import Path

import pytest

from tools.readme_figures import BEGIN, END, FILES, figures, insert

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", FILES)
def test_a_file_shows_the_committed_results(name: str):
    text = (ROOT / name).read_text()
    assert insert(text, FILES[name](ROOT / "bench" / "results")) == text, "run python -m tools.readme_figures"


def test_only_the_text_between_the_comments_is_replaced():
    readme = f"before\n\n{BEGIN}\n\nold\n\n{END}\n\nafter\n"
    assert insert(readme, "new") == f"before\n\n{BEGIN}\n\nnew\n\n{END}\n\nafter\n"


@pytest.mark.parametrize("readme", ["nothing", BEGIN, END])
def test_a_readme_without_the_comments_is_an_error(readme: str):
    with pytest.raises(ValueError, match="needs the lines"):
        insert(readme, "new")


def test_every_library_has_a_row():
    table = figures(ROOT / "bench" / "results").split("\n\n")[0]
    rows = [line.split("|")[1].strip(" *¹") for line in table.splitlines()[2:]]
    assert rows == ["listwatch", "client-go", "kopf", "lightkube", "kubernetes", "kr8s"]
