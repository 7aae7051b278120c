"""The registry of served resources: how each of them behaves, and how it is stored.

Built-in resources differ in their behaviour for historical reasons; the tables below record it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self

from listwatch.meta import Resource, version_priority
from listwatch.server.schema.schema import builtin_schema

NameRule = Literal["dns_subdomain", "dns_label", "path_segment", "any", "config_key", "trust_bundle", "ip_address"]


@dataclass(frozen=True, slots=True)
class Traits:
    """The behaviour of a resource, in all its versions."""

    stored: bool = True
    """False for resources such as SubjectAccessReview, whose objects are not stored."""
    graceful: bool = False
    """Deletion waits until the kubelet has stopped the containers."""
    create_on_update: bool = False
    """PUT creates an object that does not exist."""
    unconditional_update: bool = True
    """An update without a resourceVersion overwrites the object."""
    has_generation: bool = False
    """`metadata.generation` counts the changes of the desired state."""
    has_isolated_status: bool = False
    """The status subresource changes nothing but the status, not even labels."""
    returns_deleted: bool = False
    """The response to a deletion is the last state of the object; that of others is a Status."""
    name_rule: NameRule = "dns_subdomain"


CUSTOM_RESOURCE = Traits(unconditional_update=False, has_generation=True, has_isolated_status=True)

# A resource with two names, stored under the older one.
_STORED_AS = {("events.k8s.io", "events"): ("", "events")}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_STORED = _names("""
    bindings componentstatuses tokenreviews.authentication.k8s.io selfsubjectreviews.authentication.k8s.io
    subjectaccessreviews.authorization.k8s.io localsubjectaccessreviews.authorization.k8s.io
    selfsubjectaccessreviews.authorization.k8s.io selfsubjectrulesreviews.authorization.k8s.io
""")
_CREATED_ON_UPDATE = _names("""
    endpoints events events.events.k8s.io limitranges services leases.coordination.k8s.io
    leasecandidates.coordination.k8s.io runtimeclasses.node.k8s.io roles.rbac.authorization.k8s.io
    rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
    clusterrolebindings.rbac.authorization.k8s.io
""")
_UPDATED_CONDITIONALLY = _names("""
    apiservices.apiregistration.k8s.io clustertrustbundles.certificates.k8s.io
    podcertificaterequests.certificates.k8s.io csidrivers.storage.k8s.io csinodes.storage.k8s.io
    csistoragecapacities.storage.k8s.io volumeattachments.storage.k8s.io
    customresourcedefinitions.apiextensions.k8s.io leases.coordination.k8s.io leasecandidates.coordination.k8s.io
    mutatingadmissionpolicies.admissionregistration.k8s.io
    mutatingadmissionpolicybindings.admissionregistration.k8s.io
    mutatingwebhookconfigurations.admissionregistration.k8s.io
    validatingadmissionpolicies.admissionregistration.k8s.io
    validatingadmissionpolicybindings.admissionregistration.k8s.io
    validatingwebhookconfigurations.admissionregistration.k8s.io poddisruptionbudgets.policy
    resourcepoolstatusrequests.resource.k8s.io runtimeclasses.node.k8s.io storageversions.internal.apiserver.k8s.io
    storageversionmigrations.storagemigration.k8s.io
""")
_WITH_GENERATION = _names("""
    pods podtemplates replicationcontrollers cronjobs.batch customresourcedefinitions.apiextensions.k8s.io
    daemonsets.apps deployments.apps deviceclasses.resource.k8s.io devicetaintrules.resource.k8s.io
    endpointslices.discovery.k8s.io flowschemas.flowcontrol.apiserver.k8s.io ingressclasses.networking.k8s.io
    ingresses.networking.k8s.io jobs.batch mutatingadmissionpolicies.admissionregistration.k8s.io
    mutatingadmissionpolicybindings.admissionregistration.k8s.io
    mutatingwebhookconfigurations.admissionregistration.k8s.io networkpolicies.networking.k8s.io
    poddisruptionbudgets.policy priorityclasses.scheduling.k8s.io
    prioritylevelconfigurations.flowcontrol.apiserver.k8s.io replicasets.apps resourceslices.resource.k8s.io
    statefulsets.apps validatingadmissionpolicies.admissionregistration.k8s.io
    validatingadmissionpolicybindings.admissionregistration.k8s.io
    validatingwebhookconfigurations.admissionregistration.k8s.io
""")
_WITH_ISOLATED_STATUS = _names("""
    apiservices.apiregistration.k8s.io devicetaintrules.resource.k8s.io flowschemas.flowcontrol.apiserver.k8s.io
    podcertificaterequests.certificates.k8s.io podgroups.scheduling.k8s.io
    prioritylevelconfigurations.flowcontrol.apiserver.k8s.io resourceclaims.resource.k8s.io
    resourcepoolstatusrequests.resource.k8s.io servicecidrs.networking.k8s.io
    storageversionmigrations.storagemigration.k8s.io storageversions.internal.apiserver.k8s.io
    validatingadmissionpolicies.admissionregistration.k8s.io volumeattachments.storage.k8s.io
""")
_RETURNED_AFTER_DELETION = _names("""
    namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services
    csidrivers.storage.k8s.io csinodes.storage.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io
    volumeattributesclasses.storage.k8s.io deviceclasses.resource.k8s.io devicetaintrules.resource.k8s.io
    resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io resourceslices.resource.k8s.io
    resourcepoolstatusrequests.resource.k8s.io
""")
_NAME_RULES: dict[NameRule, frozenset[str]] = {
    "dns_label": _names("namespaces services statefulsets.apps"),
    "path_segment": _names("""
        roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
        clusterrolebindings.rbac.authorization.k8s.io poddisruptionbudgets.policy apiservices.apiregistration.k8s.io
    """),
    "any": _names("certificatesigningrequests.certificates.k8s.io"),
    "config_key": _names("leasecandidates.coordination.k8s.io"),
    "trust_bundle": _names("clustertrustbundles.certificates.k8s.io"),
    "ip_address": _names("ipaddresses.networking.k8s.io"),
}


def builtin_traits(resource: Resource) -> Traits:
    """Return the behaviour of a built-in resource."""
    name = str(resource.group_resource)
    return Traits(
        stored=name not in _NOT_STORED,
        graceful=name == "pods",
        create_on_update=name in _CREATED_ON_UPDATE,
        unconditional_update=name not in _UPDATED_CONDITIONALLY,
        has_generation=name in _WITH_GENERATION,
        has_isolated_status=name in _WITH_ISOLATED_STATUS,
        returns_deleted=name in _RETURNED_AFTER_DELETION,
        name_rule=next((rule for rule, names in _NAME_RULES.items() if name in names), "dns_subdomain"),
    )


class Registry:
    """The resources that are served now. The versions of a group are sorted, the preferred one first."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._served: dict[str, dict[str, dict[str, Resource]]] = {}
        self._traits: dict[tuple[str, str], Traits] = {}
        self._declared_storage: dict[str, Resource] = {}
        self._storage_cache: dict[str, Resource] = {}
        """A cache, cleared with each change."""
        self._selectable: dict[Resource, tuple[str, ...]] = {}
        self._custom_only: frozenset[str] | None = None
        """A cache, cleared with each change."""
        self.route_cache: dict[tuple[str, str, str], Any] = {}
        """The cache of `protocol.routes`, cleared with each change."""
        self.generation = 0
        """Incremented with every change, for caches that depend on this registry."""
        self.has_shard_selectors = True
        """Whether `shardSelector` is evaluated. A server without it returns the objects of all shards."""
        for resource in resources:
            self.add(resource, builtin_traits(resource))

    @classmethod
    def builtin(cls) -> Self:
        """Return a registry with the built-in resources."""
        return cls(builtin_schema().resources)

    def add(
        self,
        resource: Resource,
        traits: Traits = CUSTOM_RESOURCE,
        *,
        stored_as: Resource | None = None,
        selectable: tuple[str, ...] | None = None,
    ) -> None:
        """Serve a resource, or replace it.

        `stored_as` is the version that objects are stored in, if that is not the preferred one; it need not be served.
        `selectable` are the fields that field selectors support, beside name and namespace.
        """
        if stored_as:
            self._declared_storage[self.storage_id(resource)] = stored_as
        if selectable is not None:
            self._selectable[resource] = selectable
        versions = self._served.setdefault(resource.group, {})
        versions.setdefault(resource.version, {})[resource.plural] = resource
        self._served[resource.group] = dict(sorted(versions.items(), key=lambda each: version_priority(each[0])))
        self._traits[resource.group_resource] = traits
        self._changed()

    def remove(self, resource: Resource) -> None:
        """Stop serving a resource in this version; a group without resources is no longer served."""
        self._declared_storage.pop(self.storage_id(resource), None)
        versions = self._served[resource.group]
        self._selectable.pop(versions[resource.version].pop(resource.plural), None)
        if not versions[resource.version]:
            del versions[resource.version]
        if not versions:
            del self._served[resource.group]
        self._changed()

    def _changed(self) -> None:
        self.generation += 1
        self._storage_cache.clear()
        self.route_cache.clear()
        self._custom_only = None

    def lookup(self, group: str, version: str, plural: str) -> Resource | None:
        return self._served.get(group, {}).get(version, {}).get(plural)

    def equivalents(self, resource: Resource) -> list[Resource]:
        """Return a resource in all served versions, also those of another group that serves the same objects."""
        storage_id = self.storage_id(resource)
        groups = {resource.group: None, **{group: None for pair in _STORED_AS.items() for group, _ in pair}}
        found = (self.lookup(group, version, resource.plural) for group in groups for version in self.versions(group))
        return [each for each in found if each and self.storage_id(each) == storage_id]

    def of_kind(self, group: str, kind: str) -> Resource | None:
        """Return the resource of a kind in the preferred version."""
        served = self._served.get(group, {}).values()
        return next((each for resources in served for each in resources.values() if each.kind == kind), None)

    def groups(self) -> tuple[str, ...]:
        return tuple(self._served)

    def versions(self, group: str) -> tuple[str, ...]:
        """Return the versions of a group, the preferred one first; none for a group that is not served."""
        return tuple(self._served.get(group, ()))

    def resources(self, group: str, version: str) -> tuple[Resource, ...]:
        return tuple(self._served.get(group, {}).get(version, {}).values())

    def traits(self, resource: Resource) -> Traits:
        return self._traits[resource.group_resource]

    def is_custom_only(self, group: str) -> bool:
        """Whether all resources of a group are custom resources."""
        if self._custom_only is None:
            self._custom_only = frozenset(name for name in self._served if self._has_only_definitions(name))
        return group in self._custom_only

    def _has_only_definitions(self, group: str) -> bool:
        served = self._served[group].values()
        return all(resource in self._selectable for resources in served for resource in resources.values())

    def selectable_fields(self, resource: Resource) -> tuple[str, ...] | None:
        """Return the selectable fields that a definition declares; None for a resource without definition."""
        return self._selectable.get(resource) if self._selectable else None

    def stored_as(self, resource: Resource) -> Resource:
        """Return the resource in the version that is stored; the resource itself if it is no longer served."""
        if resource.group not in self._served:
            return resource
        return self.by_storage_id(self.storage_id(resource), otherwise=resource)

    def storage_id(self, resource: Resource) -> str:
        """Return the id of a resource in the storage, equal for all versions."""
        group, plural = _STORED_AS.get((resource.group, resource.plural), (resource.group, resource.plural))
        return f"{group}/{plural}"

    def by_storage_id(self, storage_id: str, *, otherwise: Resource | None = None) -> Resource:
        """Return the resource with a storage id, in the version that is stored: the declared or the preferred one."""
        found = self._storage_cache.get(storage_id) or self._declared_storage.get(storage_id)
        if found is None:
            group, _, plural = storage_id.rpartition("/")
            served = (each for version in self.versions(group) if (each := self.lookup(group, version, plural)))
            found = next(served, otherwise)
            if found is None:
                raise LookupError(f"no served resource has the storage id {storage_id}")
        self._storage_cache[storage_id] = found
        return found
