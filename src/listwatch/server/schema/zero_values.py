"""Which zero values the API writes: it omits most of them, and always writes some fields.

The schema does not declare this, but an update that only adds `finalizers: []` must change nothing.
"""

from __future__ import annotations

from msgspec import UNSET

from listwatch.server.schema.schema import FieldSchema

__all__ = ["is_always_written", "is_null_when_unset", "is_written_when_zero"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# An empty string that differs from no value.
_MEANINGFUL_STRINGS = _words(
    """
    PersistentVolumeClaimSpec.storageClassName PersistentVolumeClaimSpec.volumeAttributesClassName
    PersistentVolumeSpec.volumeAttributesClassName PersistentVolumeClaimStatus.currentVolumeAttributesClassName
    PodSpec.runtimeClassName PodSpec.hostnameOverride IngressSpec.ingressClassName JobSpec.managedBy
    CronJobSpec.timeZone LeaseSpec.holderIdentity LeaseSpec.preferredHolder LeaseSpec.strategy HostPathVolumeSource.type
    EndpointPort.name EndpointPort.protocol EndpointPort.appProtocol ServicePort.appProtocol
    Endpoint.hostname Endpoint.nodeName Endpoint.zone EndpointAddress.nodeName
    ServiceSpec.loadBalancerClass ServiceSpec.trafficDistribution ServiceReference.path WebhookClientConfig.url
    SeccompProfile.localhostProfile AppArmorProfile.localhostProfile CSIVolumeSource.fsType LocalVolumeSource.fsType
    TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup TypedObjectReference.namespace
    IngressClassParametersReference.apiGroup IngressClassParametersReference.namespace PodDNSConfigOption.value
    Preconditions.resourceVersion Preconditions.uid DeviceAttribute.string DeviceAttribute.version
    """
)
# Omitted when false or 0; other flags and numbers are written.
_OMITTED_FLAGS = _words(
    """
    readOnly stdin stdinOnce tty hostIPC hostNetwork hostPID unschedulable publishNotReadyAddresses paused
    chapAuthDiscovery chapAuthSession sslEnabled globalDefault clusterScope allNodes denied authenticated
    """
)
_OMITTED_NUMBERS = _words(
    """
    generation observedGeneration minReadySeconds hostPort nodePort healthCheckNodePort partition templateGeneration
    signal sizeBytes code retryAfterSeconds failureThreshold initialDelaySeconds periodSeconds successThreshold
    timeoutSeconds count deprecatedCount number limit
    """
)
_MEANINGFUL_NUMBERS = _words(
    """
    RollingUpdateStatefulSetStrategy.partition MutatingWebhook.timeoutSeconds ValidatingWebhook.timeoutSeconds
    ClientIPConfig.timeoutSeconds
    """
)
_MEANINGFUL_STATUS_NUMBERS = _words("collisionCount ready terminating terminatingReplicas averageUtilization")

# The zero value of Go's IntOrString is a number.
_PORTS = _words("HTTPGetAction.port TCPSocketAction.port")

# These declare an empty string or 0 as default, but are omitted.
_NOT_ALWAYS_WRITTEN = _words(
    """
    LocalObjectReference.name ConfigMapEnvSource.name ConfigMapKeySelector.name ConfigMapProjection.name
    ConfigMapVolumeSource.name SecretEnvSource.name SecretKeySelector.name SecretProjection.name NodeRuntimeHandler.name
    ScaleSpec.replicas DeviceRequest.deviceClassName ReplicationControllerSpec.minReadySeconds
    """
)


# Written as null if not set: times and lists without omitempty in Go.
_NULL_WHEN_UNSET = _words(
    """
    CertificateSigningRequestCondition.lastTransitionTime CertificateSigningRequestCondition.lastUpdateTime
    Condition.lastTransitionTime ContainerStateRunning.startedAt ContainerStateTerminated.finishedAt
    ContainerStateTerminated.startedAt DaemonSetCondition.lastTransitionTime DeploymentCondition.lastTransitionTime
    DeploymentCondition.lastUpdateTime FlowSchemaCondition.lastTransitionTime
    HorizontalPodAutoscalerCondition.lastTransitionTime HorizontalPodAutoscalerStatus.currentMetrics
    JobCondition.lastProbeTime JobCondition.lastTransitionTime
    NamespaceCondition.lastTransitionTime NodeCondition.lastHeartbeatTime NodeCondition.lastTransitionTime
    PersistentVolumeClaimCondition.lastProbeTime PersistentVolumeClaimCondition.lastTransitionTime
    PodCondition.lastProbeTime PodCondition.lastTransitionTime PriorityLevelConfigurationCondition.lastTransitionTime
    ReplicaSetCondition.lastTransitionTime ReplicationControllerCondition.lastTransitionTime
    StatefulSetCondition.lastTransitionTime VolumeError.time
    ClusterRole.rules EndpointSlice.endpoints EndpointSlice.ports Event.eventTime Role.rules
    """
)


def is_null_when_unset(struct: str, field: FieldSchema) -> bool:
    """Whether a field is written as null if it is not set."""
    return f"{struct}.{field.name}" in _NULL_WHEN_UNSET


def is_always_written(struct: str, field: FieldSchema) -> bool:
    """Whether a field is written even if it is not set: its default is the zero value of its type."""
    if f"{struct}.{field.name}" in _PORTS:
        return True
    if field.default is UNSET or field.default or field.type.type in ("list", "map"):
        return False
    return f"{struct}.{field.name}" not in _NOT_ALWAYS_WRITTEN


def is_written_when_zero(struct: str, field: FieldSchema) -> bool:
    """Whether a field is written if it is set to an empty value, false or 0."""
    name = f"{struct}.{field.name}"
    if name in _NULL_WHEN_UNSET:
        return False
    if field.required or is_always_written(struct, field):
        return True
    match field.type.type:
        case "list" | "map":
            # An empty list resets the managers.
            return name == "ObjectMeta.managedFields"
        case "string":
            return name in _MEANINGFUL_STRINGS
        case "boolean":
            return field.name not in _OMITTED_FLAGS
        case "integer" if struct.endswith("Status"):
            return field.name in _MEANINGFUL_STATUS_NUMBERS
        case "integer":
            return name != "ScaleSpec.replicas" and (field.name not in _OMITTED_NUMBERS or name in _MEANINGFUL_NUMBERS)
        case _:
            return True
