"""Finds the binaries of Kubernetes and etcd.

The folder `KUBEBUILDER_ASSETS` is searched first, as in envtest, then the cache of the user, which holds all versions
that were built, then PATH:

    ~/.cache/listwatch/real/kubernetes-v1.36.3-linux-x86_64/kube-apiserver
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from listwatch.errors import ConfigError

__all__ = ["ASSETS", "BinaryCache", "ControlPlaneBinaries", "RealBinaries"]

ASSETS = "KUBEBUILDER_ASSETS"
"""The environment variable with the folder of the binaries."""


@dataclass(frozen=True, slots=True)
class RealBinaries:
    """The paths of the binaries; kubectl is optional."""

    kube_apiserver: Path
    etcd: Path
    kubectl: Path | None = None

    @classmethod
    def find(cls, *, kubernetes: str = "", etcd: str = "", environment: Mapping[str, str] | None = None) -> Self:
        """The binaries of KUBEBUILDER_ASSETS, or the newest in the cache, or those in PATH.

        A given version, such as `v3.6.16`, is searched in the cache only, where versions are known.
        """
        search = _Search.within(os.environ if environment is None else environment)
        return cls(
            kube_apiserver=search.program("kube-apiserver", kubernetes),
            etcd=search.program("etcd", etcd),
            kubectl=search.found("kubectl", kubernetes),
        )


@dataclass(frozen=True, slots=True)
class ControlPlaneBinaries:
    """The paths of the binaries of controllers and scheduler."""

    kube_controller_manager: Path
    kube_scheduler: Path

    @classmethod
    def find(cls, *, kubernetes: str = "", environment: Mapping[str, str] | None = None) -> Self:
        """The binaries of KUBEBUILDER_ASSETS, or those of a version in the cache, by default the newest, or in PATH."""
        search = _Search.within(os.environ if environment is None else environment)
        return cls(
            kube_controller_manager=search.program("kube-controller-manager", kubernetes),
            kube_scheduler=search.program("kube-scheduler", kubernetes),
        )


@dataclass(frozen=True, slots=True)
class BinaryCache:
    """Binaries by version and platform."""

    folder: Path

    @classmethod
    def of_user(cls, environment: Mapping[str, str] | None = None) -> Self:
        environment = os.environ if environment is None else environment
        home = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return cls(Path(home, "listwatch", "real"))

    def place(self, project: str, version: str, program: str) -> Path:
        """The path of a program of a project, such as kubernetes or etcd."""
        return self.folder / f"{project}-{version}-{_machine()}" / program

    def find(self, program: str, version: str = "") -> Path | None:
        """The program of that version, by default the newest; None if there is none."""
        wanted = f"v{version.removeprefix('v')}" if version else "v*"
        found = [path for path in self.folder.glob(f"*-{wanted}-{_machine()}/{program}") if _is_program(path)]
        return max(found, key=lambda path: _version_order(path.parent.name), default=None)


@dataclass(frozen=True, slots=True)
class _Search:
    assets: str
    cache: BinaryCache
    path: str

    @classmethod
    def within(cls, environment: Mapping[str, str]) -> Self:
        return cls(environment.get(ASSETS, ""), BinaryCache.of_user(environment), environment.get("PATH", ""))

    def found(self, name: str, version: str) -> Path | None:
        if self.assets and not version and _is_program(path := Path(self.assets, name)):
            return path
        if (cached := self.cache.find(name, version)) or version:
            return cached
        on_path = shutil.which(name, path=self.path)
        return Path(on_path) if on_path else None

    def program(self, name: str, version: str) -> Path:
        if path := self.found(name, version):
            return path
        if version:
            raise ConfigError(f"{name} {version} was not found below {self.cache.folder}")
        assets = f"in {self.assets} ({ASSETS})" if self.assets else f"in {ASSETS} (not set)"
        raise ConfigError(
            f"{name} was not found, neither {assets} nor below {self.cache.folder} nor in PATH; "
            f"set {ASSETS} to a folder with {name}"
        )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _machine() -> str:
    return f"{sys.platform}-{platform.machine()}"


def _version_order(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text.partition("-v")[2].partition("-")[0])]
