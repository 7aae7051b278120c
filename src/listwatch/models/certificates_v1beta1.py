"""The kinds and types of `certificates.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

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
    pkix_public_key: bytes | None = None
    proof_of_possession: bytes | None = None
    stub_pkcs10_request: bytes = field(default_factory=bytes, name="stubPKCS10Request")
    unverified_user_annotations: dict[str, str] = field(default_factory=dict)


class PodCertificateRequestStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    certificate_chain: str | None = None
    not_before: datetime | None = None
    begin_refresh_at: datetime | None = None
    not_after: datetime | None = None


class ClusterTrustBundle(
    Object,
    resource=Resource(
        "certificates.k8s.io", "v1beta1", "ClusterTrustBundle", "clustertrustbundles", "clustertrustbundle",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: ClusterTrustBundleSpec = lazy(ClusterTrustBundleSpec)


class PodCertificateRequest(
    Object,
    resource=Resource(
        "certificates.k8s.io", "v1beta1", "PodCertificateRequest", "podcertificaterequests", "podcertificaterequest",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "certificates.k8s.io", "v1beta1", "PodCertificateRequest", ("get", "patch", "update")),
        ),
    ),
):
    spec: PodCertificateRequestSpec = lazy(PodCertificateRequestSpec)
    status: PodCertificateRequestStatus = lazy(PodCertificateRequestStatus)


class ClusterTrustBundleList(ObjectList[ClusterTrustBundle], item=ClusterTrustBundle):
    """A list of objects, as returned by one request."""


class PodCertificateRequestList(ObjectList[PodCertificateRequest], item=PodCertificateRequest):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
