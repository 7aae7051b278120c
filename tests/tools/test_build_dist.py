"""The README.md of a distribution has no link that works in the repository only."""

import re
import tomllib
from pathlib import Path

import pytest

from tools.build_dist import absolute_links, project_urls

README = (Path(__file__).parents[2] / "README.md").read_text()
REPOSITORY = "https://example.com/group/listwatch"


def targets(text: str) -> list[str]:
    without_code = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"]\(([^()\s]+)\)", without_code)


def test_a_link_and_a_picture_point_to_the_tag():
    text = "[Docs](docs/a.md#b) ![demo](docs/demo.svg)"
    assert absolute_links(text, REPOSITORY, "v1.0") == (
        f"[Docs]({REPOSITORY}/blob/v1.0/docs/a.md#b) ![demo]({REPOSITORY}/raw/v1.0/docs/demo.svg)"
    )


def test_without_a_repository_a_link_becomes_its_text_and_a_picture_is_left_out():
    assert absolute_links("see [Docs](docs/a.md)![demo](docs/demo.svg).", "", "v1.0") == "see Docs."


@pytest.mark.parametrize(
    "text",
    ["[site](https://example.com)", "[below](#how-fast)", "`a[b](c)`", "```python\na[b](c)\n```", "plain (text)"],
)
@pytest.mark.parametrize("repository", ["", REPOSITORY])
def test_other_text_is_not_changed(text: str, repository: str):
    assert absolute_links(text, repository, "v1.0") == text


@pytest.mark.parametrize("repository", ["", REPOSITORY])
def test_no_relative_link_of_the_readme_is_left(repository: str):
    left = targets(absolute_links(README, repository, "v1.0"))
    assert [target for target in left if "://" not in target and not target.startswith("#")] == []
    assert targets(README), "the README has no links at all"


def test_every_relative_link_of_the_readme_names_a_file():
    files = {
        target.partition("#")[0] for target in targets(README) if "://" not in target and not target.startswith("#")
    }
    missing = {file for file in files if not (Path(__file__).parents[2] / file).exists()}
    assert missing == set()


def test_the_urls_of_the_project_are_valid_toml():
    urls = tomllib.loads(project_urls(REPOSITORY, "v1.0"))["project"]["urls"]
    assert urls["Source"] == REPOSITORY
    assert urls["Changelog"] == f"{REPOSITORY}/blob/v1.0/CHANGELOG.md"
    assert project_urls("", "v1.0") == ""
