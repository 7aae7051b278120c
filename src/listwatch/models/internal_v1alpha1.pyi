"""The kinds and types of `internal.apiserver.k8s.io/v1alpha1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class ServerStorageVersion(Model):
    """An API server instance reports the version it can decode and the version it encodes objects to when persisting objects in the backend."""
    api_server_id: str = ""
    """apiServerID is the ID of the reporting API server.

    JSON: `apiServerID`. Required."""
    decodable_versions: list[str] = []
    """decodableVersions are the encoding versions the API server can handle to decode. The API server can decode objects encoded in these versions. The encodingVersion must be included in the decodableVersions.

    JSON: `decodableVersions`. Required."""
    encoding_version: str = ""
    """encodingVersion the API server encodes the object to when persisting it in the backend (e.g., etcd).

    JSON: `encodingVersion`. Required."""
    served_versions: list[str] = []
    """servedVersions lists all versions the API server can serve. DecodableVersions must include all ServedVersions.

    JSON: `servedVersions`. Default: absent."""


class StorageVersionCondition(Model):
    """Describes the state of the storageVersion at a certain point."""
    last_transition_time: datetime | None = None
    """lastTransitionTime is the last time the condition transitioned from one status to another.

    JSON: `lastTransitionTime`. Default: absent."""
    message: str = ""
    """message is a human readable string indicating details about the transition.

    JSON: `message`. Required."""
    observed_generation: int | None = None
    """observedGeneration represents the .metadata.generation that the condition was set based upon, if field is set.

    JSON: `observedGeneration`. Default: absent."""
    reason: str = ""
    """reason for the condition's last transition.

    JSON: `reason`. Required."""
    status: str = ""
    """status of the condition, one of True, False, Unknown.

    JSON: `status`. Required."""
    type: str = ""
    """type of the condition.

    JSON: `type`. Required."""


class StorageVersionSpec(Model):
    """StorageVersionSpec is an empty spec."""


class StorageVersionStatus(Model):
    """API server instances report the versions they can decode and the version they encode objects to when persisting objects in the backend."""
    common_encoding_version: str | None = None
    """commonEncodingVersion is set to an encoding storage version if all API server instances share that same version. If they don't share one storage version, this field is left empty. API servers should finish updating its storageVersionStatus entry before serving write operations, so that this field will be in sync with the reality.

    JSON: `commonEncodingVersion`. Default: absent."""
    conditions: list[StorageVersionCondition] = []
    """conditions lists the latest available observations of the storageVersion's state.

    JSON: `conditions`. Default: absent."""
    storage_versions: list[ServerStorageVersion] = []
    """storageVersions lists the reported versions per API server instance.

    JSON: `storageVersions`. Default: absent."""


class StorageVersion(Object):
    """Storage version of a specific resource."""
    spec: StorageVersionSpec = ...
    """spec is an empty spec. It is here to comply with Kubernetes API style.

    JSON: `spec`. Default: `{}`."""
    status: StorageVersionStatus = ...
    """status on the version the API server instance can decode from and encode objects to when persisting objects in the backend.

    JSON: `status`. Default: `{}`."""


class StorageVersionList(ObjectList[StorageVersion], item=StorageVersion):
    """A list of objects, as returned by one request."""
