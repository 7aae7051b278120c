"""Which resources are served, how each of them behaves, and how it is stored. `schema` knows what their fields are.

How built-in resources behave differs from one to the next for no reason but history. It is all in the tables below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self

from listwatch.meta import Resource, version_priority
from listwatch.server.schema.schema import builtin_schema

NameRule = Literal["dns_subdomain", "dns_label", "path_segment", "any"]


@dataclass(frozen=True, slots=True)
class Traits:
    """How one resource behaves, in all of its versions."""

    stored: bool = True
    """False for what is only asked, and forgotten when it was answered."""
    graceful: bool = False
    """Deletion waits until somebody has stopped what runs."""
    create_on_update: bool = False
    """PUT makes an object that is not there."""
    unconditional_update: bool = True
    """An update without a resource version overwrites whatever is there."""
    has_generation: bool = False
    """`metadata.generation` counts the changes of what is wanted."""
    status_is_alone: bool = False
    """Through the status subresource nothing else changes, not even labels."""
    name_rule: NameRule = "dns_subdomain"


CUSTOM_RESOURCE = Traits(unconditional_update=False, has_generation=True, status_is_alone=True)

# One resource by two names, kept under the older one.
_STORED_AS = {("events.k8s.io", "events"): ("", "events")}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANSWERED = _names("""
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
_NEVER_UPDATED_BLINDLY = _names("""
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
_WITH_STATUS_ALONE = _names("""
    apiservices.apiregistration.k8s.io devicetaintrules.resource.k8s.io flowschemas.flowcontrol.apiserver.k8s.io
    podcertificaterequests.certificates.k8s.io podgroups.scheduling.k8s.io
    prioritylevelconfigurations.flowcontrol.apiserver.k8s.io resourceclaims.resource.k8s.io
    resourcepoolstatusrequests.resource.k8s.io servicecidrs.networking.k8s.io
    storageversionmigrations.storagemigration.k8s.io storageversions.internal.apiserver.k8s.io
    validatingadmissionpolicies.admissionregistration.k8s.io volumeattachments.storage.k8s.io
""")
_NAMED: dict[NameRule, frozenset[str]] = {
    "dns_label": _names("namespaces services statefulsets.apps"),
    "path_segment": _names("""
        roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
        clusterrolebindings.rbac.authorization.k8s.io poddisruptionbudgets.policy apiservices.apiregistration.k8s.io
    """),
    "any": _names("certificatesigningrequests.certificates.k8s.io"),
}


def builtin_traits(resource: Resource) -> Traits:
    """How a built-in resource behaves."""
    name = str(resource.group_resource)
    return Traits(
        stored=name not in _ANSWERED,
        graceful=name == "pods",
        create_on_update=name in _CREATED_ON_UPDATE,
        unconditional_update=name not in _NEVER_UPDATED_BLINDLY,
        has_generation=name in _WITH_GENERATION,
        status_is_alone=name in _WITH_STATUS_ALONE,
        name_rule=next((rule for rule, names in _NAMED.items() if name in names), "dns_subdomain"),
    )


class Registry:
    """Every resource that is served now; each group has its preferred version first, whatever was added when."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._served: dict[str, dict[str, dict[str, Resource]]] = {}
        self._traits: dict[tuple[str, str], Traits] = {}
        self._declared_forms: dict[str, Resource] = {}
        self._storage_forms: dict[str, Resource] = {}
        """Those that were asked for since the last change."""
        self._selectable: dict[Resource, tuple[str, ...]] = {}
        self._custom_only: frozenset[str] | None = None
        """The groups of which that was found out since the last change."""
        self.collections: dict[tuple[str, str, bool], Any] = {}
        """Where requests for some of them lead, as `routes` has found out since the last change."""
        self._generation = 0
        for resource in resources:
            self.add(resource, builtin_traits(resource))

    @classmethod
    def builtin(cls) -> Self:
        """With all that Kubernetes has by itself."""
        return cls(builtin_schema().resources)

    @property
    def generation(self) -> int:
        """Grows with every change, so that what was made from this registry can be kept until then."""
        return self._generation

    def add(
        self,
        resource: Resource,
        traits: Traits = CUSTOM_RESOURCE,
        *,
        stored_as: Resource | None = None,
        selectable: tuple[str, ...] | None = None,
    ) -> None:
        """Serve a resource, or serve it otherwise from now on.

        `stored_as` is the version that objects are stored in, if that is not the preferred one; it need not be served.
        `selectable` are fields beyond its name and namespace that it can be selected by.
        """
        if stored_as:
            self._declared_forms[self.storage_id(resource)] = stored_as
        if selectable is not None:
            self._selectable[resource] = selectable
        versions = self._served.setdefault(resource.group, {})
        versions.setdefault(resource.version, {})[resource.plural] = resource
        self._served[resource.group] = dict(sorted(versions.items(), key=lambda each: version_priority(each[0])))
        self._traits[resource.group_resource] = traits
        self._changed()

    def remove(self, resource: Resource) -> None:
        """Serve a resource no longer, in this one version; a group without resources is not served either."""
        self._declared_forms.pop(self.storage_id(resource), None)
        versions = self._served[resource.group]
        self._selectable.pop(versions[resource.version].pop(resource.plural), None)
        if not versions[resource.version]:
            del versions[resource.version]
        if not versions:
            del self._served[resource.group]
        self._changed()

    def _changed(self) -> None:
        self._generation += 1
        self._storage_forms.clear()
        self.collections.clear()
        self._custom_only = None

    # Looking up

    def lookup(self, group: str, version: str, plural: str) -> Resource | None:
        return self._served.get(group, {}).get(version, {}).get(plural)

    def of_kind(self, group: str, kind: str) -> Resource | None:
        """The resource whose objects are of that kind, in the version that is preferred."""
        served = self._served.get(group, {}).values()
        return next((each for resources in served for each in resources.values() if each.kind == kind), None)

    def groups(self) -> tuple[str, ...]:
        return tuple(self._served)

    def versions(self, group: str) -> tuple[str, ...]:
        """The preferred one first; none for a group that is not served."""
        return tuple(self._served.get(group, ()))

    def resources(self, group: str, version: str) -> tuple[Resource, ...]:
        return tuple(self._served.get(group, {}).get(version, {}).values())

    def traits(self, resource: Resource) -> Traits:
        return self._traits[resource.group_resource]

    def is_custom_only(self, group: str) -> bool:
        """Whether all resources of a group come from definitions."""
        if self._custom_only is None:
            self._custom_only = frozenset(name for name in self._served if self._has_only_definitions(name))
        return group in self._custom_only

    def _has_only_definitions(self, group: str) -> bool:
        served = self._served[group].values()
        return all(resource in self._selectable for resources in served for resource in resources.values())

    def selectable_fields(self, resource: Resource) -> tuple[str, ...] | None:
        """What a definition says that it can be selected by; None for a resource without one."""
        return self._selectable.get(resource) if self._selectable else None

    # Storing

    def storage_form(self, resource: Resource) -> Resource:
        """What its objects are stored as; one that is no longer served is what it is."""
        if resource.group not in self._served:
            return resource
        return self.stored_under(self.storage_id(resource), otherwise=resource)

    def storage_id(self, resource: Resource) -> str:
        """What the storage calls it, the same in all versions."""
        group, plural = _STORED_AS.get((resource.group, resource.plural), (resource.group, resource.plural))
        return f"{group}/{plural}"

    def stored_under(self, storage_id: str, *, otherwise: Resource | None = None) -> Resource:
        """The reverse of `storage_id`, in the form that is stored: the one that was declared, or else preferred."""
        found = self._storage_forms.get(storage_id) or self._declared_forms.get(storage_id)
        if found is None:
            group, _, plural = storage_id.rpartition("/")
            served = (each for version in self.versions(group) if (each := self.lookup(group, version, plural)))
            found = next(served, otherwise)
            if found is None:
                raise LookupError(f"nothing is served that is stored under {storage_id}")
        self._storage_forms[storage_id] = found
        return found
