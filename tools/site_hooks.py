"""Hooks of mkdocs: pages that are made from other files of the repository, their links, and inline drawings.

    README.md, ARCHITECTURE.md, …   index.md, architecture.md, …
    examples/*.py                   examples.md
    bench/README.md, bench/results  benchmarks.md, with its charts
    the public packages             reference/PACKAGE.md, from the docstrings
    the models                      reference/models/MODULE.md, from their stubs

Links are those that work in the repository. Here they are changed to the pages of the site; a link to a file that is
not part of the site goes to the repository, or becomes plain text if pyproject.toml does not name one.
"""

from __future__ import annotations

import ast
import inspect
import posixpath
import re
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tools import generate_reference
from tools.model_pages import model_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/README.md": "benchmarks.md",
    "bench/results": "benchmarks.md",
    "bench/results/full": "benchmarks.md",
    "examples": "examples.md",
}
"""The files and folders of the repository that are pages of the site."""
PARTS = {
    "informers": "Informers",
    "real": "A real kube-apiserver",
    "kinds": "Other kinds",
    "clients": "Clients",
    "queues": "Work queues",
    "objects": "Decoding",
    "server": "The embedded server",
}
"""The parts of the benchmark in the order of the page, and their headings."""

_LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()(?P<target>[^)\s]+)(?P<after>(?:\s+\"[^\"]*\")?\))")
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
_DRAWING = re.compile(r"^!\[(?P<alt>[^\]]*)\]\((?P<path>drawings/[\w-]+\.svg)\)$", re.MULTILINE)


# --- Hooks ------------------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    """Add the pages of the reference to the navigation."""
    [section] = [each for each in config.nav or [] if "Reference" in each]
    models = sorted((ROOT / "src/listwatch/models").glob("*_v*.pyi"))
    section["Reference"] += [
        {"Packages": [{name: f"reference/{name}.md"} for name in _packages()]},
        {"Models": [{stub.stem: f"reference/models/{stub.stem}.md"} for stub in models]},
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    pages = {
        "index.md": (ROOT / "README.md").read_text(),
        "architecture.md": (ROOT / "ARCHITECTURE.md").read_text(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(),
        "benchmarks.md": benchmarks(),
        "examples.md": examples(),
        **reference(),
        **{f"reference/models/{name}.md": page for name, page in model_pages(ROOT / "src/listwatch/models").items()},
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    for chart in sorted((ROOT / "bench/results").glob("*.png")):
        files.append(File.generated(config, f"bench/results/{chart.name}", abs_src_path=str(chart)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.src_uri == "reference.md":
        markdown = link_names(markdown)
    if page.file.src_uri.startswith("reference") or page.file.src_uri == "changelog.md":
        page.meta.setdefault("search", {"boost": 0.3})  # guides come first
    origin = {site: source for source, site in reversed(PAGES.items())}.get(page.file.src_uri)
    markdown = rewrite_links(markdown, origin or f"docs/{page.file.src_uri}", page.file.src_uri)
    return _DRAWING.sub(lambda found: drawing(ROOT / "docs" / found["path"]), markdown)


# --- Links ------------------------------------------------------------------------------------------------------------


def rewrite_links(markdown: str, origin: str, page: str) -> str:
    """Change the links of a file of the repository to those of a page of the site."""
    outside_of_code = _FENCE.split(markdown)
    for index in range(0, len(outside_of_code), 2):
        outside_of_code[index] = _LINK.sub(lambda found: _rewrite(found, origin, page), outside_of_code[index])
    return "".join(outside_of_code)


def _rewrite(link: re.Match[str], origin: str, page: str) -> str:
    target, _, anchor = link["target"].partition("#")
    if not target:
        return link[0]
    source = repository_url()
    if source and target.startswith(source):
        path = re.sub(r"^/?(blob|tree|raw)/[^/]+/", "", target.removeprefix(source))
    elif "://" in target or target.startswith("mailto:"):
        return link[0]
    else:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    found = site_path(path)
    if found is None:
        if not source:
            return re.sub(r"^!?\[(.*)\]\($", r"\1", link["before"])
        return f"{link['before']}{source}/blob/main/{path}{link['after']}"
    found_path, _, found_anchor = found.partition("#")
    relative = posixpath.relpath(found_path, posixpath.dirname(page) or ".")
    anchor = anchor or found_anchor
    return f"{link['before']}{relative}{'#' if anchor else ''}{anchor}{link['after']}"


def site_path(path: str) -> str | None:
    """The page, or the file, of the site for a path in the repository."""
    path = path.rstrip("/")
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("examples/"):
        return f"examples.md#{Path(path).stem.replace('_', '-')}"
    if re.fullmatch(r"bench/results/[\w-]+\.png", path):
        return path
    if path.startswith("bench/results/"):
        return "benchmarks.md"
    return None


def repository_url() -> str:
    """The URL of the repository in pyproject.toml; empty if it has none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    urls = {name.lower(): url for name, url in project.get("urls", {}).items()}
    return next((urls[name].rstrip("/") for name in ("source", "repository", "homepage") if name in urls), "")


# --- Drawings ---------------------------------------------------------------------------------------------------------


def drawing(path: Path) -> str:
    """A drawing as inline SVG, without its own colours: assets/site.css has those of both schemes."""
    svg = re.sub(r"<style>.*?</style>", "", path.read_text(), flags=re.DOTALL)
    svg = svg.replace('id="head"', f'id="{path.stem}-head"')
    svg = svg.replace('class="arrow', f'marker-end="url(#{path.stem}-head)" class="arrow')
    return f'<div class="drawing">{" ".join(svg.split())}</div>'


# --- Pages ------------------------------------------------------------------------------------------------------------


def benchmarks() -> str:
    sections = []
    for part, heading in PARTS.items():
        text = (ROOT / f"bench/results/{part}.md").read_text().replace(f"\n## {part}\n", f"\n## {heading}\n")
        machine, _, figures = text.partition("\n\n")
        charts = [f"results/{chart.name}" for chart in sorted((ROOT / "bench/results").glob(f"{part}*.png"))]
        pictures = "\n\n".join(f"![{Path(chart).stem}]({chart})" for chart in charts)
        sections.append(f"{figures.strip()}\n\n{pictures}\n\n<small>{machine}</small>")
    method = (ROOT / "bench/README.md").read_text().partition("## Method")[2]
    introduction = (
        "# Benchmarks\n\nThe committed results of `make bench`: listwatch next to client-go and other Python clients, "
        "each in its own process, with the same data. × is the ratio to client-go. [Performance](../docs/speed.md) "
        "explains what the figures mean for a program.\n"
    )
    results = "\n\n".join(sections)
    return f'{introduction}\n<div class="figures" markdown>\n\n{results}\n\n</div>\n\n## How it is measured\n{method}'


def examples() -> str:
    lines = ["# Examples", "", "Complete programs. Each is run by the tests, on the embedded server.", ""]
    for path in sorted((ROOT / "examples").glob("[0-9]*.py")):
        source = path.read_text()
        tree = ast.parse(source)
        program = "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()
        title = path.stem[3:].replace("_", " ").capitalize()
        anchor = path.stem.replace("_", "-")
        summary = " ".join((ast.get_docstring(tree) or "").split())
        lines += [f"## {title} {{ #{anchor} }}", "", summary, "", f'```python title="{path.name}"', program, "```", ""]
    return "\n".join(lines)


def reference() -> dict[str, str]:
    """A page for each public package: its classes and functions, rendered from their docstrings."""
    pages = {}
    for name in _packages():
        package = import_module(name)
        described = [each for each in _names(package) if _home(name, each) == name]
        elsewhere = [each for each in _names(package) if _home(name, each) != name]
        lines = [f"# {name}", "", generate_reference.first_sentence(package.__doc__ or ""), ""]
        for each in described:
            if _is_own(getattr(package, each)):
                lines += [f"::: {name}.{each}", ""]
            else:
                lines += [f"## {each} {{ #{name}.{each} }}", "", generate_reference.summary(package, each), ""]
        if elsewhere:
            lines += ["## Names that other packages describe", "", "| name | what it is |", "| --- | --- |"]
        for each in elsewhere:
            lines.append(f"| {_link(name, each, '')} | {generate_reference.summary(package, each)} |")
        pages[f"reference/{name}.md"] = "\n".join(lines)
    return pages


def link_names(markdown: str) -> str:
    """Link the names in the tables of docs/reference.md to the pages of their packages."""
    sections = re.split(r"^(?=## )", markdown, flags=re.MULTILINE)
    for index, section in enumerate(sections):
        package = section.partition("\n")[0].removeprefix("## ")
        if package in _packages():
            row = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
            sections[index] = row.sub(lambda found, of=package: f"| {_link(of, found[1], 'reference/')} |", section)
    return "".join(sections)


def _packages() -> tuple[str, ...]:
    return (*generate_reference.PACKAGES, *generate_reference.MODULES)


def _names(package: ModuleType) -> list[str]:
    return sorted(generate_reference.public_names(package), key=str.lower)


def _is_own(value: object) -> bool:
    """Whether a name is defined here; a function of another library, such as `field`, has no docstring to render."""
    defines_its_module = inspect.isclass(value) or inspect.isroutine(value)
    return not defines_its_module or (value.__module__ or "").startswith("listwatch")


@cache
def _home(package: str, name: str) -> str:
    """The package on whose page a name is described: the last one that exports it, since the root exports many."""
    value = getattr(import_module(package), name)
    if isinstance(value, ModuleType):
        return value.__name__
    others = [each for each in _packages() if getattr(import_module(each), name, None) is value]
    return max(others, key=lambda each: each != "listwatch" and name in _names(import_module(each)))


def _link(package: str, name: str, folder: str) -> str:
    home = _home(package, name)
    if home not in _packages():
        return f"`{name}`"
    anchor = "" if isinstance(getattr(import_module(package), name), ModuleType) else f"#{home}.{name}"
    return f"[`{name}`]({folder}{home}.md{anchor})"
