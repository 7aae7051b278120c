"""Warnings for deprecated kinds, as kube-apiserver sends them with every response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from listwatch.meta import GroupVersionKind

__all__ = ["DEPRECATION_WARNINGS"]

# The minor versions of Kubernetes 1 that deprecate and remove a version of a group, its kinds, and the version that
# replaces it. 0 stands for no removal.
_DEPRECATED: tuple[tuple[str, int, int, str, str], ...] = (
    ("v1", 19, 0, "ComponentStatus", ""),
    ("admissionregistration.k8s.io/v1alpha1", 35, 38, "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding", ""),
    ("admissionregistration.k8s.io/v1beta1", 37, 40, "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding", "v1"),
    ("certificates.k8s.io/v1beta1", 37, 40, "ClusterTrustBundle PodCertificateRequest", "v1"),
    ("coordination.k8s.io/v1alpha2", 35, 38, "LeaseCandidate", ""),
    ("coordination.k8s.io/v1beta1", 36, 39, "LeaseCandidate", ""),
    ("resource.k8s.io/v1alpha3", 36, 39, "DeviceTaintRule", ""),
    ("resource.k8s.io/v1beta1", 35, 38, "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", ""),
    ("resource.k8s.io/v1beta2", 36, 39, "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", ""),
    ("storagemigration.k8s.io/v1beta1", 37, 40, "StorageVersionMigration", "v1"),
)


def _warnings() -> Iterator[tuple[GroupVersionKind, str]]:
    endpoints = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    yield GroupVersionKind("", "v1", "Endpoints"), endpoints
    for api_version, deprecated, removed, kinds, replacement in _DEPRECATED:
        group, _, version = api_version.rpartition("/")
        for kind in kinds.split():
            text = f"{api_version} {kind} is deprecated in v1.{deprecated}+"
            text += f", unavailable in v1.{removed}+" if removed else ""
            text += f"; use {group}/{replacement} {kind}" if replacement else ""
            yield GroupVersionKind(group, version, kind), text


DEPRECATION_WARNINGS: Mapping[GroupVersionKind, str] = dict(_warnings())
"""The warnings of the built-in kinds that are deprecated."""
