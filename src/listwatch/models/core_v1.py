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
    volume_id: str = field(default_factory=str, name="volumeID")
    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None


class Affinity(Model):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class AppArmorProfile(Model):
    type: str = field(default_factory=str)
    localhost_profile: str | None = None


class AttachedVolume(Model):
    name: str = field(default_factory=str)
    device_path: str = field(default_factory=str)


class AzureDiskVolumeSource(Model):
    disk_name: str = field(default_factory=str)
    disk_uri: str = field(default_factory=str, name="diskURI")
    caching_mode: str | None = None
    fs_type: str | None = None
    read_only: bool = field(default_factory=bool)
    kind: str | None = None


class AzureFilePersistentVolumeSource(Model):
    secret_name: str = field(default_factory=str)
    share_name: str = field(default_factory=str)
    read_only: bool | None = None
    secret_namespace: str | None = None


class AzureFileVolumeSource(Model):
    secret_name: str = field(default_factory=str)
    share_name: str = field(default_factory=str)
    read_only: bool | None = None


class CSIPersistentVolumeSource(Model):
    driver: str = field(default_factory=str)
    volume_handle: str = field(default_factory=str)
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: dict[str, str] = field(default_factory=dict)
    controller_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    controller_expand_secret_ref: SecretReference | None = None
    node_expand_secret_ref: SecretReference | None = None


class CSIVolumeSource(Model):
    driver: str = field(default_factory=str)
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: dict[str, str] = field(default_factory=dict)
    node_publish_secret_ref: LocalObjectReference | None = None


class Capabilities(Model):
    add: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)


class CephFSPersistentVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    path: str | None = None
    user: str | None = None
    secret_file: str | None = None
    secret_ref: SecretReference | None = None
    read_only: bool | None = None


class CephFSVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    path: str | None = None
    user: str | None = None
    secret_file: str | None = None
    secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None


class CinderPersistentVolumeSource(Model):
    volume_id: str = field(default_factory=str, name="volumeID")
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None


class CinderVolumeSource(Model):
    volume_id: str = field(default_factory=str, name="volumeID")
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


class ClientIPConfig(Model):
    timeout_seconds: int | None = None


class ClusterTrustBundleProjection(Model):
    name: str | None = None
    signer_name: str | None = None
    label_selector: meta_v1.LabelSelector | None = None
    optional: bool | None = None
    path: str = field(default_factory=str)
    user: int | None = None


class ComponentCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    message: str | None = None
    error: str | None = None


class ConfigMapEnvSource(Model):
    name: str = field(default_factory=str)
    optional: bool | None = None


class ConfigMapKeySelector(Model):
    name: str = field(default_factory=str)
    key: str = field(default_factory=str)
    optional: bool | None = None


class ConfigMapNodeConfigSource(Model):
    namespace: str = field(default_factory=str)
    name: str = field(default_factory=str)
    uid: str | None = None
    resource_version: str | None = None
    kubelet_config_key: str = field(default_factory=str)


class ConfigMapProjection(Model):
    name: str = field(default_factory=str)
    items: list[KeyToPath] = field(default_factory=list)
    optional: bool | None = None


class ConfigMapVolumeSource(Model):
    name: str = field(default_factory=str)
    items: list[KeyToPath] = field(default_factory=list)
    default_mode: int | None = None
    optional: bool | None = None
    default_user: int | None = None


class ResourceRequirements(Model):
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)
    claims: list[ResourceClaim] = field(default_factory=list)


class Container(Model):
    name: str = field(default_factory=str)
    image: str | None = None
    command: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    working_dir: str | None = None
    ports: list[ContainerPort] = field(default_factory=list)
    env_from: list[EnvFromSource] = field(default_factory=list)
    env: list[EnvVar] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    resize_policy: list[ContainerResizePolicy] = field(default_factory=list)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)
    volume_mounts: list[VolumeMount] = field(default_factory=list)
    volume_devices: list[VolumeDevice] = field(default_factory=list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    image_pull_policy: str | None = None
    security_context: SecurityContext | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    tty: bool | None = None


class ContainerExtendedResourceRequest(Model):
    container_name: str = field(default_factory=str)
    resource_name: str = field(default_factory=str)
    request_name: str = field(default_factory=str)


class ContainerImage(Model):
    names: list[str] = field(default_factory=list)
    size_bytes: int | None = None


class ContainerPort(Model):
    name: str | None = None
    host_port: int | None = None
    container_port: int = field(default_factory=int)
    protocol: str | None = None
    host_ip: str | None = field(default=None, name="hostIP")


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
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStateRunning(Model):
    started_at: datetime | None = None


class ContainerStateTerminated(Model):
    exit_code: int = field(default_factory=int)
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    container_id: str | None = field(default=None, name="containerID")


class ContainerStateWaiting(Model):
    reason: str | None = None
    message: str | None = None


class ContainerStatus(Model):
    name: str = field(default_factory=str)
    state: ContainerState = field(default_factory=ContainerState)
    last_state: ContainerState = field(default_factory=ContainerState)
    ready: bool = field(default_factory=bool)
    restart_count: int = field(default_factory=int)
    image: str = field(default_factory=str)
    image_id: str = field(default_factory=str, name="imageID")
    container_id: str | None = field(default=None, name="containerID")
    started: bool | None = None
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    volume_mounts: list[VolumeMountStatus] = field(default_factory=list)
    user: ContainerUser | None = None
    allocated_resources_status: list[ResourceStatus] = field(default_factory=list)
    stop_signal: str | None = None


class ContainerUser(Model):
    linux: LinuxContainerUser | None = None


class DaemonEndpoint(Model):
    port: int = field(default_factory=int, name="Port")


class DownwardAPIProjection(Model):
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)


class DownwardAPIVolumeFile(Model):
    path: str = field(default_factory=str)
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: int | None = None
    user: int | None = None


class DownwardAPIVolumeSource(Model):
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)
    default_mode: int | None = None
    default_user: int | None = None


class EmptyDirVolumeSource(Model):
    medium: str | None = None
    size_limit: Quantity | None = None
    mode: int | None = None


class EndpointAddress(Model):
    ip: str = field(default_factory=str)
    hostname: str | None = None
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Model):
    name: str | None = None
    port: int = field(default_factory=int)
    protocol: str | None = None
    app_protocol: str | None = None


class EndpointSubset(Model):
    addresses: list[EndpointAddress] = field(default_factory=list)
    not_ready_addresses: list[EndpointAddress] = field(default_factory=list)
    ports: list[EndpointPort] = field(default_factory=list)


class EnvFromSource(Model):
    prefix: str | None = None
    config_map_ref: ConfigMapEnvSource | None = None
    secret_ref: SecretEnvSource | None = None


class EnvVar(Model):
    name: str = field(default_factory=str)
    value: str | None = None
    value_from: EnvVarSource | None = None


class EnvVarSource(Model):
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: ConfigMapKeySelector | None = None
    secret_key_ref: SecretKeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EphemeralContainer(Model):
    name: str = field(default_factory=str)
    image: str | None = None
    command: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    working_dir: str | None = None
    ports: list[ContainerPort] = field(default_factory=list)
    env_from: list[EnvFromSource] = field(default_factory=list)
    env: list[EnvVar] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    resize_policy: list[ContainerResizePolicy] = field(default_factory=list)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)
    volume_mounts: list[VolumeMount] = field(default_factory=list)
    volume_devices: list[VolumeDevice] = field(default_factory=list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    image_pull_policy: str | None = None
    security_context: SecurityContext | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    tty: bool | None = None
    target_container_name: str | None = None


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
    target_wwns: list[str] = field(default_factory=list, name="targetWWNs")
    lun: int | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    wwids: list[str] = field(default_factory=list)


class FileKeySelector(Model):
    volume_name: str = field(default_factory=str)
    path: str = field(default_factory=str)
    key: str = field(default_factory=str)
    optional: bool = field(default_factory=bool)


class FlexPersistentVolumeSource(Model):
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    secret_ref: SecretReference | None = None
    read_only: bool | None = None
    options: dict[str, str] = field(default_factory=dict)


class FlexVolumeSource(Model):
    driver: str = field(default_factory=str)
    fs_type: str | None = None
    secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    options: dict[str, str] = field(default_factory=dict)


class FlockerVolumeSource(Model):
    dataset_name: str | None = None
    dataset_uuid: str | None = field(default=None, name="datasetUUID")


class GCEPersistentDiskVolumeSource(Model):
    pd_name: str = field(default_factory=str)
    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None


class GRPCAction(Model):
    port: int = field(default_factory=int)
    service: str = field(default_factory=str)
    mode: str | None = None


class GitRepoVolumeSource(Model):
    repository: str = field(default_factory=str)
    revision: str | None = None
    directory: str | None = None


class GlusterfsPersistentVolumeSource(Model):
    endpoints: str = field(default_factory=str)
    path: str = field(default_factory=str)
    read_only: bool | None = None
    endpoints_namespace: str | None = None


class GlusterfsVolumeSource(Model):
    endpoints: str = field(default_factory=str)
    path: str = field(default_factory=str)
    read_only: bool | None = None


class HTTPGetAction(Model):
    path: str | None = None
    port: int | str = field(default_factory=int)
    host: str | None = None
    scheme: str | None = None
    http_headers: list[HTTPHeader] = field(default_factory=list)
    protocol: str | None = None


class HTTPHeader(Model):
    name: str = field(default_factory=str)
    value: str = field(default_factory=str)


class HostAlias(Model):
    ip: str = field(default_factory=str)
    hostnames: list[str] = field(default_factory=list)


class HostIP(Model):
    ip: str = field(default_factory=str)


class HostPathVolumeSource(Model):
    path: str = field(default_factory=str)
    type: str | None = None


class ISCSIPersistentVolumeSource(Model):
    target_portal: str = field(default_factory=str)
    iqn: str = field(default_factory=str)
    lun: int = field(default_factory=int)
    iscsi_interface: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    portals: list[str] = field(default_factory=list)
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    secret_ref: SecretReference | None = None
    initiator_name: str | None = None


class ISCSIVolumeSource(Model):
    target_portal: str = field(default_factory=str)
    iqn: str = field(default_factory=str)
    lun: int = field(default_factory=int)
    iscsi_interface: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    portals: list[str] = field(default_factory=list)
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    secret_ref: LocalObjectReference | None = None
    initiator_name: str | None = None


class ImageVolumeSource(Model):
    reference: str | None = None
    pull_policy: str | None = None


class ImageVolumeStatus(Model):
    image_ref: str = field(default_factory=str)


class KeyToPath(Model):
    key: str = field(default_factory=str)
    path: str = field(default_factory=str)
    mode: int | None = None
    user: int | None = None


class Lifecycle(Model):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class LifecycleHandler(Model):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class LimitRangeItem(Model):
    type: str = field(default_factory=str)
    max: dict[str, Quantity] = field(default_factory=dict)
    min: dict[str, Quantity] = field(default_factory=dict)
    default: dict[str, Quantity] = field(default_factory=dict)
    default_request: dict[str, Quantity] = field(default_factory=dict)
    max_limit_request_ratio: dict[str, Quantity] = field(default_factory=dict)


class LimitRangeSpec(Model):
    limits: list[LimitRangeItem] = field(default_factory=required_list)


class LinuxContainerUser(Model):
    uid: int = field(default_factory=int)
    gid: int = field(default_factory=int)
    supplemental_groups: list[int] = field(default_factory=list)


class LoadBalancerIngress(Model):
    ip: str | None = None
    hostname: str | None = None
    ip_mode: str | None = None
    ports: list[PortStatus] = field(default_factory=list)


class LoadBalancerStatus(Model):
    ingress: list[LoadBalancerIngress] = field(default_factory=list)


class LocalObjectReference(Model):
    name: str = field(default_factory=str)


class LocalVolumeSource(Model):
    path: str = field(default_factory=str)
    fs_type: str | None = None


class ModifyVolumeStatus(Model):
    target_volume_attributes_class_name: str | None = None
    status: str = field(default_factory=str)


class NFSVolumeSource(Model):
    server: str = field(default_factory=str)
    path: str = field(default_factory=str)
    read_only: bool | None = None


class NamespaceCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class NamespaceSpec(Model):
    finalizers: list[str] = field(default_factory=list)


class NamespaceStatus(Model):
    phase: str | None = None
    conditions: list[NamespaceCondition] = field(default_factory=list)


class NodeAddress(Model):
    type: str = field(default_factory=str)
    address: str = field(default_factory=str)


class NodeAffinity(Model):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = field(default_factory=list)


class NodeAllocatableMappedResources(Model):
    name: str = field(default_factory=str)
    quantity: Quantity = field(default_factory=lambda: "0")


class NodeAllocatableOverheadResources(Model):
    name: str = field(default_factory=str)
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResourceClaimStatus(Model):
    resource_claim_name: str = field(default_factory=str)
    containers: list[str] = field(default_factory=list)
    mapping: list[NodeAllocatableMappedResources] = field(default_factory=list)
    overhead: list[NodeAllocatableOverheadResources] = field(default_factory=list)


class NodeCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_heartbeat_time: datetime | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class NodeConfigSource(Model):
    config_map: ConfigMapNodeConfigSource | None = None


class NodeConfigStatus(Model):
    assigned: NodeConfigSource | None = None
    active: NodeConfigSource | None = None
    last_known_good: NodeConfigSource | None = None
    error: str | None = None


class NodeDaemonEndpoints(Model):
    kubelet_endpoint: DaemonEndpoint = field(default_factory=DaemonEndpoint)


class NodeFeatures(Model):
    supplemental_groups_policy: bool | None = None


class NodePodPreemptionPolicy(Model):
    disable_resize_preemption: list[str] = field(default_factory=list)


class NodeRuntimeHandler(Model):
    name: str = field(default_factory=str)
    features: NodeRuntimeHandlerFeatures | None = None


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
    pod_cidr: str | None = field(default=None, name="podCIDR")
    pod_cidrs: list[str] = field(default_factory=list, name="podCIDRs")
    provider_id: str | None = field(default=None, name="providerID")
    unschedulable: bool | None = None
    taints: list[Taint] = field(default_factory=list)
    config_source: NodeConfigSource | None = None
    external_id: str | None = field(default=None, name="externalID")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None


class NodeSystemInfo(Model):
    machine_id: str = field(default_factory=str, name="machineID")
    system_uuid: str = field(default_factory=str, name="systemUUID")
    boot_id: str = field(default_factory=str, name="bootID")
    kernel_version: str = field(default_factory=str)
    os_image: str = field(default_factory=str)
    container_runtime_version: str = field(default_factory=str)
    kubelet_version: str = field(default_factory=str)
    kube_proxy_version: str = field(default_factory=str)
    operating_system: str = field(default_factory=str)
    architecture: str = field(default_factory=str)
    swap: NodeSwapStatus | None = None
    running_in_user_namespace: bool | None = None


class NodeStatus(Model):
    capacity: dict[str, Quantity] = field(default_factory=dict)
    allocatable: dict[str, Quantity] = field(default_factory=dict)
    phase: str | None = None
    conditions: list[NodeCondition] = field(default_factory=list)
    addresses: list[NodeAddress] = field(default_factory=list)
    daemon_endpoints: NodeDaemonEndpoints = field(default_factory=NodeDaemonEndpoints)
    node_info: NodeSystemInfo = field(default_factory=NodeSystemInfo)
    images: list[ContainerImage] = field(default_factory=list)
    volumes_in_use: list[str] = field(default_factory=list)
    volumes_attached: list[AttachedVolume] = field(default_factory=list)
    config: NodeConfigStatus | None = None
    runtime_handlers: list[NodeRuntimeHandler] = field(default_factory=list)
    features: NodeFeatures | None = None
    declared_features: list[str] = field(default_factory=list)


class NodeSwapStatus(Model):
    capacity: int | None = None


class ObjectFieldSelector(Model):
    api_version: str | None = None
    field_path: str = field(default_factory=str)


class ObjectReference(Model):
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None
    resource_version: str | None = None
    field_path: str | None = None


class PersistentVolumeClaimCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class VolumeResourceRequirements(Model):
    limits: dict[str, Quantity] = field(default_factory=dict)
    requests: dict[str, Quantity] = field(default_factory=dict)


class PersistentVolumeClaimSpec(Model):
    access_modes: list[str] = field(default_factory=list)
    selector: meta_v1.LabelSelector | None = None
    resources: VolumeResourceRequirements = field(default_factory=VolumeResourceRequirements)
    volume_name: str | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Model):
    phase: str | None = None
    access_modes: list[str] = field(default_factory=list)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    conditions: list[PersistentVolumeClaimCondition] = field(default_factory=list)
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    allocated_resource_statuses: dict[str, str] = field(default_factory=dict)
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    health_status: VolumeHealthStatus | None = None


class PersistentVolumeClaimTemplate(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)


class PersistentVolumeClaimVolumeSource(Model):
    claim_name: str = field(default_factory=str)
    read_only: bool | None = None


class PersistentVolumeSpec(Model):
    capacity: dict[str, Quantity] = field(default_factory=dict)
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    cephfs: CephFSPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = field(default=None, name="scaleIO")
    local: LocalVolumeSource | None = None
    storageos: StorageOSPersistentVolumeSource | None = None
    csi: CSIPersistentVolumeSource | None = None
    access_modes: list[str] = field(default_factory=list)
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str | None = None
    storage_class_name: str | None = None
    mount_options: list[str] = field(default_factory=list)
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeStatus(Model):
    phase: str | None = None
    message: str | None = None
    reason: str | None = None
    last_phase_transition_time: datetime | None = None


class PhotonPersistentDiskVolumeSource(Model):
    pd_id: str = field(default_factory=str, name="pdID")
    fs_type: str | None = None


class PodAffinity(Model):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)


class PodAffinityTerm(Model):
    label_selector: meta_v1.LabelSelector | None = None
    namespaces: list[str] = field(default_factory=list)
    topology_key: str = field(default_factory=str)
    namespace_selector: meta_v1.LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    mismatch_label_keys: list[str] = field(default_factory=list)


class PodAntiAffinity(Model):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)


class PodCertificateProjection(Model):
    signer_name: str = field(default_factory=str)
    key_type: str = field(default_factory=str)
    max_expiration_seconds: int | None = None
    credential_bundle_path: str | None = None
    key_path: str | None = None
    certificate_chain_path: str | None = None
    user_annotations: dict[str, str] = field(default_factory=dict)
    user: int | None = None


class PodCondition(Model):
    type: str = field(default_factory=str)
    observed_generation: int | None = None
    status: str = field(default_factory=str)
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class PodDNSConfig(Model):
    nameservers: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    options: list[PodDNSConfigOption] = field(default_factory=list)


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
    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    supplemental_groups: list[int] = field(default_factory=list)
    supplemental_groups_policy: str | None = None
    fs_group: int | None = None
    sysctls: list[Sysctl] = field(default_factory=list)
    fs_group_change_policy: str | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None
    se_linux_change_policy: str | None = None


class PodSpec(Model):
    volumes: list[Volume] = field(default_factory=list)
    init_containers: list[Container] = field(default_factory=list)
    containers: list[Container] = field(default_factory=required_list)
    ephemeral_containers: list[EphemeralContainer] = field(default_factory=list)
    restart_policy: str | None = None
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    dns_policy: str | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    service_account_name: str | None = None
    service_account: str | None = None
    automount_service_account_token: bool | None = None
    node_name: str | None = None
    host_network: bool | None = None
    host_pid: bool | None = field(default=None, name="hostPID")
    host_ipc: bool | None = field(default=None, name="hostIPC")
    share_process_namespace: bool | None = None
    security_context: PodSecurityContext | None = None
    image_pull_secrets: list[LocalObjectReference] = field(default_factory=list)
    hostname: str | None = None
    subdomain: str | None = None
    affinity: Affinity | None = None
    scheduler_name: str | None = None
    tolerations: list[Toleration] = field(default_factory=list)
    host_aliases: list[HostAlias] = field(default_factory=list)
    priority_class_name: str | None = None
    priority: int | None = None
    dns_config: PodDNSConfig | None = None
    readiness_gates: list[PodReadinessGate] = field(default_factory=list)
    runtime_class_name: str | None = None
    enable_service_links: bool | None = None
    preemption_policy: str | None = None
    overhead: dict[str, Quantity] = field(default_factory=dict)
    topology_spread_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    set_hostname_as_fqdn: bool | None = field(default=None, name="setHostnameAsFQDN")
    os: PodOS | None = None
    host_users: bool | None = None
    scheduling_gates: list[PodSchedulingGate] = field(default_factory=list)
    resource_claims: list[PodResourceClaim] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    hostname_override: str | None = None
    scheduling_group: PodSchedulingGroup | None = None
    eviction_responders: list[EvictionResponder] = field(default_factory=list)


class PodStatus(Model):
    observed_generation: int | None = None
    phase: str | None = None
    conditions: list[PodCondition] = field(default_factory=list)
    message: str | None = None
    reason: str | None = None
    nominated_node_name: str | None = None
    host_ip: str | None = field(default=None, name="hostIP")
    host_ips: list[HostIP] = field(default_factory=list, name="hostIPs")
    pod_ip: str | None = field(default=None, name="podIP")
    pod_ips: list[PodIP] = field(default_factory=list, name="podIPs")
    start_time: datetime | None = None
    init_container_statuses: list[ContainerStatus] = field(default_factory=list)
    container_statuses: list[ContainerStatus] = field(default_factory=list)
    qos_class: str | None = None
    ephemeral_container_statuses: list[ContainerStatus] = field(default_factory=list)
    resize: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] = field(default_factory=list)
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: dict[str, Quantity] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = field(default_factory=list)
    volume_health: list[PodVolumeHealth] = field(default_factory=list)


class PodTemplateSpec(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: PodSpec = field(default_factory=PodSpec)


class PodVolumeHealth(Model):
    name: str = field(default_factory=str)
    health_conditions: list[VolumeHealthCondition] = field(default_factory=list)
    last_transition_time: datetime | None = None


class PortStatus(Model):
    port: int = field(default_factory=int)
    protocol: str = field(default_factory=str)
    error: str | None = None


class PortworxVolumeSource(Model):
    volume_id: str = field(default_factory=str, name="volumeID")
    fs_type: str | None = None
    read_only: bool | None = None


class PreferredSchedulingTerm(Model):
    weight: int = field(default_factory=int)
    preference: NodeSelectorTerm = field(default_factory=NodeSelectorTerm)


class Probe(Model):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: int | None = None
    timeout_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    failure_threshold: int | None = None
    termination_grace_period_seconds: int | None = None


class ProjectedVolumeSource(Model):
    sources: list[VolumeProjection] = field(default_factory=list)
    default_mode: int | None = None
    default_user: int | None = None


class QuobyteVolumeSource(Model):
    registry: str = field(default_factory=str)
    volume: str = field(default_factory=str)
    read_only: bool | None = None
    user: str | None = None
    group: str | None = None
    tenant: str | None = None


class RBDPersistentVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    image: str = field(default_factory=str)
    fs_type: str | None = None
    pool: str | None = None
    user: str | None = None
    keyring: str | None = None
    secret_ref: SecretReference | None = None
    read_only: bool | None = None


class RBDVolumeSource(Model):
    monitors: list[str] = field(default_factory=required_list)
    image: str = field(default_factory=str)
    fs_type: str | None = None
    pool: str | None = None
    user: str | None = None
    keyring: str | None = None
    secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None


class ReplicationControllerCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class ReplicationControllerSpec(Model):
    replicas: int | None = None
    min_ready_seconds: int = field(default_factory=int)
    selector: dict[str, str] = field(default_factory=dict)
    template: PodTemplateSpec | None = None


class ReplicationControllerStatus(Model):
    replicas: int = field(default_factory=int)
    fully_labeled_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    observed_generation: int | None = None
    conditions: list[ReplicationControllerCondition] = field(default_factory=list)


class ResourceClaim(Model):
    name: str = field(default_factory=str)
    request: str | None = None


class ResourceFieldSelector(Model):
    container_name: str | None = None
    resource: str = field(default_factory=str)
    divisor: Quantity | None = None


class ResourceHealth(Model):
    resource_id: str = field(default_factory=str, name="resourceID")
    health: str | None = None
    message: str | None = None


class ResourceQuotaSpec(Model):
    hard: dict[str, Quantity] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Model):
    hard: dict[str, Quantity] = field(default_factory=dict)
    used: dict[str, Quantity] = field(default_factory=dict)


class ResourceStatus(Model):
    name: str = field(default_factory=str)
    resources: list[ResourceHealth] = field(default_factory=list)


class SELinuxOptions(Model):
    user: str | None = None
    role: str | None = None
    type: str | None = None
    level: str | None = None


class SecretReference(Model):
    name: str | None = None
    namespace: str | None = None


class ScaleIOPersistentVolumeSource(Model):
    gateway: str = field(default_factory=str)
    system: str = field(default_factory=str)
    secret_ref: SecretReference = field(default_factory=SecretReference)
    ssl_enabled: bool | None = None
    protection_domain: str | None = None
    storage_pool: str | None = None
    storage_mode: str | None = None
    volume_name: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None


class ScaleIOVolumeSource(Model):
    gateway: str = field(default_factory=str)
    system: str = field(default_factory=str)
    secret_ref: LocalObjectReference = field(default_factory=LocalObjectReference)
    ssl_enabled: bool | None = None
    protection_domain: str | None = None
    storage_pool: str | None = None
    storage_mode: str | None = None
    volume_name: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None


class ScopeSelector(Model):
    match_expressions: list[ScopedResourceSelectorRequirement] = field(default_factory=list)


class ScopedResourceSelectorRequirement(Model):
    scope_name: str = field(default_factory=str)
    operator: str = field(default_factory=str)
    values: list[str] = field(default_factory=list)


class SeccompProfile(Model):
    type: str = field(default_factory=str)
    localhost_profile: str | None = None


class SecretEnvSource(Model):
    name: str = field(default_factory=str)
    optional: bool | None = None


class SecretKeySelector(Model):
    name: str = field(default_factory=str)
    key: str = field(default_factory=str)
    optional: bool | None = None


class SecretProjection(Model):
    name: str = field(default_factory=str)
    items: list[KeyToPath] = field(default_factory=list)
    optional: bool | None = None


class SecretVolumeSource(Model):
    secret_name: str | None = None
    items: list[KeyToPath] = field(default_factory=list)
    default_mode: int | None = None
    optional: bool | None = None
    default_user: int | None = None


class SecurityContext(Model):
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    read_only_root_filesystem: bool | None = None
    allow_privilege_escalation: bool | None = None
    proc_mount: str | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None


class ServiceAccountTokenProjection(Model):
    audience: str | None = None
    expiration_seconds: int | None = None
    path: str = field(default_factory=str)
    user: int | None = None


class ServicePort(Model):
    name: str | None = None
    protocol: str | None = None
    app_protocol: str | None = None
    port: int = field(default_factory=int)
    target_port: int | str | None = None
    node_port: int | None = None


class ServiceSpec(Model):
    ports: list[ServicePort] = field(default_factory=list)
    selector: dict[str, str] = field(default_factory=dict)
    cluster_ip: str | None = field(default=None, name="clusterIP")
    cluster_ips: list[str] = field(default_factory=list, name="clusterIPs")
    type: str | None = None
    external_ips: list[str] = field(default_factory=list, name="externalIPs")
    session_affinity: str | None = None
    load_balancer_ip: str | None = field(default=None, name="loadBalancerIP")
    load_balancer_source_ranges: list[str] = field(default_factory=list)
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: int | None = None
    publish_not_ready_addresses: bool | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    ip_families: list[str] = field(default_factory=list)
    ip_family_policy: str | None = None
    allocate_load_balancer_node_ports: bool | None = None
    load_balancer_class: str | None = None
    internal_traffic_policy: str | None = None
    traffic_distribution: str | None = None


class ServiceStatus(Model):
    load_balancer: LoadBalancerStatus = field(default_factory=LoadBalancerStatus)
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class SessionAffinityConfig(Model):
    client_ip: ClientIPConfig | None = field(default=None, name="clientIP")


class SleepAction(Model):
    seconds: int = field(default_factory=int)


class StorageOSPersistentVolumeSource(Model):
    volume_name: str | None = None
    volume_namespace: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: ObjectReference | None = None


class StorageOSVolumeSource(Model):
    volume_name: str | None = None
    volume_namespace: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


class Sysctl(Model):
    name: str = field(default_factory=str)
    value: str = field(default_factory=str)


class TCPSocketAction(Model):
    port: int | str = field(default_factory=int)
    host: str | None = None


class Taint(Model):
    key: str = field(default_factory=str)
    value: str | None = None
    effect: str = field(default_factory=str)
    time_added: datetime | None = None


class Toleration(Model):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class TopologySelectorLabelRequirement(Model):
    key: str = field(default_factory=str)
    values: list[str] = field(default_factory=required_list)


class TopologySelectorTerm(Model):
    match_label_expressions: list[TopologySelectorLabelRequirement] = field(default_factory=list)


class TopologySpreadConstraint(Model):
    max_skew: int = field(default_factory=int)
    topology_key: str = field(default_factory=str)
    when_unsatisfiable: str = field(default_factory=str)
    label_selector: meta_v1.LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] = field(default_factory=list)


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
    name: str = field(default_factory=str)
    host_path: HostPathVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    fc: FCVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(default=None, name="scaleIO")
    storageos: StorageOSVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None


class VolumeDevice(Model):
    name: str = field(default_factory=str)
    device_path: str = field(default_factory=str)


class VolumeHealthCondition(Model):
    status: str = field(default_factory=str)
    reason: str = field(default_factory=str)
    message: str | None = None


class VolumeHealthStatus(Model):
    health_conditions: list[VolumeHealthCondition] = field(default_factory=list)
    last_transition_time: datetime | None = None


class VolumeMount(Model):
    name: str = field(default_factory=str)
    read_only: bool | None = None
    recursive_read_only: str | None = None
    mount_path: str = field(default_factory=str)
    sub_path: str | None = None
    mount_propagation: str | None = None
    sub_path_expr: str | None = None
    bind_mount_options: list[str] = field(default_factory=list)


class VolumeMountStatus(Model):
    name: str = field(default_factory=str)
    mount_path: str = field(default_factory=str)
    read_only: bool | None = None
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class VolumeNodeAffinity(Model):
    required: NodeSelector | None = None


class VolumeProjection(Model):
    secret: SecretProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    config_map: ConfigMapProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class VolumeStatus(Model):
    image: ImageVolumeStatus | None = None


class VsphereVirtualDiskVolumeSource(Model):
    volume_path: str = field(default_factory=str)
    fs_type: str | None = None
    storage_policy_name: str | None = None
    storage_policy_id: str | None = field(default=None, name="storagePolicyID")


class WeightedPodAffinityTerm(Model):
    weight: int = field(default_factory=int)
    pod_affinity_term: PodAffinityTerm = field(default_factory=PodAffinityTerm)


class WindowsSecurityContextOptions(Model):
    gmsa_credential_spec_name: str | None = None
    gmsa_credential_spec: str | None = None
    run_as_user_name: str | None = None
    host_process: bool | None = None


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
