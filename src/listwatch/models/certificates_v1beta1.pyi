"""The kinds and types of `certificates.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.models import meta_v1
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class ClusterTrustBundleSpec(Model):
    signer_name: str | None = None
    """JSON: `signerName`. Default: absent."""
    trust_bundle: str = ""
    """JSON: `trustBundle`. Required."""


class PodCertificateRequestSpec(Model):
    max_expiration_seconds: int | None = None
    """JSON: `maxExpirationSeconds`. Default: `86400`, set by the server."""
    node_name: str = ""
    """JSON: `nodeName`. Required."""
    node_uid: str = ""
    """JSON: `nodeUID`. Required."""
    pkix_public_key: bytes | None = None
    """JSON: `pkixPublicKey`. Default: absent."""
    pod_name: str = ""
    """JSON: `podName`. Required."""
    pod_uid: str = ""
    """JSON: `podUID`. Required."""
    proof_of_possession: bytes | None = None
    """JSON: `proofOfPossession`. Default: absent."""
    service_account_name: str = ""
    """JSON: `serviceAccountName`. Required."""
    service_account_uid: str = ""
    """JSON: `serviceAccountUID`. Required."""
    signer_name: str = ""
    """JSON: `signerName`. Required."""
    stub_pkcs10_request: bytes = b""
    """JSON: `stubPKCS10Request`. Required."""
    unverified_user_annotations: dict[str, str] = {}
    """JSON: `unverifiedUserAnnotations`. Default: absent."""


class PodCertificateRequestStatus(Model):
    begin_refresh_at: datetime | None = None
    """JSON: `beginRefreshAt`. Default: absent."""
    certificate_chain: str | None = None
    """JSON: `certificateChain`. Default: absent."""
    conditions: list[meta_v1.Condition] = []
    """JSON: `conditions`. Default: absent."""
    not_after: datetime | None = None
    """JSON: `notAfter`. Default: absent."""
    not_before: datetime | None = None
    """JSON: `notBefore`. Default: absent."""


class ClusterTrustBundle(Object):
    spec: ClusterTrustBundleSpec = ...
    """JSON: `spec`. Required."""


class PodCertificateRequest(Object):
    spec: PodCertificateRequestSpec = ...
    """JSON: `spec`. Required."""
    status: PodCertificateRequestStatus = ...
    """JSON: `status`. Default: `{}`."""


class ClusterTrustBundleList(ObjectList[ClusterTrustBundle], item=ClusterTrustBundle):
    """A list of objects, as returned by one request."""


class PodCertificateRequestList(ObjectList[PodCertificateRequest], item=PodCertificateRequest):
    """A list of objects, as returned by one request."""
