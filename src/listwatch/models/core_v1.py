"""The kinds and types of `v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import MicroTime, Model, Quantity, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class AWSElasticBlockStoreVolumeSource(Model):
    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None
    volume_id: str = field(default_factory=str, name="volumeID")


class Affinity(Model):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class AppArmorProfile(Model):
    localhost_profile: str | None = None
    type: str = field(default_factory=str)


class AttachedVolume(Model):
    device_path: str = field(default_factory=str)
    name: str = field(default_factory=str)


class AzureDiskVolumeSource(Model):
    caching_mode: str | None = None
    disk_name: str = field(default_factory=str)
    disk_uri: str = field(default_factory=str, name="diskURI")
    fs_type: str | None = None
    kind: str | None = None
    read_only: bool = field(default_factory=bool)


class AzureFilePersistentVolumeSource(Model):
    read_only: bool | None = None
    secret_name: str = field(default_factory=str)
    secret_namespace: str | None = None
    share_name: str = field(default_factory=str)


class AzureFileVolumeSource(Model):
    read_only: bool | None = None
    secret_name: str = field(default_factory=str)
    share_name: str = field(default_factory=str)


class CSIPersistentVolumeSource(Model):
    controller_expand_secret_ref: SecretReference | None = None
    controller_publish_secret_ref: SecretReference | None = None
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    node_expand_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = field(default_factory=dict)
    volume_handle: str = field(default_factory=str)


class CSIVolumeSource(Model):
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    node_publish_secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = field(default_factory=dict)


class Capabilities(Model):
    add: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)


class CephFSPersistentVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: SecretReference | None = None
    user: str | None = None


class CephFSVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


class CinderPersistentVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    volume_id: str = field(default_factory=str, name="volumeID")


class CinderVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_id: str = field(default_factory=str, name="volumeID")


class ClientIPConfig(Model):
    timeout_seconds: int | None = None


class ClusterTrustBundleProjection(Model):
    label_selector: meta_v1.LabelSelector | None = None
    name: str | None = None
    optional: bool | None = None
    path: str = field(default_factory=str)
    signer_name: str | None = None
    user: int | None = None


class ComponentCondition(Model):
    error: str | None = None
    message: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class ConfigMapEnvSource(Model):
    name: str = field(default_factory=str)
    optional: bool | None = None


class ConfigMapKeySelector(Model):
    key: str = field(default_factory=str)
    name: str = field(default_factory=str)
    optional: bool | None = None


class ConfigMapNodeConfigSource(Model):
    kubelet_config_key: str = field(default_factory=str)
    name: str = field(default_factory=str)
    namespace: str = field(default_factory=str)
    resource_version: str | None = None
    uid: str | None = None


class ConfigMapProjection(Model):
    items: list[KeyToPath] = field(default_factory=list)
    name: str = field(default_factory=str)
    optional: bool | None = None


class ConfigMapVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[KeyToPath] = field(default_factory=list)
    name: str = field(default_factory=str)
    optional: bool | None = None


class ResourceRequirements(Model):
    claims: list[ResourceClaim] = field(default_factory=list)
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class Container(Model):
    args: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    env: list[EnvVar] = field(default_factory=list)
    env_from: list[EnvFromSource] = field(default_factory=list)
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = field(default_factory=str)
    ports: list[ContainerPort] = field(default_factory=list)
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = field(default_factory=list)
    volume_mounts: list[VolumeMount] = field(default_factory=list)
    working_dir: str | None = None


class ContainerExtendedResourceRequest(Model):
    container_name: str = field(default_factory=str)
    request_name: str = field(default_factory=str)
    resource_name: str = field(default_factory=str)


class ContainerImage(Model):
    names: list[str] = field(default_factory=list)
    size_bytes: int | None = None


class ContainerPort(Model):
    container_port: int = field(default_factory=int)
    host_ip: str | None = field(default=None, name="hostIP")
    host_port: int | None = None
    name: str | None = None
    protocol: str | None = None


class ContainerResizePolicy(Model):
    resource_name: str = field(default_factory=str)
    restart_policy: str = field(default_factory=str)


class ContainerRestartRule(Model):
    action: str = field(default_factory=str)
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class ContainerRestartRuleOnExitCodes(Model):
    operator: str = field(default_factory=str)
    values: list[int] = field(default_factory=list)


class ContainerState(Model):
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


class ContainerStateRunning(Model):
    started_at: datetime | None = None


class ContainerStateTerminated(Model):
    container_id: str | None = field(default=None, name="containerID")
    exit_code: int = field(default_factory=int)
    finished_at: datetime | None = None
    message: str | None = None
    reason: str | None = None
    signal: int | None = None
    started_at: datetime | None = None


class ContainerStateWaiting(Model):
    message: str | None = None
    reason: str | None = None


class ContainerStatus(Model):
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    allocated_resources_status: list[ResourceStatus] = field(default_factory=list)
    container_id: str | None = field(default=None, name="containerID")
    image: str = field(default_factory=str)
    image_id: str = field(default_factory=str, name="imageID")
    last_state: ContainerState = field(default_factory=ContainerState)
    name: str = field(default_factory=str)
    ready: bool = field(default_factory=bool)
    resources: ResourceRequirements | None = None
    restart_count: int = field(default_factory=int)
    started: bool | None = None
    state: ContainerState = field(default_factory=ContainerState)
    stop_signal: str | None = None
    user: ContainerUser | None = None
    volume_mounts: list[VolumeMountStatus] = field(default_factory=list)


class ContainerUser(Model):
    linux: LinuxContainerUser | None = None


class DaemonEndpoint(Model):
    port: int = field(default_factory=int, name="Port")


class DownwardAPIProjection(Model):
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)


class DownwardAPIVolumeFile(Model):
    field_ref: ObjectFieldSelector | None = None
    mode: int | None = None
    path: str = field(default_factory=str)
    resource_field_ref: ResourceFieldSelector | None = None
    user: int | None = None


class DownwardAPIVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)


class EmptyDirVolumeSource(Model):
    medium: str | None = None
    mode: int | None = None
    size_limit: Quantity | None = None


class EndpointAddress(Model):
    hostname: str | None = None
    ip: str = field(default_factory=str)
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Model):
    app_protocol: str | None = None
    name: str | None = None
    port: int = field(default_factory=int)
    protocol: str | None = None


class EndpointSubset(Model):
    addresses: list[EndpointAddress] = field(default_factory=list)
    not_ready_addresses: list[EndpointAddress] = field(default_factory=list)
    ports: list[EndpointPort] = field(default_factory=list)


class EnvFromSource(Model):
    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


class EnvVar(Model):
    name: str = field(default_factory=str)
    value: str | None = None
    value_from: EnvVarSource | None = None


class EnvVarSource(Model):
    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


class EphemeralContainer(Model):
    args: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    env: list[EnvVar] = field(default_factory=list)
    env_from: list[EnvFromSource] = field(default_factory=list)
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = field(default_factory=str)
    ports: list[ContainerPort] = field(default_factory=list)
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    target_container_name: str | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = field(default_factory=list)
    volume_mounts: list[VolumeMount] = field(default_factory=list)
    working_dir: str | None = None


class EphemeralVolumeSource(Model):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class EventSeries(Model):
    count: int | None = None
    last_observed_time: MicroTime | None = None


class EventSource(Model):
    component: str | None = None
    host: str | None = None


class EvictionResponder(Model):
    name: str = field(default_factory=str)
    priority: int = field(default_factory=int)


class ExecAction(Model):
    command: list[str] = field(default_factory=list)


class FCVolumeSource(Model):
    fs_type: str | None = None
    lun: int | None = None
    read_only: bool | None = None
    target_wwns: list[str] = field(default_factory=list, name="targetWWNs")
    wwids: list[str] = field(default_factory=list)


class FileKeySelector(Model):
    key: str = field(default_factory=str)
    optional: bool = field(default_factory=bool)
    path: str = field(default_factory=str)
    volume_name: str = field(default_factory=str)


class FlexPersistentVolumeSource(Model):
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    read_only: bool | None = None
    secret_ref: SecretReference | None = None


class FlexVolumeSource(Model):
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


class FlockerVolumeSource(Model):
    dataset_name: str | None = None
    dataset_uuid: str | None = field(default=None, name="datasetUUID")


class GCEPersistentDiskVolumeSource(Model):
    fs_type: str | None = None
    partition: int | None = None
    pd_name: str = field(default_factory=str)
    read_only: bool | None = None


class GRPCAction(Model):
    mode: str | None = None
    port: int = field(default_factory=int)
    service: str = field(default_factory=str)


class GitRepoVolumeSource(Model):
    directory: str | None = None
    repository: str = field(default_factory=str)
    revision: str | None = None


class GlusterfsPersistentVolumeSource(Model):
    endpoints: str = field(default_factory=str)
    endpoints_namespace: str | None = None
    path: str = field(default_factory=str)
    read_only: bool | None = None


class GlusterfsVolumeSource(Model):
    endpoints: str = field(default_factory=str)
    path: str = field(default_factory=str)
    read_only: bool | None = None


class HTTPGetAction(Model):
    host: str | None = None
    http_headers: list[HTTPHeader] = field(default_factory=list)
    path: str | None = None
    port: int | str = field(default_factory=int)
    protocol: str | None = None
    scheme: str | None = None


class HTTPHeader(Model):
    name: str = field(default_factory=str)
    value: str = field(default_factory=str)


class HostAlias(Model):
    hostnames: list[str] = field(default_factory=list)
    ip: str = field(default_factory=str)


class HostIP(Model):
    ip: str = field(default_factory=str)


class HostPathVolumeSource(Model):
    path: str = field(default_factory=str)
    type: str | None = None


class ISCSIPersistentVolumeSource(Model):
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = field(default_factory=str)
    iscsi_interface: str | None = None
    lun: int = field(default_factory=int)
    portals: list[str] = field(default_factory=list)
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    target_portal: str = field(default_factory=str)


class ISCSIVolumeSource(Model):
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = field(default_factory=str)
    iscsi_interface: str | None = None
    lun: int = field(default_factory=int)
    portals: list[str] = field(default_factory=list)
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    target_portal: str = field(default_factory=str)


class ImageVolumeSource(Model):
    pull_policy: str | None = None
    reference: str | None = None


class ImageVolumeStatus(Model):
    image_ref: str = field(default_factory=str)


class KeyToPath(Model):
    key: str = field(default_factory=str)
    mode: int | None = None
    path: str = field(default_factory=str)
    user: int | None = None


class Lifecycle(Model):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class LifecycleHandler(Model):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


class LimitRangeItem(Model):
    default: dict[str, Quantity] = field(default_factory=dict)
    default_request: dict[str, Quantity] = field(default_factory=dict)
    max: dict[str, Quantity] = field(default_factory=dict)
    max_limit_request_ratio: dict[str, Quantity] = field(default_factory=dict)
    min: dict[str, Quantity] = field(default_factory=dict)
    type: str = field(default_factory=str)


class LimitRangeSpec(Model):
    limits: list[LimitRangeItem] = field(default_factory=required_list)


class LinuxContainerUser(Model):
    gid: int = field(default_factory=int)
    supplemental_groups: list[int] = field(default_factory=list)
    uid: int = field(default_factory=int)


class LoadBalancerIngress(Model):
    hostname: str | None = None
    ip: str | None = None
    ip_mode: str | None = None
    ports: list[PortStatus] = field(default_factory=list)


class LoadBalancerStatus(Model):
    ingress: list[LoadBalancerIngress] = field(default_factory=list)


class LocalObjectReference(Model):
    name: str = field(default_factory=str)


class LocalVolumeSource(Model):
    fs_type: str | None = None
    path: str = field(default_factory=str)


class ModifyVolumeStatus(Model):
    status: str = field(default_factory=str)
    target_volume_attributes_class_name: str | None = None


class NFSVolumeSource(Model):
    path: str = field(default_factory=str)
    read_only: bool | None = None
    server: str = field(default_factory=str)


class NamespaceCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class NamespaceSpec(Model):
    finalizers: list[str] = field(default_factory=list)


class NamespaceStatus(Model):
    conditions: list[NamespaceCondition] = field(default_factory=list)
    phase: str | None = None


class NodeAddress(Model):
    address: str = field(default_factory=str)
    type: str = field(default_factory=str)


class NodeAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = field(default_factory=list)
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class NodeAllocatableMappedResources(Model):
    name: str = field(default_factory=str)
    quantity: Quantity = field(default_factory=lambda: "0")


class NodeAllocatableOverheadResources(Model):
    name: str = field(default_factory=str)
    per_container: Quantity | None = None
    per_pod: Quantity | None = None


class NodeAllocatableResourceClaimStatus(Model):
    containers: list[str] = field(default_factory=list)
    mapping: list[NodeAllocatableMappedResources] = field(default_factory=list)
    overhead: list[NodeAllocatableOverheadResources] = field(default_factory=list)
    resource_claim_name: str = field(default_factory=str)


class NodeCondition(Model):
    last_heartbeat_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class NodeConfigSource(Model):
    config_map: ConfigMapNodeConfigSource | None = None


class NodeConfigStatus(Model):
    active: NodeConfigSource | None = None
    assigned: NodeConfigSource | None = None
    error: str | None = None
    last_known_good: NodeConfigSource | None = None


class NodeDaemonEndpoints(Model):
    kubelet_endpoint: DaemonEndpoint = field(default_factory=DaemonEndpoint)


class NodeFeatures(Model):
    supplemental_groups_policy: bool | None = None


class NodePodPreemptionPolicy(Model):
    disable_resize_preemption: list[str] = field(default_factory=list)


class NodeRuntimeHandler(Model):
    features: NodeRuntimeHandlerFeatures | None = None
    name: str = field(default_factory=str)


class NodeRuntimeHandlerFeatures(Model):
    recursive_read_only_mounts: bool | None = None
    user_namespaces: bool | None = None


class NodeSelector(Model):
    node_selector_terms: list[NodeSelectorTerm] = field(default_factory=required_list)


class NodeSelectorRequirement(Model):
    key: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class NodeSelectorTerm(Model):
    match_expressions: list[NodeSelectorRequirement] = field(default_factory=list)
    match_fields: list[NodeSelectorRequirement] = field(default_factory=list)


class NodeSpec(Model):
    config_source: NodeConfigSource | None = None
    external_id: str | None = field(default=None, name="externalID")
    pod_cidr: str | None = field(default=None, name="podCIDR")
    pod_cidrs: list[str] = field(default_factory=list, name="podCIDRs")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None
    provider_id: str | None = field(default=None, name="providerID")
    taints: list[Taint] = field(default_factory=list)
    unschedulable: bool | None = None


class NodeSystemInfo(Model):
    architecture: str = field(default_factory=str)
    boot_id: str = field(default_factory=str, name="bootID")
    container_runtime_version: str = field(default_factory=str)
    kernel_version: str = field(default_factory=str)
    kube_proxy_version: str = field(default_factory=str)
    kubelet_version: str = field(default_factory=str)
    machine_id: str = field(default_factory=str, name="machineID")
    operating_system: str = field(default_factory=str)
    os_image: str = field(default_factory=str)
    running_in_user_namespace: bool | None = None
    swap: NodeSwapStatus | None = None
    system_uuid: str = field(default_factory=str, name="systemUUID")


class NodeStatus(Model):
    addresses: list[NodeAddress] = field(default_factory=list)
    allocatable: dict[str, Quantity] = field(default_factory=dict)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    conditions: list[NodeCondition] = field(default_factory=list)
    config: NodeConfigStatus | None = None
    daemon_endpoints: NodeDaemonEndpoints = field(default_factory=NodeDaemonEndpoints)
    declared_features: list[str] = field(default_factory=list)
    features: NodeFeatures | None = None
    images: list[ContainerImage] = field(default_factory=list)
    node_info: NodeSystemInfo = field(default_factory=NodeSystemInfo)
    phase: str | None = None
    runtime_handlers: list[NodeRuntimeHandler] = field(default_factory=list)
    volumes_attached: list[AttachedVolume] = field(default_factory=list)
    volumes_in_use: list[str] = field(default_factory=list)


class NodeSwapStatus(Model):
    capacity: int | None = None


class ObjectFieldSelector(Model):
    api_version: str | None = None
    field_path: str = field(default_factory=str)


class ObjectReference(Model):
    api_version: str | None = None
    field_path: str | None = None
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


class PersistentVolumeClaimCondition(Model):
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class VolumeResourceRequirements(Model):
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class PersistentVolumeClaimSpec(Model):
    access_modes: list[str] = field(default_factory=list)
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements = field(default_factory=VolumeResourceRequirements)
    selector: meta_v1.LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None


class PersistentVolumeClaimStatus(Model):
    access_modes: list[str] = field(default_factory=list)
    allocated_resource_statuses: dict[str, str] = field(default_factory=dict)
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    conditions: list[PersistentVolumeClaimCondition] = field(default_factory=list)
    current_volume_attributes_class_name: str | None = None
    health_status: VolumeHealthStatus | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    phase: str | None = None


class PersistentVolumeClaimTemplate(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)


class PersistentVolumeClaimVolumeSource(Model):
    claim_name: str = field(default_factory=str)
    read_only: bool | None = None


class PersistentVolumeSpec(Model):
    access_modes: list[str] = field(default_factory=list)
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    capacity: dict[str, Quantity] = field(default_factory=dict)
    cephfs: CephFSPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    mount_options: list[str] = field(default_factory=list)
    nfs: NFSVolumeSource | None = None
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = field(default=None, name="scaleIO")
    storage_class_name: str | None = None
    storageos: StorageOSPersistentVolumeSource | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PersistentVolumeStatus(Model):
    last_phase_transition_time: datetime | None = None
    message: str | None = None
    phase: str | None = None
    reason: str | None = None


class PhotonPersistentDiskVolumeSource(Model):
    fs_type: str | None = None
    pd_id: str = field(default_factory=str, name="pdID")


class PodAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)


class PodAffinityTerm(Model):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    mismatch_label_keys: list[str] = field(default_factory=list)
    namespace_selector: meta_v1.LabelSelector | None = None
    namespaces: list[str] = field(default_factory=list)
    topology_key: str = field(default_factory=str)


class PodAntiAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)


class PodCertificateProjection(Model):
    certificate_chain_path: str | None = None
    credential_bundle_path: str | None = None
    key_path: str | None = None
    key_type: str = field(default_factory=str)
    max_expiration_seconds: int | None = None
    signer_name: str = field(default_factory=str)
    user: int | None = None
    user_annotations: dict[str, str] = field(default_factory=dict)


class PodCondition(Model):
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class PodDNSConfig(Model):
    nameservers: list[str] = field(default_factory=list)
    options: list[PodDNSConfigOption] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)


class PodDNSConfigOption(Model):
    name: str | None = None
    value: str | None = None


class PodExtendedResourceClaimStatus(Model):
    request_mappings: list[ContainerExtendedResourceRequest] = field(default_factory=required_list)
    resource_claim_name: str = field(default_factory=str)


class PodIP(Model):
    ip: str = field(default_factory=str)


class PodOS(Model):
    name: str = field(default_factory=str)


class PodReadinessGate(Model):
    condition_type: str = field(default_factory=str)


class PodResourceClaim(Model):
    name: str = field(default_factory=str)
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodResourceClaimStatus(Model):
    name: str = field(default_factory=str)
    resource_claim_name: str | None = None


class PodSchedulingGate(Model):
    name: str = field(default_factory=str)


class PodSchedulingGroup(Model):
    pod_group_name: str | None = None


class PodSecurityContext(Model):
    app_armor_profile: AppArmorProfile | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: list[int] = field(default_factory=list)
    supplemental_groups_policy: str | None = None
    sysctls: list[Sysctl] = field(default_factory=list)
    windows_options: WindowsSecurityContextOptions | None = None


class PodSpec(Model):
    active_deadline_seconds: int | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: list[Container] = field(default_factory=required_list)
    dns_config: PodDNSConfig | None = None
    dns_policy: str | None = None
    enable_service_links: bool | None = None
    ephemeral_containers: list[EphemeralContainer] = field(default_factory=list)
    eviction_responders: list[EvictionResponder] = field(default_factory=list)
    host_aliases: list[HostAlias] = field(default_factory=list)
    host_ipc: bool | None = field(default=None, name="hostIPC")
    host_network: bool | None = None
    host_pid: bool | None = field(default=None, name="hostPID")
    host_users: bool | None = None
    hostname: str | None = None
    hostname_override: str | None = None
    image_pull_secrets: list[LocalObjectReference] = field(default_factory=list)
    init_containers: list[Container] = field(default_factory=list)
    node_name: str | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    os: PodOS | None = None
    overhead: dict[str, Quantity] = field(default_factory=dict)
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    readiness_gates: list[PodReadinessGate] = field(default_factory=list)
    resource_claims: list[PodResourceClaim] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    runtime_class_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[PodSchedulingGate] = field(default_factory=list)
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None
    service_account: str | None = None
    service_account_name: str | None = None
    set_hostname_as_fqdn: bool | None = field(default=None, name="setHostnameAsFQDN")
    share_process_namespace: bool | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: int | None = None
    tolerations: list[Toleration] = field(default_factory=list)
    topology_spread_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)


class PodStatus(Model):
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    conditions: list[PodCondition] = field(default_factory=list)
    container_statuses: list[ContainerStatus] = field(default_factory=list)
    ephemeral_container_statuses: list[ContainerStatus] = field(default_factory=list)
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    host_ip: str | None = field(default=None, name="hostIP")
    host_ips: list[HostIP] = field(default_factory=list, name="hostIPs")
    init_container_statuses: list[ContainerStatus] = field(default_factory=list)
    message: str | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = field(default_factory=list)
    nominated_node_name: str | None = None
    observed_generation: int | None = None
    phase: str | None = None
    pod_ip: str | None = field(default=None, name="podIP")
    pod_ips: list[PodIP] = field(default_factory=list, name="podIPs")
    qos_class: str | None = None
    reason: str | None = None
    resize: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    start_time: datetime | None = None
    volume_health: list[PodVolumeHealth] = field(default_factory=list)


class PodTemplateSpec(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: PodSpec = field(default_factory=PodSpec)


class PodVolumeHealth(Model):
    health_conditions: list[VolumeHealthCondition] = field(default_factory=list)
    last_transition_time: datetime | None = None
    name: str = field(default_factory=str)


class PortStatus(Model):
    error: str | None = None
    port: int = field(default_factory=int)
    protocol: str = field(default_factory=str)


class PortworxVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    volume_id: str = field(default_factory=str, name="volumeID")


class PreferredSchedulingTerm(Model):
    preference: NodeSelectorTerm = field(default_factory=NodeSelectorTerm)
    weight: int = field(default_factory=int)


class Probe(Model):
    exec: ExecAction | None = None
    failure_threshold: int | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


class ProjectedVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    sources: list[VolumeProjection] = field(default_factory=list)


class QuobyteVolumeSource(Model):
    group: str | None = None
    read_only: bool | None = None
    registry: str = field(default_factory=str)
    tenant: str | None = None
    user: str | None = None
    volume: str = field(default_factory=str)


class RBDPersistentVolumeSource(Model):
    fs_type: str | None = None
    image: str = field(default_factory=str)
    keyring: str | None = None
    monitors: list[str] = field(default_factory=required_list)
    pool: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    user: str | None = None


class RBDVolumeSource(Model):
    fs_type: str | None = None
    image: str = field(default_factory=str)
    keyring: str | None = None
    monitors: list[str] = field(default_factory=required_list)
    pool: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


class ReplicationControllerCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class ReplicationControllerSpec(Model):
    min_ready_seconds: int = field(default_factory=int)
    replicas: int | None = None
    selector: dict[str, str] = field(default_factory=dict)
    template: PodTemplateSpec | None = None


class ReplicationControllerStatus(Model):
    available_replicas: int | None = None
    conditions: list[ReplicationControllerCondition] = field(default_factory=list)
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = field(default_factory=int)


class ResourceClaim(Model):
    name: str = field(default_factory=str)
    request: str | None = None


class ResourceFieldSelector(Model):
    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str = field(default_factory=str)


class ResourceHealth(Model):
    health: str | None = None
    message: str | None = None
    resource_id: str = field(default_factory=str, name="resourceID")


class ResourceQuotaSpec(Model):
    hard: dict[str, Quantity] = field(default_factory=dict)
    scope_selector: ScopeSelector | None = None
    scopes: list[str] = field(default_factory=list)


class ResourceQuotaStatus(Model):
    hard: dict[str, Quantity] = field(default_factory=dict)
    used: dict[str, Quantity] = field(default_factory=dict)


class ResourceStatus(Model):
    name: str = field(default_factory=str)
    resources: list[ResourceHealth] = field(default_factory=list)


class SELinuxOptions(Model):
    level: str | None = None
    role: str | None = None
    type: str | None = None
    user: str | None = None


class SecretReference(Model):
    name: str | None = None
    namespace: str | None = None


class ScaleIOPersistentVolumeSource(Model):
    fs_type: str | None = None
    gateway: str = field(default_factory=str)
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference = field(default_factory=SecretReference)
    ssl_enabled: bool | None = None
    storage_mode: str | None = None
    storage_pool: str | None = None
    system: str = field(default_factory=str)
    volume_name: str | None = None


class ScaleIOVolumeSource(Model):
    fs_type: str | None = None
    gateway: str = field(default_factory=str)
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference = field(default_factory=LocalObjectReference)
    ssl_enabled: bool | None = None
    storage_mode: str | None = None
    storage_pool: str | None = None
    system: str = field(default_factory=str)
    volume_name: str | None = None


class ScopeSelector(Model):
    match_expressions: list[ScopedResourceSelectorRequirement] = field(default_factory=list)


class ScopedResourceSelectorRequirement(Model):
    operator: str = field(default_factory=str)
    scope_name: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class SeccompProfile(Model):
    localhost_profile: str | None = None
    type: str = field(default_factory=str)


class SecretEnvSource(Model):
    name: str = field(default_factory=str)
    optional: bool | None = None


class SecretKeySelector(Model):
    key: str = field(default_factory=str)
    name: str = field(default_factory=str)
    optional: bool | None = None


class SecretProjection(Model):
    items: list[KeyToPath] = field(default_factory=list)
    name: str = field(default_factory=str)
    optional: bool | None = None


class SecretVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[KeyToPath] = field(default_factory=list)
    optional: bool | None = None
    secret_name: str | None = None


class SecurityContext(Model):
    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


class ServiceAccountTokenProjection(Model):
    audience: str | None = None
    expiration_seconds: int | None = None
    path: str = field(default_factory=str)
    user: int | None = None


class ServicePort(Model):
    app_protocol: str | None = None
    name: str | None = None
    node_port: int | None = None
    port: int = field(default_factory=int)
    protocol: str | None = None
    target_port: int | str | None = None


class ServiceSpec(Model):
    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")
    cluster_ips: list[str] = field(default_factory=list, name="clusterIPs")
    external_ips: list[str] = field(default_factory=list, name="externalIPs")
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: int | None = None
    internal_traffic_policy: str | None = None
    ip_families: list[str] = field(default_factory=list)
    ip_family_policy: str | None = None
    load_balancer_class: str | None = None
    load_balancer_ip: str | None = field(default=None, name="loadBalancerIP")
    load_balancer_source_ranges: list[str] = field(default_factory=list)
    ports: list[ServicePort] = field(default_factory=list)
    publish_not_ready_addresses: bool | None = None
    selector: dict[str, str] = field(default_factory=dict)
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    traffic_distribution: str | None = None
    type: str | None = None


class ServiceStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    load_balancer: LoadBalancerStatus = field(default_factory=LoadBalancerStatus)


class SessionAffinityConfig(Model):
    client_ip: ClientIPConfig | None = field(default=None, name="clientIP")


class SleepAction(Model):
    seconds: int = field(default_factory=int)


class StorageOSPersistentVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: ObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class StorageOSVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class Sysctl(Model):
    name: str = field(default_factory=str)
    value: str = field(default_factory=str)


class TCPSocketAction(Model):
    host: str | None = None
    port: int | str = field(default_factory=int)


class Taint(Model):
    effect: str = field(default_factory=str)
    key: str = field(default_factory=str)
    time_added: datetime | None = None
    value: str | None = None


class Toleration(Model):
    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


class TopologySelectorLabelRequirement(Model):
    key: str = field(default_factory=str)
    values: list[str] = field(default_factory=required_list)


class TopologySelectorTerm(Model):
    match_label_expressions: list[TopologySelectorLabelRequirement] = field(default_factory=list)


class TopologySpreadConstraint(Model):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    max_skew: int = field(default_factory=int)
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str = field(default_factory=str)
    when_unsatisfiable: str = field(default_factory=str)


class TypedLocalObjectReference(Model):
    api_group: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)


class TypedObjectReference(Model):
    api_group: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    namespace: str | None = None


class Volume(Model):
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    empty_dir: EmptyDirVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    name: str = field(default_factory=str)
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(default=None, name="scaleIO")
    secret: SecretVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class VolumeDevice(Model):
    device_path: str = field(default_factory=str)
    name: str = field(default_factory=str)


class VolumeHealthCondition(Model):
    message: str | None = None
    reason: str = field(default_factory=str)
    status: str = field(default_factory=str)


class VolumeHealthStatus(Model):
    health_conditions: list[VolumeHealthCondition] = field(default_factory=list)
    last_transition_time: datetime | None = None


class VolumeMount(Model):
    bind_mount_options: list[str] = field(default_factory=list)
    mount_path: str = field(default_factory=str)
    mount_propagation: str | None = None
    name: str = field(default_factory=str)
    read_only: bool | None = None
    recursive_read_only: str | None = None
    sub_path: str | None = None
    sub_path_expr: str | None = None


class VolumeMountStatus(Model):
    mount_path: str = field(default_factory=str)
    name: str = field(default_factory=str)
    read_only: bool | None = None
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class VolumeNodeAffinity(Model):
    required: NodeSelector | None = None


class VolumeProjection(Model):
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    pod_certificate: PodCertificateProjection | None = None
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class VolumeStatus(Model):
    image: ImageVolumeStatus | None = None


class VsphereVirtualDiskVolumeSource(Model):
    fs_type: str | None = None
    storage_policy_id: str | None = field(default=None, name="storagePolicyID")
    storage_policy_name: str | None = None
    volume_path: str = field(default_factory=str)


class WeightedPodAffinityTerm(Model):
    pod_affinity_term: PodAffinityTerm = field(default_factory=PodAffinityTerm)
    weight: int = field(default_factory=int)


class WindowsSecurityContextOptions(Model):
    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None


class Binding(
    Object,
    resource=Resource(
        "", "v1", "Binding", "bindings", "binding",
        namespaced=True,
        verbs=("create",),
    ),
):
    target: ObjectReference = lazy(ObjectReference)


class ComponentStatus(
    Object,
    resource=Resource(
        "", "v1", "ComponentStatus", "componentstatuses", "componentstatus",
        namespaced=False,
        verbs=("get", "list"),
        short_names=("cs",),
    ),
):
    conditions: list[ComponentCondition] = lazy(list[ComponentCondition])


class ConfigMap(
    Object,
    resource=Resource(
        "", "v1", "ConfigMap", "configmaps", "configmap",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("cm",),
    ),
):
    binary_data: dict[str, bytes] = lazy(dict[str, bytes])
    data: dict[str, str] = lazy(dict[str, str])
    immutable: bool | None = lazy(bool | None)


class Endpoints(
    Object,
    resource=Resource(
        "", "v1", "Endpoints", "endpoints", "endpoints",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ep",),
    ),
):
    subsets: list[EndpointSubset] = lazy(list[EndpointSubset])


class Event(
    Object,
    resource=Resource(
        "", "v1", "Event", "events", "event",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ev",),
    ),
):
    action: str | None = lazy(str | None)
    count: int | None = lazy(int | None)
    event_time: MicroTime | None = lazy(MicroTime | None)
    first_timestamp: datetime | None = lazy(datetime | None)
    involved_object: ObjectReference = lazy(ObjectReference)
    last_timestamp: datetime | None = lazy(datetime | None)
    message: str | None = lazy(str | None)
    reason: str | None = lazy(str | None)
    related: ObjectReference | None = lazy(ObjectReference | None)
    reporting_component: str = lazy(str)
    reporting_instance: str = lazy(str)
    series: EventSeries | None = lazy(EventSeries | None)
    source: EventSource = lazy(EventSource)
    type: str | None = lazy(str | None)


class LimitRange(
    Object,
    resource=Resource(
        "", "v1", "LimitRange", "limitranges", "limitrange",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("limits",),
    ),
):
    spec: LimitRangeSpec = lazy(LimitRangeSpec)


class Namespace(
    Object,
    resource=Resource(
        "", "v1", "Namespace", "namespaces", "namespace",
        namespaced=False,
        verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        short_names=("ns",),
        subresources=(
            Subresource("finalize", "", "v1", "Namespace", ("update",)),
            Subresource("status", "", "v1", "Namespace", ("get", "patch", "update")),
        ),
    ),
):
    spec: NamespaceSpec = lazy(NamespaceSpec)
    status: NamespaceStatus = lazy(NamespaceStatus)


class Node(
    Object,
    resource=Resource(
        "", "v1", "Node", "nodes", "node",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("no",),
        subresources=(
            Subresource("proxy", "", "v1", "NodeProxyOptions", ("create", "delete", "get", "patch", "update")),
            Subresource("status", "", "v1", "Node", ("get", "patch", "update")),
        ),
    ),
):
    spec: NodeSpec = lazy(NodeSpec)
    status: NodeStatus = lazy(NodeStatus)


class PersistentVolume(
    Object,
    resource=Resource(
        "", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("pv",),
        subresources=(
            Subresource("status", "", "v1", "PersistentVolume", ("get", "patch", "update")),
        ),
    ),
):
    spec: PersistentVolumeSpec = lazy(PersistentVolumeSpec)
    status: PersistentVolumeStatus = lazy(PersistentVolumeStatus)


class PersistentVolumeClaim(
    Object,
    resource=Resource(
        "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("pvc",),
        subresources=(
            Subresource("status", "", "v1", "PersistentVolumeClaim", ("get", "patch", "update")),
        ),
    ),
):
    spec: PersistentVolumeClaimSpec = lazy(PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = lazy(PersistentVolumeClaimStatus)


class Pod(
    Object,
    resource=Resource(
        "", "v1", "Pod", "pods", "pod",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("po",),
        categories=("all",),
        subresources=(
            Subresource("attach", "", "v1", "PodAttachOptions", ("create", "get")),
            Subresource("binding", "", "v1", "Binding", ("create",)),
            Subresource("ephemeralcontainers", "", "v1", "Pod", ("get", "patch", "update")),
            Subresource("eviction", "policy", "v1", "Eviction", ("create",)),
            Subresource("exec", "", "v1", "PodExecOptions", ("create", "get")),
            Subresource("log", "", "v1", "Pod", ("get",)),
            Subresource("portforward", "", "v1", "PodPortForwardOptions", ("create", "get")),
            Subresource("proxy", "", "v1", "PodProxyOptions", ("create", "delete", "get", "patch", "update")),
            Subresource("resize", "", "v1", "Pod", ("get", "patch", "update")),
            Subresource("status", "", "v1", "Pod", ("get", "patch", "update")),
        ),
    ),
):
    spec: PodSpec = lazy(PodSpec)
    status: PodStatus = lazy(PodStatus)


class PodTemplate(
    Object,
    resource=Resource(
        "", "v1", "PodTemplate", "podtemplates", "podtemplate",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    template: PodTemplateSpec = lazy(PodTemplateSpec)


class ReplicationController(
    Object,
    resource=Resource(
        "", "v1", "ReplicationController", "replicationcontrollers", "replicationcontroller",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("rc",),
        categories=("all",),
        subresources=(
            Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),
            Subresource("status", "", "v1", "ReplicationController", ("get", "patch", "update")),
        ),
    ),
):
    spec: ReplicationControllerSpec = lazy(ReplicationControllerSpec)
    status: ReplicationControllerStatus = lazy(ReplicationControllerStatus)


class ResourceQuota(
    Object,
    resource=Resource(
        "", "v1", "ResourceQuota", "resourcequotas", "resourcequota",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("quota",),
        subresources=(
            Subresource("status", "", "v1", "ResourceQuota", ("get", "patch", "update")),
        ),
    ),
):
    spec: ResourceQuotaSpec = lazy(ResourceQuotaSpec)
    status: ResourceQuotaStatus = lazy(ResourceQuotaStatus)


class Secret(
    Object,
    resource=Resource(
        "", "v1", "Secret", "secrets", "secret",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    data: dict[str, bytes] = lazy(dict[str, bytes])
    immutable: bool | None = lazy(bool | None)
    string_data: dict[str, str] = lazy(dict[str, str])
    type: str | None = lazy(str | None)


class Service(
    Object,
    resource=Resource(
        "", "v1", "Service", "services", "service",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("svc",),
        categories=("all",),
        subresources=(
            Subresource("proxy", "", "v1", "ServiceProxyOptions", ("create", "delete", "get", "patch", "update")),
            Subresource("status", "", "v1", "Service", ("get", "patch", "update")),
        ),
    ),
):
    spec: ServiceSpec = lazy(ServiceSpec)
    status: ServiceStatus = lazy(ServiceStatus)


class ServiceAccount(
    Object,
    resource=Resource(
        "", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("sa",),
        subresources=(
            Subresource("token", "authentication.k8s.io", "v1", "TokenRequest", ("create",)),
        ),
    ),
):
    automount_service_account_token: bool | None = lazy(bool | None)
    image_pull_secrets: list[LocalObjectReference] = lazy(list[LocalObjectReference])
    secrets: list[ObjectReference] = lazy(list[ObjectReference])


class ComponentStatusList(ObjectList[ComponentStatus], item=ComponentStatus):
    """A list of objects, as returned by one request."""


class ConfigMapList(ObjectList[ConfigMap], item=ConfigMap):
    """A list of objects, as returned by one request."""


class EndpointsList(ObjectList[Endpoints], item=Endpoints):
    """A list of objects, as returned by one request."""


class EventList(ObjectList[Event], item=Event):
    """A list of objects, as returned by one request."""


class LimitRangeList(ObjectList[LimitRange], item=LimitRange):
    """A list of objects, as returned by one request."""


class NamespaceList(ObjectList[Namespace], item=Namespace):
    """A list of objects, as returned by one request."""


class NodeList(ObjectList[Node], item=Node):
    """A list of objects, as returned by one request."""


class PersistentVolumeClaimList(ObjectList[PersistentVolumeClaim], item=PersistentVolumeClaim):
    """A list of objects, as returned by one request."""


class PersistentVolumeList(ObjectList[PersistentVolume], item=PersistentVolume):
    """A list of objects, as returned by one request."""


class PodList(ObjectList[Pod], item=Pod):
    """A list of objects, as returned by one request."""


class PodTemplateList(ObjectList[PodTemplate], item=PodTemplate):
    """A list of objects, as returned by one request."""


class ReplicationControllerList(ObjectList[ReplicationController], item=ReplicationController):
    """A list of objects, as returned by one request."""


class ResourceQuotaList(ObjectList[ResourceQuota], item=ResourceQuota):
    """A list of objects, as returned by one request."""


class SecretList(ObjectList[Secret], item=Secret):
    """A list of objects, as returned by one request."""


class ServiceAccountList(ObjectList[ServiceAccount], item=ServiceAccount):
    """A list of objects, as returned by one request."""


class ServiceList(ObjectList[Service], item=Service):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
