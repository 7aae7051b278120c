"""Builds the wheel and the source distribution into `dist/`, with a README.md whose links work outside the repository.

    python -m tools.build_dist --repository https://example.com/group/listwatch
    python -m tools.build_dist

README.md links to files of the repository, and package indexes show it without the repository. With `--repository`,
these links and pictures point to the tag of the version there, and the URLs of the project are added. Without it, a
link to a file becomes its text, and pictures are left out: no link of the page is broken.

Needs flit_core; `make dist` installs it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["absolute_links", "project_urls"]

ROOT = Path(__file__).parent.parent
CONTENT = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src", "tests")
_BUILD = (
    "import sys; from flit_core.buildapi import *; print(build_wheel(sys.argv[1])); print(build_sdist(sys.argv[1]))"
)
# `![alt](target)` or `[text](target)`; code blocks and inline code are skipped by the first alternatives.
_LINKS = re.compile(
    r"^```.*?^```$|`[^`\n]+`|(?P<image>!?)\[(?P<text>[^][]+)]\((?P<target>[^()\s]+)\)", re.DOTALL | re.M
)


def absolute_links(readme: str, repository: str, tag: str) -> str:
    """README.md with absolute links to the files of a tag; without a repository, their text in place of the links."""

    def replace(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or "://" in target or target.startswith("#"):
            return found[0]
        if not repository:
            return "" if found["image"] else found["text"]
        kind = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({repository}/{kind}/{tag}/{target})"

    return _LINKS.sub(replace, readme)


def project_urls(repository: str, tag: str) -> str:
    """The table `[project.urls]` of pyproject.toml; empty without a repository."""
    if not repository:
        return ""
    return (
        "\n[project.urls]\n"
        f'Source = "{repository}"\n'
        f'Documentation = "{repository}/tree/{tag}/docs"\n'
        f'Changelog = "{repository}/blob/{tag}/CHANGELOG.md"\n'
        f'Issues = "{repository}/issues"\n'
    )


def _build(repository: str, out: Path) -> None:
    tag = f"v{_version()}"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run(
            ["git", "ls-files", "-z", *CONTENT], cwd=ROOT, capture_output=True, check=True, text=True
        )
        for name in listed.stdout.split("\0")[:-1]:
            (copy := Path(folder, name)).parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((ROOT / name).read_bytes())
        readme, project = Path(folder, "README.md"), Path(folder, "pyproject.toml")
        readme.write_text(absolute_links(readme.read_text(), repository, tag))
        project.write_text(project.read_text() + project_urls(repository, tag))
        subprocess.run([sys.executable, "-c", _BUILD, str(out)], cwd=folder, check=True)


def _version() -> str:
    found = re.search(r'^__version__ = "(.+)"', (ROOT / "src/listwatch/_version.py").read_text(), re.M)
    if found is None:
        raise SystemExit("src/listwatch/_version.py has no __version__")
    return found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", default="", help="the URL of the public repository")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to write to")
    arguments = parser.parse_args()
    _build(arguments.repository.rstrip("/"), arguments.out.resolve())


if __name__ == "__main__":
    main()
