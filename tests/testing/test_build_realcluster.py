"""Building missing programs, with a fake `go` command."""

from pathlib import Path

import pytest

from listwatch.testing.real.real_binaries import ASSETS, BinaryCache
from tools import build_realcluster
from tools.build_realcluster import ETCD, KUBERNETES, OLD_ETCD, PROJECTS, linker_flags

WORKS = """#!/bin/sh
pwd >>"$LOG"
echo "$@" >>"$LOG"
echo "go: downloading example.org/module v1.0.0" >&2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho version\\n' >"$2"
chmod +x "$2"
"""
CANNOT_DOWNLOAD = """#!/bin/sh
echo "go: k8s.io/kubernetes@v1.36.3: dial tcp: lookup proxy: no such host" >&2
exit 1
"""
BUILDS_BROKEN_PROGRAM = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\nexit 1\\n' >"$2"
chmod +x "$2"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BinaryCache:
    monkeypatch.delenv(ASSETS, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return BinaryCache.of_user()


@pytest.fixture
def install_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def install(script: str) -> None:
        go = tmp_path / "bin" / "go"
        go.parent.mkdir()
        go.write_text(script)
        go.chmod(0o755)
        monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")

    return install


def files_in(cache: BinaryCache) -> list[Path]:
    return sorted(path for path in cache.folder.rglob("*") if not path.is_dir() or path.name.startswith("."))


def all_places(cache: BinaryCache) -> list[Path]:
    return sorted(
        cache.place(project.name, project.version, program) for project in PROJECTS for program in project.programs
    )


def test_every_program_is_built_once_and_found_afterwards(cache: BinaryCache, install_go, tmp_path: Path, capsys):
    install_go(WORKS)
    assert build_realcluster.main() == 0
    assert files_in(cache) == all_places(cache)
    built = (tmp_path / "log").read_text()
    assert str(KUBERNETES.folder) in built
    assert f"gitVersion={KUBERNETES.version}" in built
    assert "1 modules downloaded" in capsys.readouterr().out
    assert build_realcluster.main() == 0
    assert (tmp_path / "log").read_text() == built
    assert "building" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("go", "complaint"),
    [
        (CANNOT_DOWNLOAD, "lookup proxy: no such host"),
        (BUILDS_BROKEN_PROGRAM, "etcd was built but does not run"),
    ],
)
def test_a_failed_build_leaves_no_program_and_reports_the_reason(
    cache: BinaryCache, install_go, go: str, complaint: str, capsys
):
    install_go(go)
    assert build_realcluster.main() == 1
    assert files_in(cache) == []
    output = capsys.readouterr().err
    assert complaint in output
    assert "or set KUBEBUILDER_ASSETS to a folder with kube-apiserver, etcd and kubectl." in output


def test_a_missing_go_is_reported(cache: BinaryCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_realcluster.main() == 1
    output = capsys.readouterr().err
    assert f"etcd {ETCD.version} cannot be built: no `go` command on PATH" in output
    assert "Go 1." in output


def test_a_program_in_the_assets_is_not_built_unless_another_version_is_needed(
    cache: BinaryCache, install_go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    install_go(WORKS)
    for program in ("etcd", "kube-apiserver"):
        file = tmp_path / "assets" / program
        file.parent.mkdir(exist_ok=True)
        file.touch(mode=0o755)
    monkeypatch.setenv(ASSETS, str(tmp_path / "assets"))
    assert build_realcluster.main() == 0
    assert files_in(cache) == sorted(
        [
            cache.place("etcd", OLD_ETCD.version, "etcd"),
            cache.place("kubernetes", KUBERNETES.version, "kubectl"),
        ]
    )
    assert f"etcd: {tmp_path / 'assets' / 'etcd'}" in capsys.readouterr().out


def test_the_modules_require_different_versions():
    assert len({(project.name, project.version) for project in PROJECTS}) == len(PROJECTS)
    major, minor, *_ = KUBERNETES.version.removeprefix("v").split(".")
    assert f"gitMinor={minor} " in linker_flags(KUBERNETES)
    assert (major, linker_flags(ETCD)) == ("1", "")
