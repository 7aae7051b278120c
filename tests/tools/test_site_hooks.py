"""The documentation site: links of the repository become links of the site, and it builds without warnings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import site_hooks

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("origin", "page", "link", "expected"),
    [
        ("README.md", "index.md", "[a](docs/testing.md#time)", "[a](testing.md#time)"),
        ("README.md", "index.md", "![a](bench/results/latency.png)", "![a](bench/results/latency.png)"),
        ("docs/speed.md", "speed.md", "[a](../bench/results)", "[a](benchmarks.md)"),
        ("docs/speed.md", "speed.md", "[a](../README.md#how-fast)", "[a](index.md#how-fast)"),
        ("docs/a/b.md", "a/b.md", "[a](../testing.md)", "[a](../testing.md)"),
        ("docs/a/b.md", "a/b.md", "[a](../../examples/05_x_y.py)", "[a](../examples.md#05-x-y)"),
        ("docs/x.md", "x.md", "[a](#time)", "[a](#time)"),
        ("docs/x.md", "x.md", "[a](https://example.com/b)", "[a](https://example.com/b)"),
        ("docs/x.md", "x.md", "```\n[a](../README.md)\n```", "```\n[a](../README.md)\n```"),
    ],
)
def test_a_link_of_the_repository_becomes_one_of_the_site(origin: str, page: str, link: str, expected: str):
    assert site_hooks.rewrite_links(link, origin, page) == expected


def test_a_link_to_the_repository_on_the_web_becomes_one_of_the_site(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site_hooks, "repository_url", lambda: "https://example.com/listwatch")
    link = "[a](https://example.com/listwatch/blob/main/docs/testing.md#time)"
    assert site_hooks.rewrite_links(link, "README.md", "index.md") == "[a](testing.md#time)"
    assert (
        site_hooks.rewrite_links("[a](../src/listwatch/errors.py)", "docs/x.md", "x.md")
        == "[a](https://example.com/listwatch/blob/main/src/listwatch/errors.py)"
    )


def test_a_link_to_a_file_outside_of_the_site_is_text_if_there_is_no_repository(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site_hooks, "repository_url", lambda: "")
    assert site_hooks.rewrite_links("see [`a`](../src/a.py).", "docs/x.md", "x.md") == "see `a`."


@pytest.mark.parametrize("path", sorted((ROOT / "docs/drawings").glob("*.svg")), ids=lambda path: path.name)
def test_every_colour_of_a_drawing_is_in_both_schemes(path: Path):
    used = {name for names in re.findall(r'class="([\w ]+)"', path.read_text()) for name in names.split()}
    css = (ROOT / "docs/assets/site.css").read_text()
    assert {name for name in used if f".drawing .{name} " not in css} == set()
    schemes = re.findall(r"\.drawing \{(.*?)\}", css, re.DOTALL)
    light, dark = (set(re.findall(r"(--drawing-[\w-]+):", scheme)) for scheme in schemes)
    assert light == dark


def navigation(entries: Any) -> set[str]:
    if isinstance(entries, str):
        return {entries}
    if isinstance(entries, dict):
        return set().union(*map(navigation, entries.values()))
    return set().union(*map(navigation, entries))


def test_every_page_is_in_the_navigation():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    listed = navigation(config["nav"])
    assert pages <= listed
    assert listed - pages <= {*site_hooks.PAGES.values()} | {each for each in listed if each.startswith("reference/")}


# --- The built site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        pytest.skip("the site is built only if mkdocs is installed: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # a note about the next generation of mkdocs
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return folder


def test_no_page_loads_anything_from_another_site(site: Path):
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]+)"', page.read_text())
        assert [each for each in loaded if re.match(r"(https?:)?//", each)] == [], page.name


@pytest.mark.parametrize("words", ["port-forward", "webhook", "rate limit", "subresource", "leader election", "crd"])
def test_the_search_finds(site: Path, words: str):
    documents = json.loads((site / "search/search_index.json").read_text())["docs"]
    found = [each["location"] for each in documents if words in f"{each['title']} {each['text']}".lower()]
    assert found


def test_every_public_package_has_a_page_with_its_names(site: Path):
    page = (site / "reference/listwatch.workqueue.html").read_text()
    assert 'id="listwatch.workqueue.ExponentialLimiter"' in page
    index = (site / "reference.html").read_text()
    assert 'href="reference/listwatch.workqueue.html#listwatch.workqueue.ExponentialLimiter"' in index
