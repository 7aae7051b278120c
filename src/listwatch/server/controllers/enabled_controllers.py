"""The controllers inside the server that a cluster has in kube-controller-manager, and which of them run."""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.errors import UsageError

__all__ = [
    "CLAIM_PROTECTION",
    "CONTROLLERS",
    "GARBAGE_COLLECTOR",
    "NAMESPACE",
    "NODE_LIFECYCLE",
    "POLICY_STATUS",
    "RESOURCE_QUOTA",
    "ROLE_AGGREGATION",
    "ROOT_CA",
    "SERVICE_ACCOUNT",
    "VOLUME_CLASS_PROTECTION",
    "VOLUME_PROTECTION",
    "enabled_controllers",
]

CLAIM_PROTECTION = "persistentvolumeclaim-protection-controller"
GARBAGE_COLLECTOR = "garbage-collector-controller"
NAMESPACE = "namespace-controller"
NODE_LIFECYCLE = "node-lifecycle-controller"
POLICY_STATUS = "validatingadmissionpolicy-status-controller"
RESOURCE_QUOTA = "resourcequota-controller"
ROLE_AGGREGATION = "clusterrole-aggregation-controller"
ROOT_CA = "root-ca-certificate-publisher-controller"
SERVICE_ACCOUNT = "serviceaccount-controller"
VOLUME_CLASS_PROTECTION = "volumeattributesclass-protection-controller"
VOLUME_PROTECTION = "persistentvolume-protection-controller"

CONTROLLERS = frozenset(
    {
        CLAIM_PROTECTION,
        GARBAGE_COLLECTOR,
        NAMESPACE,
        NODE_LIFECYCLE,
        POLICY_STATUS,
        RESOURCE_QUOTA,
        ROLE_AGGREGATION,
        ROOT_CA,
        SERVICE_ACCOUNT,
        VOLUME_CLASS_PROTECTION,
        VOLUME_PROTECTION,
    }
)
"""The names are those of kube-controller-manager."""

_ALL = "*"


def enabled_controllers(selection: str | Iterable[str]) -> frozenset[str]:
    """Return the names of the enabled controllers; `selection` is what `--controllers` of kube-controller-manager is.

    `*` enables all, a name enables one, and a name after `-` disables one. A string has several separated by commas.
    """
    entries = selection.split(",") if isinstance(selection, str) else [*selection]
    entries = [each for each in entries if each]
    if unknown := {each.removeprefix("-") for each in entries} - CONTROLLERS - {_ALL}:
        raise UsageError(
            f"{min(unknown)!r} is not a controller of the embedded server, which has {', '.join(sorted(CONTROLLERS))}"
        )
    # As in kube-controller-manager, the first entry with the name of a controller decides.
    first = {each.removeprefix("-"): not each.startswith("-") for each in reversed(entries)}
    return frozenset(each for each in CONTROLLERS if first.get(each, _ALL in entries))
