"""The resources of Kubernetes v1.37.0-rc.1, as type checkers and completions see them in a ClientSet.

Generated from an API server's schemas and discovery. Do not edit: run `make models`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.client.resources.resource_groups import ClusterScoped, Group, Namespaced

if TYPE_CHECKING:
    from listwatch.models import (
        admissionregistration_v1,
        admissionregistration_v1alpha1,
        admissionregistration_v1beta1,
        apiextensions_v1,
        apiregistration_v1,
        apps_v1,
        authentication_v1,
        authorization_v1,
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


class CoreV1(Group):
    """The resources of `v1`."""

    bindings: Namespaced[core_v1.Binding]
    componentstatuses: ClusterScoped[core_v1.ComponentStatus]
    configmaps: Namespaced[core_v1.ConfigMap]
    endpoints: Namespaced[core_v1.Endpoints]
    events: Namespaced[core_v1.Event]
    limitranges: Namespaced[core_v1.LimitRange]
    namespaces: ClusterScoped[core_v1.Namespace]
    nodes: ClusterScoped[core_v1.Node]
    persistentvolumeclaims: Namespaced[core_v1.PersistentVolumeClaim]
    persistentvolumes: ClusterScoped[core_v1.PersistentVolume]
    pods: Namespaced[core_v1.Pod]
    podtemplates: Namespaced[core_v1.PodTemplate]
    replicationcontrollers: Namespaced[core_v1.ReplicationController]
    resourcequotas: Namespaced[core_v1.ResourceQuota]
    secrets: Namespaced[core_v1.Secret]
    serviceaccounts: Namespaced[core_v1.ServiceAccount]
    services: Namespaced[core_v1.Service]


class ApiregistrationV1(Group):
    """The resources of `apiregistration.k8s.io/v1`."""

    apiservices: ClusterScoped[apiregistration_v1.APIService]


class AppsV1(Group):
    """The resources of `apps/v1`."""

    controllerrevisions: Namespaced[apps_v1.ControllerRevision]
    daemonsets: Namespaced[apps_v1.DaemonSet]
    deployments: Namespaced[apps_v1.Deployment]
    replicasets: Namespaced[apps_v1.ReplicaSet]
    statefulsets: Namespaced[apps_v1.StatefulSet]


class EventsV1(Group):
    """The resources of `events.k8s.io/v1`."""

    events: Namespaced[events_v1.Event]


class AuthenticationV1(Group):
    """The resources of `authentication.k8s.io/v1`."""

    selfsubjectreviews: ClusterScoped[authentication_v1.SelfSubjectReview]
    tokenreviews: ClusterScoped[authentication_v1.TokenReview]


class AuthorizationV1(Group):
    """The resources of `authorization.k8s.io/v1`."""

    localsubjectaccessreviews: Namespaced[authorization_v1.LocalSubjectAccessReview]
    selfsubjectaccessreviews: ClusterScoped[authorization_v1.SelfSubjectAccessReview]
    selfsubjectrulesreviews: ClusterScoped[authorization_v1.SelfSubjectRulesReview]
    subjectaccessreviews: ClusterScoped[authorization_v1.SubjectAccessReview]


class AutoscalingV2(Group):
    """The resources of `autoscaling/v2`."""

    horizontalpodautoscalers: Namespaced[autoscaling_v2.HorizontalPodAutoscaler]


class AutoscalingV1(Group):
    """The resources of `autoscaling/v1`."""

    horizontalpodautoscalers: Namespaced[autoscaling_v1.HorizontalPodAutoscaler]


class BatchV1(Group):
    """The resources of `batch/v1`."""

    cronjobs: Namespaced[batch_v1.CronJob]
    jobs: Namespaced[batch_v1.Job]


class CertificatesV1(Group):
    """The resources of `certificates.k8s.io/v1`."""

    certificatesigningrequests: ClusterScoped[certificates_v1.CertificateSigningRequest]
    clustertrustbundles: ClusterScoped[certificates_v1.ClusterTrustBundle]
    podcertificaterequests: Namespaced[certificates_v1.PodCertificateRequest]


class CertificatesV1beta1(Group):
    """The resources of `certificates.k8s.io/v1beta1`."""

    clustertrustbundles: ClusterScoped[certificates_v1beta1.ClusterTrustBundle]
    podcertificaterequests: Namespaced[certificates_v1beta1.PodCertificateRequest]


class NetworkingV1(Group):
    """The resources of `networking.k8s.io/v1`."""

    ingressclasses: ClusterScoped[networking_v1.IngressClass]
    ingresses: Namespaced[networking_v1.Ingress]
    ipaddresses: ClusterScoped[networking_v1.IPAddress]
    networkpolicies: Namespaced[networking_v1.NetworkPolicy]
    servicecidrs: ClusterScoped[networking_v1.ServiceCIDR]


class PolicyV1(Group):
    """The resources of `policy/v1`."""

    poddisruptionbudgets: Namespaced[policy_v1.PodDisruptionBudget]


class RbacV1(Group):
    """The resources of `rbac.authorization.k8s.io/v1`."""

    clusterrolebindings: ClusterScoped[rbac_v1.ClusterRoleBinding]
    clusterroles: ClusterScoped[rbac_v1.ClusterRole]
    rolebindings: Namespaced[rbac_v1.RoleBinding]
    roles: Namespaced[rbac_v1.Role]


class StorageV1(Group):
    """The resources of `storage.k8s.io/v1`."""

    csidrivers: ClusterScoped[storage_v1.CSIDriver]
    csinodes: ClusterScoped[storage_v1.CSINode]
    csistoragecapacities: Namespaced[storage_v1.CSIStorageCapacity]
    storageclasses: ClusterScoped[storage_v1.StorageClass]
    volumeattachments: ClusterScoped[storage_v1.VolumeAttachment]
    volumeattributesclasses: ClusterScoped[storage_v1.VolumeAttributesClass]


class AdmissionregistrationV1(Group):
    """The resources of `admissionregistration.k8s.io/v1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1.MutatingAdmissionPolicyBinding]
    mutatingwebhookconfigurations: ClusterScoped[admissionregistration_v1.MutatingWebhookConfiguration]
    validatingadmissionpolicies: ClusterScoped[admissionregistration_v1.ValidatingAdmissionPolicy]
    validatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1.ValidatingAdmissionPolicyBinding]
    validatingwebhookconfigurations: ClusterScoped[admissionregistration_v1.ValidatingWebhookConfiguration]


class AdmissionregistrationV1beta1(Group):
    """The resources of `admissionregistration.k8s.io/v1beta1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1beta1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1beta1.MutatingAdmissionPolicyBinding]


class AdmissionregistrationV1alpha1(Group):
    """The resources of `admissionregistration.k8s.io/v1alpha1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1alpha1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding]


class ApiextensionsV1(Group):
    """The resources of `apiextensions.k8s.io/v1`."""

    customresourcedefinitions: ClusterScoped[apiextensions_v1.CustomResourceDefinition]


class SchedulingV1(Group):
    """The resources of `scheduling.k8s.io/v1`."""

    priorityclasses: ClusterScoped[scheduling_v1.PriorityClass]


class SchedulingV1beta1(Group):
    """The resources of `scheduling.k8s.io/v1beta1`."""

    podgroups: Namespaced[scheduling_v1beta1.PodGroup]
    workloads: Namespaced[scheduling_v1beta1.Workload]


class SchedulingV1alpha3(Group):
    """The resources of `scheduling.k8s.io/v1alpha3`."""

    compositepodgroups: Namespaced[scheduling_v1alpha3.CompositePodGroup]
    podgroups: Namespaced[scheduling_v1alpha3.PodGroup]
    workloads: Namespaced[scheduling_v1alpha3.Workload]


class CoordinationV1(Group):
    """The resources of `coordination.k8s.io/v1`."""

    leases: Namespaced[coordination_v1.Lease]


class CoordinationV1beta1(Group):
    """The resources of `coordination.k8s.io/v1beta1`."""

    leasecandidates: Namespaced[coordination_v1beta1.LeaseCandidate]


class CoordinationV1alpha2(Group):
    """The resources of `coordination.k8s.io/v1alpha2`."""

    leasecandidates: Namespaced[coordination_v1alpha2.LeaseCandidate]


class NodeV1(Group):
    """The resources of `node.k8s.io/v1`."""

    runtimeclasses: ClusterScoped[node_v1.RuntimeClass]


class DiscoveryV1(Group):
    """The resources of `discovery.k8s.io/v1`."""

    endpointslices: Namespaced[discovery_v1.EndpointSlice]


class ResourceV1(Group):
    """The resources of `resource.k8s.io/v1`."""

    deviceclasses: ClusterScoped[resource_v1.DeviceClass]
    devicetaintrules: ClusterScoped[resource_v1.DeviceTaintRule]
    resourceclaims: Namespaced[resource_v1.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1.ResourceSlice]


class ResourceV1beta2(Group):
    """The resources of `resource.k8s.io/v1beta2`."""

    deviceclasses: ClusterScoped[resource_v1beta2.DeviceClass]
    devicetaintrules: ClusterScoped[resource_v1beta2.DeviceTaintRule]
    resourceclaims: Namespaced[resource_v1beta2.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1beta2.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1beta2.ResourceSlice]


class ResourceV1beta1(Group):
    """The resources of `resource.k8s.io/v1beta1`."""

    deviceclasses: ClusterScoped[resource_v1beta1.DeviceClass]
    resourceclaims: Namespaced[resource_v1beta1.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1beta1.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1beta1.ResourceSlice]


class ResourceV1alpha3(Group):
    """The resources of `resource.k8s.io/v1alpha3`."""

    devicetaintrules: ClusterScoped[resource_v1alpha3.DeviceTaintRule]
    resourcepoolstatusrequests: ClusterScoped[resource_v1alpha3.ResourcePoolStatusRequest]


class FlowcontrolV1(Group):
    """The resources of `flowcontrol.apiserver.k8s.io/v1`."""

    flowschemas: ClusterScoped[flowcontrol_v1.FlowSchema]
    prioritylevelconfigurations: ClusterScoped[flowcontrol_v1.PriorityLevelConfiguration]


class InternalV1alpha1(Group):
    """The resources of `internal.apiserver.k8s.io/v1alpha1`."""

    storageversions: ClusterScoped[internal_v1alpha1.StorageVersion]


class StoragemigrationV1(Group):
    """The resources of `storagemigration.k8s.io/v1`."""

    storageversionmigrations: ClusterScoped[storagemigration_v1.StorageVersionMigration]


class StoragemigrationV1beta1(Group):
    """The resources of `storagemigration.k8s.io/v1beta1`."""

    storageversionmigrations: ClusterScoped[storagemigration_v1beta1.StorageVersionMigration]


class LifecycleV1alpha1(Group):
    """The resources of `lifecycle.k8s.io/v1alpha1`."""

    evictionrequests: Namespaced[lifecycle_v1alpha1.EvictionRequest]
    evictions: Namespaced[lifecycle_v1alpha1.Eviction]


class Groups:
    """The group-versions of a ClientSet."""

    core_v1: CoreV1
    apiregistration_v1: ApiregistrationV1
    apps_v1: AppsV1
    events_v1: EventsV1
    authentication_v1: AuthenticationV1
    authorization_v1: AuthorizationV1
    autoscaling_v2: AutoscalingV2
    autoscaling_v1: AutoscalingV1
    batch_v1: BatchV1
    certificates_v1: CertificatesV1
    certificates_v1beta1: CertificatesV1beta1
    networking_v1: NetworkingV1
    policy_v1: PolicyV1
    rbac_v1: RbacV1
    storage_v1: StorageV1
    admissionregistration_v1: AdmissionregistrationV1
    admissionregistration_v1beta1: AdmissionregistrationV1beta1
    admissionregistration_v1alpha1: AdmissionregistrationV1alpha1
    apiextensions_v1: ApiextensionsV1
    scheduling_v1: SchedulingV1
    scheduling_v1beta1: SchedulingV1beta1
    scheduling_v1alpha3: SchedulingV1alpha3
    coordination_v1: CoordinationV1
    coordination_v1beta1: CoordinationV1beta1
    coordination_v1alpha2: CoordinationV1alpha2
    node_v1: NodeV1
    discovery_v1: DiscoveryV1
    resource_v1: ResourceV1
    resource_v1beta2: ResourceV1beta2
    resource_v1beta1: ResourceV1beta1
    resource_v1alpha3: ResourceV1alpha3
    flowcontrol_v1: FlowcontrolV1
    internal_v1alpha1: InternalV1alpha1
    storagemigration_v1: StoragemigrationV1
    storagemigration_v1beta1: StoragemigrationV1beta1
    lifecycle_v1alpha1: LifecycleV1alpha1
