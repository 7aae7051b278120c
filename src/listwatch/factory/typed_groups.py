"""The resources of Kubernetes v1.37.0-rc.1, as type checkers and completions see them in a factory.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.factory.informer_handle import InformerGroup, InformerHandle

if TYPE_CHECKING:
    from listwatch.models import (
        admissionregistration_v1,
        admissionregistration_v1alpha1,
        admissionregistration_v1beta1,
        apiextensions_v1,
        apiregistration_v1,
        apps_v1,
        autoscaling_v1,
        autoscaling_v2,
        batch_v1,
        certificates_v1,
        certificates_v1beta1,
        coordination_v1,
        coordination_v1alpha2,
        coordination_v1beta1,
        core_v1,
        discovery_v1,
        events_v1,
        flowcontrol_v1,
        internal_v1alpha1,
        lifecycle_v1alpha1,
        networking_v1,
        node_v1,
        policy_v1,
        rbac_v1,
        resource_v1,
        resource_v1alpha3,
        resource_v1beta1,
        resource_v1beta2,
        scheduling_v1,
        scheduling_v1alpha3,
        scheduling_v1beta1,
        storage_v1,
        storagemigration_v1,
        storagemigration_v1beta1,
    )


class CoreV1Informers(InformerGroup):
    """The informers of `v1`."""

    configmaps: InformerHandle[core_v1.ConfigMap]
    endpoints: InformerHandle[core_v1.Endpoints]
    events: InformerHandle[core_v1.Event]
    limitranges: InformerHandle[core_v1.LimitRange]
    namespaces: InformerHandle[core_v1.Namespace]
    nodes: InformerHandle[core_v1.Node]
    persistentvolumeclaims: InformerHandle[core_v1.PersistentVolumeClaim]
    persistentvolumes: InformerHandle[core_v1.PersistentVolume]
    pods: InformerHandle[core_v1.Pod]
    podtemplates: InformerHandle[core_v1.PodTemplate]
    replicationcontrollers: InformerHandle[core_v1.ReplicationController]
    resourcequotas: InformerHandle[core_v1.ResourceQuota]
    secrets: InformerHandle[core_v1.Secret]
    serviceaccounts: InformerHandle[core_v1.ServiceAccount]
    services: InformerHandle[core_v1.Service]


class ApiregistrationV1Informers(InformerGroup):
    """The informers of `apiregistration.k8s.io/v1`."""

    apiservices: InformerHandle[apiregistration_v1.APIService]


class AppsV1Informers(InformerGroup):
    """The informers of `apps/v1`."""

    controllerrevisions: InformerHandle[apps_v1.ControllerRevision]
    daemonsets: InformerHandle[apps_v1.DaemonSet]
    deployments: InformerHandle[apps_v1.Deployment]
    replicasets: InformerHandle[apps_v1.ReplicaSet]
    statefulsets: InformerHandle[apps_v1.StatefulSet]


class EventsV1Informers(InformerGroup):
    """The informers of `events.k8s.io/v1`."""

    events: InformerHandle[events_v1.Event]


class AutoscalingV2Informers(InformerGroup):
    """The informers of `autoscaling/v2`."""

    horizontalpodautoscalers: InformerHandle[autoscaling_v2.HorizontalPodAutoscaler]


class AutoscalingV1Informers(InformerGroup):
    """The informers of `autoscaling/v1`."""

    horizontalpodautoscalers: InformerHandle[autoscaling_v1.HorizontalPodAutoscaler]


class BatchV1Informers(InformerGroup):
    """The informers of `batch/v1`."""

    cronjobs: InformerHandle[batch_v1.CronJob]
    jobs: InformerHandle[batch_v1.Job]


class CertificatesV1Informers(InformerGroup):
    """The informers of `certificates.k8s.io/v1`."""

    certificatesigningrequests: InformerHandle[certificates_v1.CertificateSigningRequest]
    clustertrustbundles: InformerHandle[certificates_v1.ClusterTrustBundle]
    podcertificaterequests: InformerHandle[certificates_v1.PodCertificateRequest]


class CertificatesV1beta1Informers(InformerGroup):
    """The informers of `certificates.k8s.io/v1beta1`."""

    clustertrustbundles: InformerHandle[certificates_v1beta1.ClusterTrustBundle]
    podcertificaterequests: InformerHandle[certificates_v1beta1.PodCertificateRequest]


class NetworkingV1Informers(InformerGroup):
    """The informers of `networking.k8s.io/v1`."""

    ingressclasses: InformerHandle[networking_v1.IngressClass]
    ingresses: InformerHandle[networking_v1.Ingress]
    ipaddresses: InformerHandle[networking_v1.IPAddress]
    networkpolicies: InformerHandle[networking_v1.NetworkPolicy]
    servicecidrs: InformerHandle[networking_v1.ServiceCIDR]


class PolicyV1Informers(InformerGroup):
    """The informers of `policy/v1`."""

    poddisruptionbudgets: InformerHandle[policy_v1.PodDisruptionBudget]


class RbacV1Informers(InformerGroup):
    """The informers of `rbac.authorization.k8s.io/v1`."""

    clusterrolebindings: InformerHandle[rbac_v1.ClusterRoleBinding]
    clusterroles: InformerHandle[rbac_v1.ClusterRole]
    rolebindings: InformerHandle[rbac_v1.RoleBinding]
    roles: InformerHandle[rbac_v1.Role]


class StorageV1Informers(InformerGroup):
    """The informers of `storage.k8s.io/v1`."""

    csidrivers: InformerHandle[storage_v1.CSIDriver]
    csinodes: InformerHandle[storage_v1.CSINode]
    csistoragecapacities: InformerHandle[storage_v1.CSIStorageCapacity]
    storageclasses: InformerHandle[storage_v1.StorageClass]
    volumeattachments: InformerHandle[storage_v1.VolumeAttachment]
    volumeattributesclasses: InformerHandle[storage_v1.VolumeAttributesClass]


class AdmissionregistrationV1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1.MutatingAdmissionPolicyBinding]
    mutatingwebhookconfigurations: InformerHandle[admissionregistration_v1.MutatingWebhookConfiguration]
    validatingadmissionpolicies: InformerHandle[admissionregistration_v1.ValidatingAdmissionPolicy]
    validatingadmissionpolicybindings: InformerHandle[admissionregistration_v1.ValidatingAdmissionPolicyBinding]
    validatingwebhookconfigurations: InformerHandle[admissionregistration_v1.ValidatingWebhookConfiguration]


class AdmissionregistrationV1beta1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1beta1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1beta1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1beta1.MutatingAdmissionPolicyBinding]


class AdmissionregistrationV1alpha1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1alpha1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1alpha1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding]


class ApiextensionsV1Informers(InformerGroup):
    """The informers of `apiextensions.k8s.io/v1`."""

    customresourcedefinitions: InformerHandle[apiextensions_v1.CustomResourceDefinition]


class SchedulingV1Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1`."""

    priorityclasses: InformerHandle[scheduling_v1.PriorityClass]


class SchedulingV1beta1Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1beta1`."""

    podgroups: InformerHandle[scheduling_v1beta1.PodGroup]
    workloads: InformerHandle[scheduling_v1beta1.Workload]


class SchedulingV1alpha3Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1alpha3`."""

    compositepodgroups: InformerHandle[scheduling_v1alpha3.CompositePodGroup]
    podgroups: InformerHandle[scheduling_v1alpha3.PodGroup]
    workloads: InformerHandle[scheduling_v1alpha3.Workload]


class CoordinationV1Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1`."""

    leases: InformerHandle[coordination_v1.Lease]


class CoordinationV1beta1Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1beta1`."""

    leasecandidates: InformerHandle[coordination_v1beta1.LeaseCandidate]


class CoordinationV1alpha2Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1alpha2`."""

    leasecandidates: InformerHandle[coordination_v1alpha2.LeaseCandidate]


class NodeV1Informers(InformerGroup):
    """The informers of `node.k8s.io/v1`."""

    runtimeclasses: InformerHandle[node_v1.RuntimeClass]


class DiscoveryV1Informers(InformerGroup):
    """The informers of `discovery.k8s.io/v1`."""

    endpointslices: InformerHandle[discovery_v1.EndpointSlice]


class ResourceV1Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1`."""

    deviceclasses: InformerHandle[resource_v1.DeviceClass]
    devicetaintrules: InformerHandle[resource_v1.DeviceTaintRule]
    resourceclaims: InformerHandle[resource_v1.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1.ResourceSlice]


class ResourceV1beta2Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1beta2`."""

    deviceclasses: InformerHandle[resource_v1beta2.DeviceClass]
    devicetaintrules: InformerHandle[resource_v1beta2.DeviceTaintRule]
    resourceclaims: InformerHandle[resource_v1beta2.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1beta2.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1beta2.ResourceSlice]


class ResourceV1beta1Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1beta1`."""

    deviceclasses: InformerHandle[resource_v1beta1.DeviceClass]
    resourceclaims: InformerHandle[resource_v1beta1.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1beta1.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1beta1.ResourceSlice]


class ResourceV1alpha3Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1alpha3`."""

    devicetaintrules: InformerHandle[resource_v1alpha3.DeviceTaintRule]
    resourcepoolstatusrequests: InformerHandle[resource_v1alpha3.ResourcePoolStatusRequest]


class FlowcontrolV1Informers(InformerGroup):
    """The informers of `flowcontrol.apiserver.k8s.io/v1`."""

    flowschemas: InformerHandle[flowcontrol_v1.FlowSchema]
    prioritylevelconfigurations: InformerHandle[flowcontrol_v1.PriorityLevelConfiguration]


class InternalV1alpha1Informers(InformerGroup):
    """The informers of `internal.apiserver.k8s.io/v1alpha1`."""

    storageversions: InformerHandle[internal_v1alpha1.StorageVersion]


class StoragemigrationV1Informers(InformerGroup):
    """The informers of `storagemigration.k8s.io/v1`."""

    storageversionmigrations: InformerHandle[storagemigration_v1.StorageVersionMigration]


class StoragemigrationV1beta1Informers(InformerGroup):
    """The informers of `storagemigration.k8s.io/v1beta1`."""

    storageversionmigrations: InformerHandle[storagemigration_v1beta1.StorageVersionMigration]


class LifecycleV1alpha1Informers(InformerGroup):
    """The informers of `lifecycle.k8s.io/v1alpha1`."""

    evictionrequests: InformerHandle[lifecycle_v1alpha1.EvictionRequest]
    evictions: InformerHandle[lifecycle_v1alpha1.Eviction]


class InformerGroups:
    """The group-versions of a factory over a ClientSet."""

    core_v1: CoreV1Informers
    apiregistration_v1: ApiregistrationV1Informers
    apps_v1: AppsV1Informers
    events_v1: EventsV1Informers
    autoscaling_v2: AutoscalingV2Informers
    autoscaling_v1: AutoscalingV1Informers
    batch_v1: BatchV1Informers
    certificates_v1: CertificatesV1Informers
    certificates_v1beta1: CertificatesV1beta1Informers
    networking_v1: NetworkingV1Informers
    policy_v1: PolicyV1Informers
    rbac_v1: RbacV1Informers
    storage_v1: StorageV1Informers
    admissionregistration_v1: AdmissionregistrationV1Informers
    admissionregistration_v1beta1: AdmissionregistrationV1beta1Informers
    admissionregistration_v1alpha1: AdmissionregistrationV1alpha1Informers
    apiextensions_v1: ApiextensionsV1Informers
    scheduling_v1: SchedulingV1Informers
    scheduling_v1beta1: SchedulingV1beta1Informers
    scheduling_v1alpha3: SchedulingV1alpha3Informers
    coordination_v1: CoordinationV1Informers
    coordination_v1beta1: CoordinationV1beta1Informers
    coordination_v1alpha2: CoordinationV1alpha2Informers
    node_v1: NodeV1Informers
    discovery_v1: DiscoveryV1Informers
    resource_v1: ResourceV1Informers
    resource_v1beta2: ResourceV1beta2Informers
    resource_v1beta1: ResourceV1beta1Informers
    resource_v1alpha3: ResourceV1alpha3Informers
    flowcontrol_v1: FlowcontrolV1Informers
    internal_v1alpha1: InternalV1alpha1Informers
    storagemigration_v1: StoragemigrationV1Informers
    storagemigration_v1beta1: StoragemigrationV1beta1Informers
    lifecycle_v1alpha1: LifecycleV1alpha1Informers
