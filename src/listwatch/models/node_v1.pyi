"""The kinds and types of `node.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import core_v1
from listwatch.objects.declarations.model import Model, Quantity
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class Overhead(Model):
    """Overhead structure represents the resource overhead associated with running a pod."""
    pod_fixed: dict[str, Quantity] = {}
    """podFixed represents the fixed resource overhead associated with running a pod.

    JSON: `podFixed`. Default: absent."""


class Scheduling(Model):
    """Scheduling specifies the scheduling constraints for nodes supporting a RuntimeClass."""
    node_selector: dict[str, str] = {}
    """nodeSelector lists labels that must be present on nodes that support this RuntimeClass. Pods using this RuntimeClass can only be scheduled to a node matched by this selector. The RuntimeClass nodeSelector is merged with a pod's existing nodeSelector. Any conflicts will cause the pod to be rejected in admission.

    JSON: `nodeSelector`. Default: absent."""
    tolerations: list[core_v1.Toleration] = []
    """tolerations are appended (excluding duplicates) to pods running with this RuntimeClass during admission, effectively unioning the set of nodes tolerated by the pod and the RuntimeClass.

    JSON: `tolerations`. Default: absent."""


class RuntimeClass(Object):
    """RuntimeClass defines a class of container runtime supported in the cluster. The RuntimeClass is used to determine which container runtime is used to run all containers in a pod. RuntimeClasses are manually defined by a user or cluster provisioner, and referenced in the PodSpec. The Kubelet is responsible for resolving the RuntimeClassName reference before running the pod.  For more details, see https://kubernetes.io/docs/concepts/containers/runtime-class/"""
    handler: str = ...
    """handler specifies the underlying runtime and configuration that the CRI implementation will use to handle pods of this class. The possible values are specific to the node & CRI configuration.  It is assumed that all handlers are available on every node, and handlers of the same name are equivalent on every node. For example, a handler called "runc" might specify that the runc OCI runtime (using native Linux containers) will be used to run the containers in a pod. The Handler must be lowercase, conform to the DNS Label (RFC 1123) requirements, and is immutable.

    JSON: `handler`. Required."""
    overhead: Overhead | None = ...
    """overhead represents the resource overhead associated with running a pod for a given RuntimeClass. For more details, see
     https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/

    JSON: `overhead`. Default: absent."""
    scheduling: Scheduling | None = ...
    """scheduling holds the scheduling constraints to ensure that pods running with this RuntimeClass are scheduled to nodes that support it. If scheduling is nil, this RuntimeClass is assumed to be supported by all nodes.

    JSON: `scheduling`. Default: absent."""


class RuntimeClassList(ObjectList[RuntimeClass], item=RuntimeClass):
    """A list of objects, as returned by one request."""
