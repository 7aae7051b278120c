"""The controller of EndpointSlices and Endpoints: the addresses of the pods that a Service selects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import Endpoints, Node, Pod, Service, ServicePort
from listwatch.models.discovery_v1 import EndpointSlice
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, is_ready

__all__ = ["MANAGED_BY", "SERVICE_NAME", "ServiceEndpoints", "service_index", "slices_by_service"]

_MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
"""The label of slices with the name of their Service."""
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"

service_index = "service"
"""The name of the index of slices by the namespace and name of their Service."""

_PER_SLICE = 100
_PER_ENDPOINTS = 1000
_LARGE, _PAUSE_PER_POD = 200, 0.001


class ServiceEndpoints:
    """Reconciles the EndpointSlices and the Endpoints of each Service with a selector."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[ObjectKey, float] = {}
        self.controller: Controller[Service] = Controller(
            self,
            for_=Service,
            watches=[
                Watch(Pod, keys=self._services_of, when=_may_matter),
                Watch(EndpointSlice, keys=_service_of, indexers={service_index: slices_by_service}),
                Watch(Endpoints, keys=lambda item: ObjectKey(item.namespace, item.name)),
                Watch(Node, keys=lambda _: None),
            ],
            name="endpointslice-controller",
            clock=clock,
        )

    def _services_of(self, pod: Pod) -> Iterator[Service]:
        for each in self.controller.lister(Service).namespace(pod.namespace).list():
            if each.spec.selector and each.spec.selector.items() <= pod.labels.items():
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Service]) -> float | None:
        service = context.get()
        if service is None:
            await self._remove(key, context)
            return None
        if not service.spec.selector or service.spec.type == "ExternalName":
            return None
        wanted = service.spec.selector.items()
        pods = [
            pod
            for pod in context.lister(Pod).namespace(service.namespace).list()
            if wanted <= pod.labels.items() and pod.status.pod_ip and not is_finished(pod)
        ]
        now = self._clock.monotonic()
        left = self._last.get(key, -1e9) + len(pods) * _PAUSE_PER_POD - now
        if len(pods) > _LARGE and left > 0:
            return left  # many pods change: the next reconcile sees all of them
        self._last[key] = now
        pods.sort(key=lambda pod: (str(pod.metadata.creation_timestamp), pod.name))
        await self._write_slices(service, pods, context)
        await self._write_endpoints(service, pods, context)
        return None

    # --- EndpointSlices ----------------------------------------------------------------------------------------------

    async def _write_slices(self, service: Service, pods: Sequence[Pod], context: ReconcileContext[Service]) -> None:
        client = context.client.discovery_v1.endpointslices(service.namespace)
        present = [
            each
            for each in context.indexer(EndpointSlice).by_index(service_index, f"{service.namespace}/{service.name}")
            if each.labels.get(MANAGED_BY) == _MANAGER
        ]
        groups = _grouped(service, pods)
        bodies: list[JSONObject] = []
        for ports, members in groups:
            for start in range(0, max(1, len(members)), _PER_SLICE):
                chunk = members[start : start + _PER_SLICE]
                bodies.append(self._slice(service, ports, chunk, context))
        for old, body in zip(present, bodies, strict=False):
            tree = old.to_dict()
            if tree.get("endpoints") == body["endpoints"] and (tree.get("ports") or []) == (body["ports"] or []):
                continue
            change: JSONObject = {"endpoints": body["endpoints"], "ports": body["ports"]}
            await client.patch(old.name, change, type="merge")
        for body in bodies[len(present) :]:
            await client.create(body)
        for old in present[len(bodies) :]:
            try:
                await client.delete(old.name, uid=old.uid)
            except NotFoundError:
                continue

    def _slice(
        self, service: Service, ports: list[JSON], pods: Sequence[Pod], context: ReconcileContext[Service]
    ) -> JSONObject:
        labels: JSONObject = {
            **service.labels,
            SERVICE_NAME: service.name,
            MANAGED_BY: _MANAGER,
        }
        if _is_headless(service):
            labels["service.kubernetes.io/headless"] = ""
        nodes = context.indexer(Node)
        endpoints: list[JSON] = []
        for pod in pods:
            ready, terminating = is_ready(pod), pod.metadata.deletion_timestamp is not None
            endpoint: JSONObject = {
                "addresses": [pod.status.pod_ip],
                "conditions": {
                    "ready": (ready or bool(service.spec.publish_not_ready_addresses)) and not terminating,
                    "serving": ready,
                    "terminating": terminating,
                },
                "targetRef": _reference(pod),
                "nodeName": pod.spec.node_name,
            }
            node = nodes.get(pod.spec.node_name or "")
            if node is not None and (zone := node.labels.get("topology.kubernetes.io/zone")):
                endpoint["zone"] = zone
            if pod.spec.hostname and pod.spec.subdomain == service.name:
                endpoint["hostname"] = pod.spec.hostname
            endpoints.append(endpoint)
        return {
            "metadata": {
                "generateName": f"{service.name}-",
                "labels": labels,
                "ownerReferences": [owner_reference(service).to_dict()],
            },
            "addressType": (service.spec.ip_families or ["IPv4"])[0],
            "endpoints": endpoints,
            "ports": ports,
        }

    # --- Endpoints ---------------------------------------------------------------------------------------------------

    async def _write_endpoints(self, service: Service, pods: Sequence[Pod], context: ReconcileContext[Service]) -> None:
        client = context.client.core_v1.endpoints(service.namespace)
        subsets: list[JSON] = []
        for ports, members in _grouped(service, [p for p in pods if p.metadata.deletion_timestamp is None]):
            if members:
                subsets.append(_subset(service, ports, members[:_PER_ENDPOINTS]))
        labels: JSONObject = {**service.labels, "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
        if _is_headless(service):
            labels["service.kubernetes.io/headless"] = ""
        present = context.indexer(Endpoints).get(ObjectKey(service.namespace, service.name))
        try:
            if present is None:
                await client.create({"metadata": {"name": service.name, "labels": labels}, "subsets": subsets})
            elif (present.to_dict().get("subsets") or []) != subsets:
                change: JSONObject = {"metadata": {"labels": labels}, "subsets": subsets or None}
                await client.patch(service.name, change, type="merge")
        except (AlreadyExistsError, NotFoundError, ConflictError):
            return  # its change is not in the cache yet, and leads here again

    async def _remove(self, key: ObjectKey, context: ReconcileContext[Service]) -> None:
        self._last.pop(key, None)
        present = context.indexer(Endpoints).get(key)
        if present is None or present.labels.get("endpoints.kubernetes.io/managed-by") != "endpoint-controller":
            return
        try:
            await context.client.core_v1.endpoints(key.namespace).delete(key.name, uid=present.uid)
        except (NotFoundError, ConflictError):
            return


def _grouped(service: Service, pods: Sequence[Pod]) -> list[tuple[list[JSON], list[Pod]]]:
    """The pods by their ports: a port by name may have another number in each pod."""
    groups: dict[str, tuple[list[JSON], list[Pod]]] = {}
    for pod in pods:
        ports: list[JSON] = [port for port in (_port(each, pod) for each in service.spec.ports) if port is not None]
        groups.setdefault(repr(ports), (ports, []))[1].append(pod)
    if not groups:
        return [([], [])]
    return [*groups.values()]


def _port(port: ServicePort, pod: Pod) -> JSON:
    target: int | str | None = port.target_port or port.port
    if isinstance(target, str):
        target = next(
            (
                each.container_port
                for container in pod.spec.containers
                for each in container.ports
                if each.name == target and (each.protocol or "TCP") == (port.protocol or "TCP")
            ),
            None,
        )
    if target is None:
        return None
    found: JSONObject = {"name": port.name or "", "port": target, "protocol": port.protocol or "TCP"}
    if port.app_protocol:
        found["appProtocol"] = port.app_protocol
    return found


def _subset(service: Service, ports: list[JSON], pods: Sequence[Pod]) -> JSONObject:
    ready: list[JSON] = []
    unready: list[JSON] = []
    for pod in sorted(pods, key=lambda pod: pod.uid):
        address: JSONObject = {"ip": pod.status.pod_ip, "nodeName": pod.spec.node_name, "targetRef": _reference(pod)}
        if pod.spec.hostname and pod.spec.subdomain == service.name:
            address["hostname"] = pod.spec.hostname
        is_listed = is_ready(pod) or service.spec.publish_not_ready_addresses
        (ready if is_listed else unready).append(address)
    named: list[JSON] = [
        {name: value for name, value in port.items() if value != ""} for port in ports if isinstance(port, dict)
    ]
    subset: JSONObject = {"addresses": ready, "notReadyAddresses": unready, "ports": named}
    return {name: value for name, value in subset.items() if value}


def _reference(pod: Pod) -> JSONObject:
    return {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}


def _is_headless(service: Service) -> bool:
    return service.spec.cluster_ip == "None"


def slices_by_service(item: EndpointSlice) -> list[str]:
    name = item.labels.get(SERVICE_NAME)
    return [f"{item.namespace}/{name}"] if name else []


def _service_of(item: EndpointSlice) -> list[ObjectKey]:
    name = item.labels.get(SERVICE_NAME)
    return [ObjectKey(item.namespace, name)] if name else []


def _may_matter(old: Pod | None, new: Pod | None) -> bool:
    """Whether the addresses of a Service may change with a pod."""
    if old is None or new is None:
        return True
    return (
        old.status.pod_ip != new.status.pod_ip
        or is_ready(old) != is_ready(new)
        or old.labels != new.labels
        or is_finished(old) != is_finished(new)
        or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
    )
