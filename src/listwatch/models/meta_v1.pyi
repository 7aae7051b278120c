"""The kinds and types of `meta/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime
from typing import Any

from listwatch.objects.metadata import (
    ListMeta as ListMeta,
    ManagedFieldsEntry as ManagedFieldsEntry,
    ObjectMeta as ObjectMeta,
    OwnerReference as OwnerReference,
    ShardInfo as ShardInfo,
)
from listwatch.objects.declarations.model import Model


class APIResource(Model):
    """APIResource specifies the name of a resource and whether it is namespaced."""
    categories: list[str] = []
    """categories is a list of the grouped resources this resource belongs to (e.g. 'all')

    JSON: `categories`. Default: absent."""
    group: str | None = None
    """group is the preferred group of the resource.  Empty implies the group of the containing resource list. For subresources, this may have a different value, for example: Scale".

    JSON: `group`. Default: absent."""
    kind: str = ""
    """kind is the kind for the resource (e.g. 'Foo' is the kind for a resource 'foo')

    JSON: `kind`. Required."""
    name: str = ""
    """name is the plural name of the resource.

    JSON: `name`. Required."""
    namespaced: bool = False
    """namespaced indicates if a resource is namespaced or not.

    JSON: `namespaced`. Required."""
    short_names: list[str] = []
    """shortNames is a list of suggested short names of the resource.

    JSON: `shortNames`. Default: absent."""
    singular_name: str = ""
    """singularName is the singular name of the resource.  This allows clients to handle plural and singular opaquely. The singularName is more correct for reporting status on a single item and both singular and plural are allowed from the kubectl CLI interface.

    JSON: `singularName`. Required."""
    storage_version_hash: str | None = None
    """The hash value of the storage version, the version this resource is converted to when written to the data store. Value must be treated as opaque by clients. Only equality comparison on the value is valid. This is an alpha feature and may change or be removed in the future. The field is populated by the apiserver only if the StorageVersionHash feature gate is enabled. This field will remain optional even if it graduates.

    JSON: `storageVersionHash`. Default: absent."""
    verbs: list[str] = []
    """verbs is a list of supported kube verbs (this includes get, list, watch, create, update, patch, delete, deletecollection, and proxy)

    JSON: `verbs`. Required."""
    version: str | None = None
    """version is the preferred version of the resource.  Empty implies the version of the containing resource list For subresources, this may have a different value, for example: v1 (while inside a v1beta1 version of the core resource's group)".

    JSON: `version`. Default: absent."""


class APIResourceList(Model):
    """APIResourceList is a list of APIResource, it is used to expose the name of the resources supported in a specific group and version, and if the resource is namespaced."""
    api_version: str | None = None
    """APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources

    JSON: `apiVersion`. Default: absent."""
    group_version: str = ""
    """groupVersion is the group and version this APIResourceList is for.

    JSON: `groupVersion`. Required."""
    kind: str | None = None
    """Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `kind`. Default: absent."""
    resources: list[APIResource] = []
    """resources contains the name of the resources and if they are namespaced.

    JSON: `resources`. Required."""


class Condition(Model):
    """Condition contains details for one aspect of the current state of this API Resource."""
    last_transition_time: datetime | None = None
    """lastTransitionTime is the last time the condition transitioned from one status to another. This should be when the underlying condition changed.  If that is not known, then using the time when the API field changed is acceptable.

    JSON: `lastTransitionTime`. Required."""
    message: str = ""
    """message is a human readable message indicating details about the transition. This may be an empty string.

    JSON: `message`. Required."""
    observed_generation: int | None = None
    """observedGeneration represents the .metadata.generation that the condition was set based upon. For instance, if .metadata.generation is currently 12, but the .status.conditions[x].observedGeneration is 9, the condition is out of date with respect to the current state of the instance.

    JSON: `observedGeneration`. Default: absent."""
    reason: str = ""
    """reason contains a programmatic identifier indicating the reason for the condition's last transition. Producers of specific condition types may define expected values and meanings for this field, and whether the values are considered a guaranteed API. The value should be a CamelCase string. This field may not be empty.

    JSON: `reason`. Required."""
    status: str = ""
    """status of the condition, one of True, False, Unknown.

    JSON: `status`. Required."""
    type: str = ""
    """type of condition in CamelCase or in foo.example.com/CamelCase.

    JSON: `type`. Required."""


class DeleteOptions(Model):
    """DeleteOptions may be provided when deleting an API object."""
    api_version: str | None = None
    """APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources

    JSON: `apiVersion`. Default: absent."""
    dry_run: list[str] = []
    """When present, indicates that modifications should not be persisted. An invalid or unrecognized dryRun directive will result in an error response and no further processing of the request. Valid values are: - All: all dry run stages will be processed

    JSON: `dryRun`. Default: absent."""
    grace_period_seconds: int | None = None
    """The duration in seconds before the object should be deleted. Value must be non-negative integer. The value zero indicates delete immediately. If this value is nil, the default grace period for the specified type will be used. Defaults to a per object value if not specified. zero means delete immediately.

    JSON: `gracePeriodSeconds`. Default: absent."""
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    """if set to true, it will trigger an unsafe deletion of the resource in case the normal deletion flow fails with a corrupt object error. A resource is considered corrupt if it can not be retrieved from the underlying storage successfully because of a) its data can not be transformed e.g. decryption failure, or b) it fails to decode into an object. NOTE: unsafe deletion ignores finalizer constraints, skips precondition checks, and removes the object from the storage. WARNING: This may potentially break the cluster if the workload associated with the resource being unsafe-deleted relies on normal deletion flow. Use only if you REALLY know what you are doing. The default value is false, and the user must opt in to enable it

    JSON: `ignoreStoreReadErrorWithClusterBreakingPotential`. Default: absent."""
    kind: str | None = None
    """Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `kind`. Default: absent."""
    orphan_dependents: bool | None = None
    """Deprecated: please use the PropagationPolicy, this field will be deprecated in 1.7. Should the dependent objects be orphaned. If true/false, the "orphan" finalizer will be added to/removed from the object's finalizers list. Either this field or PropagationPolicy may be set, but not both.

    JSON: `orphanDependents`. Default: absent."""
    preconditions: Preconditions | None = None
    """Must be fulfilled before a deletion is carried out. If not possible, a 409 Conflict status will be returned.

    JSON: `preconditions`. Default: absent."""
    propagation_policy: str | None = None
    """Whether and how garbage collection will be performed. Either this field or OrphanDependents may be set, but not both. The default policy is decided by the existing finalizer set in the metadata.finalizers and the resource-specific default policy. Acceptable values are: 'Orphan' - orphan the dependents; 'Background' - allow the garbage collector to delete the dependents in the background; 'Foreground' - a cascading policy that deletes all dependents in the foreground.

    JSON: `propagationPolicy`. Default: absent."""


class FieldSelectorRequirement(Model):
    """FieldSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and values."""
    key: str = ""
    """key is the field selector key that the requirement applies to.

    JSON: `key`. Required."""
    operator: str = ""
    """operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists, DoesNotExist. The list of operators may grow in the future.

    JSON: `operator`. Required."""
    values: list[str] = []
    """values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or DoesNotExist, the values array must be empty.

    JSON: `values`. Default: absent."""


class GroupResource(Model):
    group: str = ""
    """JSON: `group`. Required."""
    resource: str = ""
    """JSON: `resource`. Required."""


class Info(Model):
    """Info contains versioning information. how we'll want to distribute that information."""
    build_date: str = ""
    """JSON: `buildDate`. Required."""
    compiler: str = ""
    """JSON: `compiler`. Required."""
    emulation_major: str | None = None
    """EmulationMajor is the major version of the emulation version

    JSON: `emulationMajor`. Default: absent."""
    emulation_minor: str | None = None
    """EmulationMinor is the minor version of the emulation version

    JSON: `emulationMinor`. Default: absent."""
    git_commit: str = ""
    """JSON: `gitCommit`. Required."""
    git_tree_state: str = ""
    """JSON: `gitTreeState`. Required."""
    git_version: str = ""
    """JSON: `gitVersion`. Required."""
    go_version: str = ""
    """JSON: `goVersion`. Required."""
    major: str = ""
    """Major is the major version of the binary version

    JSON: `major`. Required."""
    min_compatibility_major: str | None = None
    """MinCompatibilityMajor is the major version of the minimum compatibility version

    JSON: `minCompatibilityMajor`. Default: absent."""
    min_compatibility_minor: str | None = None
    """MinCompatibilityMinor is the minor version of the minimum compatibility version

    JSON: `minCompatibilityMinor`. Default: absent."""
    minor: str = ""
    """Minor is the minor version of the binary version

    JSON: `minor`. Required."""
    platform: str = ""
    """JSON: `platform`. Required."""


class LabelSelector(Model):
    """A label selector is a label query over a set of resources. The result of matchLabels and matchExpressions are ANDed. An empty label selector matches all objects. A null label selector matches no objects."""
    match_expressions: list[LabelSelectorRequirement] = []
    """matchExpressions is a list of label selector requirements. The requirements are ANDed.

    JSON: `matchExpressions`. Default: absent."""
    match_labels: dict[str, str] = {}
    """matchLabels is a map of {key,value} pairs. A single {key,value} in the matchLabels map is equivalent to an element of matchExpressions, whose key field is "key", the operator is "In", and the values array contains only "value". The requirements are ANDed.

    JSON: `matchLabels`. Default: absent."""


class LabelSelectorRequirement(Model):
    """A label selector requirement is a selector that contains values, a key, and an operator that relates the key and values."""
    key: str = ""
    """key is the label key that the selector applies to.

    JSON: `key`. Required."""
    operator: str = ""
    """operator represents a key's relationship to a set of values. Valid operators are In, NotIn, Exists and DoesNotExist.

    JSON: `operator`. Required."""
    values: list[str] = []
    """values is an array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or DoesNotExist, the values array must be empty. This array is replaced during a strategic merge patch.

    JSON: `values`. Default: absent."""


class Preconditions(Model):
    """Preconditions must be fulfilled before an operation (update, delete, etc.) is carried out."""
    resource_version: str | None = None
    """Specifies the target ResourceVersion

    JSON: `resourceVersion`. Default: absent."""
    uid: str | None = None
    """Specifies the target UID.

    JSON: `uid`. Default: absent."""


class Status(Model):
    """Status is a return value for calls that don't return other objects."""
    api_version: str | None = None
    """APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources

    JSON: `apiVersion`. Default: absent."""
    code: int | None = None
    """Suggested HTTP return code for this status, 0 if not set.

    JSON: `code`. Default: absent."""
    details: StatusDetails | None = None
    """Extended data associated with the reason.  Each reason may define its own extended details. This field is optional and the data returned is not guaranteed to conform to any schema except that defined by the reason type.

    JSON: `details`. Default: absent."""
    kind: str | None = None
    """Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `kind`. Default: absent."""
    message: str | None = None
    """A human-readable description of the status of this operation.

    JSON: `message`. Default: absent."""
    metadata: ListMeta = ...
    """Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `metadata`. Default: `{}`."""
    reason: str | None = None
    """A machine-readable description of why this operation is in the "Failure" status. If this value is empty there is no information available. A Reason clarifies an HTTP status code but does not override it.

    JSON: `reason`. Default: absent."""
    status: str | None = None
    """Status of the operation. One of: "Success" or "Failure". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status

    JSON: `status`. Default: absent."""


class StatusCause(Model):
    """StatusCause provides more information about an api.Status failure, including cases when multiple errors are encountered."""
    field: str | None = None
    """The field of the resource that has caused this error, as named by its JSON serialization. May include dot and postfix notation for nested attributes. Arrays are zero-indexed.  Fields may appear more than once in an array of causes due to fields having multiple errors. Optional.

    Examples:
      "name" - the field "name" on the current resource
      "items[0].name" - the field "name" on the first array entry in "items"

    JSON: `field`. Default: absent."""
    message: str | None = None
    """A human-readable description of the cause of the error.  This field may be presented as-is to a reader.

    JSON: `message`. Default: absent."""
    reason: str | None = None
    """A machine-readable description of the cause of the error. If this value is empty there is no information available.

    JSON: `reason`. Default: absent."""


class StatusDetails(Model):
    """StatusDetails is a set of additional properties that MAY be set by the server to provide additional information about a response. The Reason field of a Status object defines what attributes will be set. Clients must ignore fields that do not match the defined type of each attribute, and should assume that any attribute may be empty, invalid, or under defined."""
    causes: list[StatusCause] = []
    """The Causes array includes more details associated with the StatusReason failure. Not all StatusReasons may provide detailed causes.

    JSON: `causes`. Default: absent."""
    group: str | None = None
    """The group attribute of the resource associated with the status StatusReason.

    JSON: `group`. Default: absent."""
    kind: str | None = None
    """The kind attribute of the resource associated with the status StatusReason. On some operations may differ from the requested resource Kind. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `kind`. Default: absent."""
    name: str | None = None
    """The name attribute of the resource associated with the status StatusReason (when there is a single name which can be described).

    JSON: `name`. Default: absent."""
    retry_after_seconds: int | None = None
    """If specified, the time in seconds before the operation should be retried. Some errors may indicate the client must take an alternate action - for those errors this field may indicate how long to wait before taking the alternate action.

    JSON: `retryAfterSeconds`. Default: absent."""
    uid: str | None = None
    """UID of the resource. (when there is a single resource which can be described). More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids

    JSON: `uid`. Default: absent."""


class WatchEvent(Model):
    """Event represents a single event to a watched resource."""
    object: dict[str, Any] = {}
    """Object is:
     * If Type is Added or Modified: the new state of the object.
     * If Type is Deleted: the state of the object immediately before deletion.
     * If Type is Error: *Status is recommended; other types may make sense
       depending on context.

    JSON: `object`. Required."""
    type: str = ""
    """JSON: `type`. Required."""
