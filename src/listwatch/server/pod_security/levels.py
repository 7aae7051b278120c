"""The Pod Security levels that the labels of a namespace select."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from listwatch.errors import StatusCause
from listwatch.json_value import JSON
from listwatch.server.field_errors import invalid

__all__ = ["PREFIX", "LevelVersion", "NamespacePolicy", "policy_of", "strictness"]

PREFIX = "pod-security.kubernetes.io/"
_LEVELS = ("privileged", "baseline", "restricted")
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """A level, and the minor version of Kubernetes whose rules it has; None is the latest one."""

    level: str = "privileged"
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor is None else f'v1.{self.minor}'}"


@dataclass(frozen=True, slots=True)
class NamespacePolicy:
    """What a namespace enforces, audits and warns of."""

    enforce: LevelVersion
    audit: LevelVersion
    warn: LevelVersion

    @property
    def is_privileged(self) -> bool:
        return all(each.level == "privileged" for each in (self.enforce, self.audit, self.warn))


def strictness(level: str) -> int:
    return _LEVELS.index(level)


def policy_of(labels: Mapping[str, JSON]) -> tuple[NamespacePolicy, list[StatusCause]]:
    """Return the policy that labels select, and the problems of the labels."""
    problems: list[StatusCause] = []
    found = {mode: _read(labels, mode, problems) for mode in ("enforce", "audit", "warn")}
    enforce, warn = found["enforce"], found["warn"]
    # Without a level of its own, a namespace warns of what it enforces.
    is_valid = labels.get(f"{PREFIX}enforce") in _LEVELS
    if is_valid and f"{PREFIX}warn" not in labels and enforce.level != "privileged":
        own_version = f"{PREFIX}warn-version" in labels
        warn = LevelVersion(enforce.level, warn.minor if own_version else enforce.minor)
    return NamespacePolicy(enforce, found["audit"], warn), problems


def _read(labels: Mapping[str, JSON], mode: str, problems: list[StatusCause]) -> LevelVersion:
    level, minor = "privileged", None
    if (label := f"{PREFIX}{mode}") in labels:
        level = str(labels[label])
        if level not in _LEVELS:
            problems.append(invalid(f"metadata.labels[{label}]", level, f"must be one of {', '.join(_LEVELS)}"))
            # An unknown level must not weaken what is enforced.
            level = "restricted" if mode == "enforce" else "privileged"
    if (label := f"{PREFIX}{mode}-version") in labels and (version := str(labels[label])) != "latest":
        if match := _VERSION.fullmatch(version):
            minor = int(match[1][:9])
        else:
            problems.append(invalid(f"metadata.labels[{label}]", version, 'must be "latest" or "v1.x"'))
    return LevelVersion(level, minor)
