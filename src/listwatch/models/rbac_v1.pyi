"""The kinds and types of `rbac.authorization.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class AggregationRule(Model):
    """AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole"""
    cluster_role_selectors: list[meta_v1.LabelSelector] = []
    """ClusterRoleSelectors holds a list of selectors which will be used to find ClusterRoles and create the rules. If any of the selectors match, then the ClusterRole's permissions will be added

    JSON: `clusterRoleSelectors`. Default: absent."""


class PolicyRule(Model):
    """PolicyRule holds information that describes a policy rule, but does not contain information about who the rule applies to or which namespace the rule applies to."""
    api_groups: list[str] = []
    """APIGroups is the name of the APIGroup that contains the resources.  If multiple API groups are specified, any action requested against one of the enumerated resources in any API group will be allowed. "" represents the core API group and "*" represents all API groups.

    JSON: `apiGroups`. Default: absent."""
    non_resource_urls: list[str] = []
    """NonResourceURLs is a set of partial urls that a user should have access to.  *s are allowed, but only as the full, final step in the path Since non-resource URLs are not namespaced, this field is only applicable for ClusterRoles referenced from a ClusterRoleBinding. Rules can either apply to API resources (such as "pods" or "secrets") or non-resource URL paths (such as "/api"),  but not both.

    JSON: `nonResourceURLs`. Default: absent."""
    resource_names: list[str] = []
    """ResourceNames is an optional white list of names that the rule applies to.  An empty set means that everything is allowed.

    JSON: `resourceNames`. Default: absent."""
    resources: list[str] = []
    """Resources is a list of resources this rule applies to. '*' represents all resources.

    JSON: `resources`. Default: absent."""
    verbs: list[str] = []
    """Verbs is a list of Verbs that apply to ALL the ResourceKinds contained in this rule. '*' represents all verbs.

    JSON: `verbs`. Required."""


class RoleRef(Model):
    """RoleRef contains information that points to the role being used"""
    api_group: str = ""
    """APIGroup is the group for the resource being referenced

    JSON: `apiGroup`. Default: `""`."""
    kind: str = ""
    """Kind is the type of resource being referenced

    JSON: `kind`. Required."""
    name: str = ""
    """Name is the name of resource being referenced

    JSON: `name`. Required."""


class Subject(Model):
    """Subject contains a reference to the object or user identities a role binding applies to.  This can either hold a direct API object reference, or a value for non-objects such as user and group names."""
    api_group: str | None = None
    """APIGroup holds the API group of the referenced subject. Defaults to "" for ServiceAccount subjects. Defaults to "rbac.authorization.k8s.io" for User and Group subjects.

    JSON: `apiGroup`. Default: absent."""
    kind: str = ""
    """Kind of object being referenced. Values defined by this API group are "User", "Group", and "ServiceAccount". If the Authorizer does not recognized the kind value, the Authorizer should report an error.

    JSON: `kind`. Required."""
    name: str = ""
    """Name of the object being referenced.

    JSON: `name`. Required."""
    namespace: str | None = None
    """Namespace of the referenced object.  If the object kind is non-namespace, such as "User" or "Group", and this value is not empty the Authorizer should report an error.

    JSON: `namespace`. Default: absent."""


class ClusterRole(Object):
    """ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding or ClusterRoleBinding."""
    aggregation_rule: AggregationRule | None = ...
    """AggregationRule is an optional field that describes how to build the Rules for this ClusterRole. If AggregationRule is set, then the Rules are controller managed and direct changes to Rules will be stomped by the controller.

    JSON: `aggregationRule`. Default: absent."""
    rules: list[PolicyRule] = ...
    """Rules holds all the PolicyRules for this ClusterRole

    JSON: `rules`. Default: absent."""


class ClusterRoleBinding(Object):
    """ClusterRoleBinding references a ClusterRole, but not contain it.  It can reference a ClusterRole in the global namespace, and adds who information via Subject."""
    role_ref: RoleRef = ...
    """RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error. This field is immutable.

    JSON: `roleRef`. Required."""
    subjects: list[Subject] = ...
    """Subjects holds references to the objects the role applies to.

    JSON: `subjects`. Default: absent."""


class Role(Object):
    """Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding."""
    rules: list[PolicyRule] = ...
    """Rules holds all the PolicyRules for this Role

    JSON: `rules`. Default: absent."""


class RoleBinding(Object):
    """RoleBinding references a role, but does not contain it.  It can reference a Role in the same namespace or a ClusterRole in the global namespace. It adds who information via Subjects and namespace information by which namespace it exists in.  RoleBindings in a given namespace only have effect in that namespace."""
    role_ref: RoleRef = ...
    """RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error. This field is immutable.

    JSON: `roleRef`. Required."""
    subjects: list[Subject] = ...
    """Subjects holds references to the objects the role applies to.

    JSON: `subjects`. Default: absent."""


class ClusterRoleBindingList(ObjectList[ClusterRoleBinding], item=ClusterRoleBinding):
    """A list of objects, as returned by one request."""


class ClusterRoleList(ObjectList[ClusterRole], item=ClusterRole):
    """A list of objects, as returned by one request."""


class RoleBindingList(ObjectList[RoleBinding], item=RoleBinding):
    """A list of objects, as returned by one request."""


class RoleList(ObjectList[Role], item=Role):
    """A list of objects, as returned by one request."""
