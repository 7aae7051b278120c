"""Builds kube-apiserver, kubectl and etcd from the Go modules below realcluster/, each version once.

    python -m tools.build_realcluster

The modules' go.mod files say which versions. What `KUBEBUILDER_ASSETS` or the user's cache has is not built; what is
built goes into the cache, where `listwatch.testing.real.real_binaries` finds it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from listwatch.testing.real.real_binaries import ASSETS, BinaryCache
from tools.go_build import GoBuildError, build

MODULES = Path(__file__).parent.parent / "realcluster"
KUBERNETES_MODULE, ETCD_MODULE = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"


@dataclass(frozen=True)
class Project:
    """Programs of one project at the version that a go.mod file says."""

    name: str
    folder: Path
    module: str
    programs: Mapping[str, str]
    """Each program, and the Go package that it is made of."""
    any_version: bool = True
    """What the user has will do instead."""

    @property
    def version(self) -> str:
        file = self.folder / "go.mod"
        if found := re.search(rf"^(?:require)?\s+{re.escape(self.module)} (v\S+)", file.read_text(), re.MULTILINE):
            return found[1]
        raise GoBuildError(f"{file} does not require {self.module}")


ETCD = Project("etcd", MODULES / "etcd", ETCD_MODULE, {"etcd": ETCD_MODULE})
# One that cannot report the progress of watches, so that kube-apiserver refuses to stream lists.
OLD_ETCD = Project("etcd", MODULES / "etcd-old", ETCD_MODULE, {"etcd": ETCD_MODULE}, any_version=False)
KUBERNETES = Project(
    "kubernetes",
    MODULES / "kubernetes",
    KUBERNETES_MODULE,
    {program: f"{KUBERNETES_MODULE}/cmd/{program}" for program in ("kube-apiserver", "kubectl")},
)
PROJECTS = (ETCD, OLD_ETCD, KUBERNETES)


def main() -> int:
    cache = BinaryCache.of_user()
    try:
        for project in PROJECTS:
            for program in project.programs:
                print(f"{program}: {provide(project, program, cache, assets=os.environ.get(ASSETS, ''))}", flush=True)
    except GoBuildError as error:
        print(f"{error}\n{_way_out()}", file=sys.stderr)
        return 1
    return 0


def provide(project: Project, program: str, cache: BinaryCache, *, assets: str) -> Path:
    """Where the program is, after it was built if it was nowhere."""
    if assets and project.any_version and os.access(found := Path(assets, program), os.X_OK):
        return found
    place = cache.place(project.name, project.version, program)
    if not place.exists():
        install(project, program, place)
    return place


def install(project: Project, program: str, place: Path) -> None:
    """Build a program and put it in its place, once it is whole and was seen to run."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".building-") as folder:
        built = Path(folder, program)
        build(
            project.programs[program],
            built,
            module=project.folder,
            linker_flags=linker_flags(project),
            title=f"{program} {project.version}",
        )
        _check_that_it_runs(built)
        built.replace(place)


def linker_flags(project: Project) -> str:
    """What makes programs of Kubernetes say their version; etcd knows its own."""
    if project.module != KUBERNETES_MODULE:
        return ""
    major, minor, *_ = project.version.removeprefix("v").split(".")
    values = {"gitVersion": project.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = "k8s.io/component-base/version", "k8s.io/client-go/pkg/version"
    return " ".join(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())


def _check_that_it_runs(program: Path) -> None:
    arguments = ["version", "--client"] if program.name == "kubectl" else ["--version"]
    try:
        subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise GoBuildError(f"{program.name} was built and does not run: {error}") from None


def _way_out() -> str:
    needed = (MODULES / "kubernetes" / "go.mod").read_text()
    version = re.search(r"^go (\S+)", needed, re.MULTILINE)
    return (
        f"To build it, Go {version[1] if version else ''} or newer and a Go module proxy (GOPROXY) are needed. "
        f"Or set {ASSETS} to a folder with kube-apiserver, etcd and kubectl."
    )


if __name__ == "__main__":
    sys.exit(main())
