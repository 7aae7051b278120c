"""The kinds and types of `certificates.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class CertificateSigningRequestCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    reason: str | None = None
    message: str | None = None
    last_update_time: datetime | None = None
    last_transition_time: datetime | None = None


class CertificateSigningRequestSpec(Model):
    request: bytes = field(default_factory=bytes)
    signer_name: str = field(default_factory=str)
    expiration_seconds: int | None = None
    usages: list[str] = field(default_factory=list)
    username: str | None = None
    uid: str | None = None
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


class CertificateSigningRequestStatus(Model):
    conditions: list[CertificateSigningRequestCondition] = field(default_factory=list)
    certificate: bytes | None = None


class ClusterTrustBundleSpec(Model):
    signer_name: str | None = None
    trust_bundle: str = field(default_factory=str)


class PodCertificateRequestSpec(Model):
    signer_name: str = field(default_factory=str)
    pod_name: str = field(default_factory=str)
    pod_uid: str = field(default_factory=str, name="podUID")
    service_account_name: str = field(default_factory=str)
    service_account_uid: str = field(default_factory=str, name="serviceAccountUID")
    node_name: str = field(default_factory=str)
    node_uid: str = field(default_factory=str, name="nodeUID")
    max_expiration_seconds: int | None = None
    stub_pkcs10_request: bytes = field(default_factory=bytes, name="stubPKCS10Request")
    unverified_user_annotations: dict[str, str] = field(default_factory=dict)


class PodCertificateRequestStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    certificate_chain: str | None = None
    not_before: datetime | None = None
    begin_refresh_at: datetime | None = None
    not_after: datetime | None = None


class CertificateSigningRequest(
    Object,
    resource=Resource(
        "certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", "certificatesigningrequest",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("csr",),
        subresources=(
            Subresource("approval", "certificates.k8s.io", "v1", "CertificateSigningRequest", ("get", "patch", "update")),
            Subresource("status", "certificates.k8s.io", "v1", "CertificateSigningRequest", ("get", "patch", "update")),
        ),
    ),
):
    spec: CertificateSigningRequestSpec = lazy(CertificateSigningRequestSpec)
    status: CertificateSigningRequestStatus = lazy(CertificateSigningRequestStatus)


class ClusterTrustBundle(
    Object,
    resource=Resource(
        "certificates.k8s.io", "v1", "ClusterTrustBundle", "clustertrustbundles", "clustertrustbundle",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: ClusterTrustBundleSpec = lazy(ClusterTrustBundleSpec)


class PodCertificateRequest(
    Object,
    resource=Resource(
        "certificates.k8s.io", "v1", "PodCertificateRequest", "podcertificaterequests", "podcertificaterequest",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "certificates.k8s.io", "v1", "PodCertificateRequest", ("get", "patch", "update")),
        ),
    ),
):
    spec: PodCertificateRequestSpec = lazy(PodCertificateRequestSpec)
    status: PodCertificateRequestStatus = lazy(PodCertificateRequestStatus)


class CertificateSigningRequestList(ObjectList[CertificateSigningRequest], item=CertificateSigningRequest):
    """A list of objects, as returned by one request."""


class ClusterTrustBundleList(ObjectList[ClusterTrustBundle], item=ClusterTrustBundle):
    """A list of objects, as returned by one request."""


class PodCertificateRequestList(ObjectList[PodCertificateRequest], item=PodCertificateRequest):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
