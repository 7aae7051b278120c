"""Builds the programs of `make real` and `make conformance` from the Go modules below realcluster/, each version once.

    python -m tools.build_realcluster               kube-apiserver, kubectl and etcd
    python -m tools.build_realcluster conformance   also the controllers, the scheduler and the tests of other projects

The go.mod files pin the versions. Programs in `KUBEBUILDER_ASSETS` or in the user's cache are not built again; built
programs are stored in the cache, where `listwatch.testing.real.real_binaries` finds them.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from listwatch.testing.real.real_binaries import ASSETS, BinaryCache
from tools.go_build import GoBuildError, build

MODULES = Path(__file__).parent.parent / "realcluster"
KUBERNETES_MODULE, ETCD_MODULE = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
CONTROLLER_RUNTIME_MODULE, HELM_MODULE = "sigs.k8s.io/controller-runtime", "helm.sh/helm/v4"


@dataclass(frozen=True)
class Project:
    """Programs of one project at the version that its go.mod file requires."""

    name: str
    folder: Path
    module: str
    programs: Mapping[str, str]
    """The Go package of each program; a program `….test` is the tests of its package."""
    any_version: bool = True
    """Whether a program in `KUBEBUILDER_ASSETS` of another version may be used instead."""

    @property
    def version(self) -> str:
        file = self.folder / "go.mod"
        if found := re.search(rf"^(?:require)?\s+{re.escape(self.module)} (v\S+)", file.read_text(), re.MULTILINE):
            return found[1]
        raise GoBuildError(f"{file} does not require {self.module}")


ETCD = Project("etcd", MODULES / "etcd", ETCD_MODULE, {"etcd": ETCD_MODULE})
# This version cannot report the progress of watches, so kube-apiserver rejects sendInitialEvents.
OLD_ETCD = Project("etcd", MODULES / "etcd-old", ETCD_MODULE, {"etcd": ETCD_MODULE}, any_version=False)
KUBERNETES = Project(
    "kubernetes",
    MODULES / "kubernetes",
    KUBERNETES_MODULE,
    {program: f"{KUBERNETES_MODULE}/cmd/{program}" for program in ("kube-apiserver", "kubectl")},
)
PROJECTS = (ETCD, OLD_ETCD, KUBERNETES)

CONTROL_PLANE = Project(
    "kubernetes",
    MODULES / "kubernetes",
    KUBERNETES_MODULE,
    {program: f"{KUBERNETES_MODULE}/cmd/{program}" for program in ("kube-controller-manager", "kube-scheduler")},
)
# The source of these tests is in this repository, so a version can have several of them.
_E2E_SOURCE = hashlib.sha256((MODULES / "kubernetes" / "e2e" / "e2e_test.go").read_bytes()).hexdigest()[:8]
E2E = Project(
    "kubernetes",
    MODULES / "kubernetes",
    KUBERNETES_MODULE,
    {f"e2e-{_E2E_SOURCE}.test": "./e2e"},
    any_version=False,
)
CONTROLLER_RUNTIME = Project(
    "controller-runtime",
    MODULES / "controller-runtime",
    CONTROLLER_RUNTIME_MODULE,
    {
        f"{package}.test": f"{CONTROLLER_RUNTIME_MODULE}/pkg/{package}"
        for package in ("client", "cache", "controller", "builder", "manager")
    },
    any_version=False,
)
HELM = Project("helm", MODULES / "helm", HELM_MODULE, {"helm": f"{HELM_MODULE}/cmd/helm"}, any_version=False)
CONFORMANCE_PROJECTS = (ETCD, KUBERNETES, CONTROL_PLANE, CONTROLLER_RUNTIME, E2E, HELM)


def main(projects: Iterable[Project] = PROJECTS) -> int:
    """Provide the programs of all projects; returns the exit code."""
    cache = BinaryCache.of_user()
    try:
        for project in projects:
            for program in project.programs:
                print(f"{program}: {provide(project, program, cache, assets=os.environ.get(ASSETS, ''))}", flush=True)
    except GoBuildError as error:
        print(f"{error}\n{_advice()}", file=sys.stderr)
        return 1
    return 0


def provide(project: Project, program: str, cache: BinaryCache, *, assets: str) -> Path:
    """The path of the program, which is built if it does not exist."""
    if assets and project.any_version and os.access(found := Path(assets, program), os.X_OK):
        return found
    place = cache.place(project.name, project.version, program)
    if not place.exists():
        install(project, program, place)
    return place


def install(project: Project, program: str, place: Path) -> None:
    """Build a program, check that it runs, and move it atomically into its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".building-") as folder:
        built = Path(folder, program)
        build(
            project.programs[program],
            built,
            module=project.folder,
            linker_flags=linker_flags(project),
            tests=program.endswith(".test"),
            title=f"{program} {project.version}",
        )
        _check_that_it_runs(built)
        built.replace(place)


def linker_flags(project: Project) -> str:
    """Linker flags that set the version of Kubernetes' programs; etcd's version is in its source."""
    if project.module != KUBERNETES_MODULE:
        return ""
    major, minor, *_ = project.version.removeprefix("v").split(".")
    values = {"gitVersion": project.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = "k8s.io/component-base/version", "k8s.io/client-go/pkg/version"
    return " ".join(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())


def _check_that_it_runs(program: Path) -> None:
    arguments = ["--version"]
    if program.name == "kubectl":
        arguments = ["version", "--client"]
    elif program.name == "helm":
        arguments = ["version"]
    elif program.name.endswith(".test"):
        arguments = ["-help"]
    try:
        subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise GoBuildError(f"{program.name} was built but does not run: {error}") from None


def _advice() -> str:
    needed = (MODULES / "kubernetes" / "go.mod").read_text()
    version = re.search(r"^go (\S+)", needed, re.MULTILINE)
    return (
        f"Install Go {version[1] if version else ''} or newer and set GOPROXY to a Go module proxy, "
        f"or set {ASSETS} to a folder with kube-apiserver, etcd and kubectl."
    )


if __name__ == "__main__":
    sys.exit(main(CONFORMANCE_PROJECTS if "conformance" in sys.argv[1:] else PROJECTS))
