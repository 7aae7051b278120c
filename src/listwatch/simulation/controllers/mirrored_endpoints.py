"""The controller that copies Endpoints into EndpointSlices: those that users write for Services without selectors."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import EndpointAddress, Endpoints, EndpointSubset, Service
from listwatch.models.discovery_v1 import EndpointSlice
from listwatch.simulation.controllers.endpoints import MANAGED_BY, SERVICE_NAME, service_index, slices_by_service
from listwatch.simulation.options import SimulationOptions

__all__ = ["MirroredEndpoints"]

_MANAGER = "endpointslicemirroring-controller.k8s.io"
_SKIP = "endpointslice.kubernetes.io/skip-mirror"
_LEADER = "control-plane.alpha.kubernetes.io/leader"
_NOT_COPIED = ("endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration")
_PER_SUBSET = 1000
"""Further addresses of a subset are not copied."""
_PER_SLICE = 1000


class MirroredEndpoints:
    """Reconciles the EndpointSlices of Endpoints whose Service has no selector."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self.controller: Controller[Endpoints] = Controller(
            self,
            for_=Endpoints,
            watches=[
                Watch(Service, keys=lambda item: ObjectKey(item.namespace, item.name)),
                Watch(EndpointSlice, keys=_mirrored_key, indexers={service_index: slices_by_service}),
            ],
            name="endpointslice-mirroring-controller",
            clock=clock,
        )

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Endpoints]) -> None:
        endpoints, service = context.get(), context.indexer(Service).get(key)
        bodies: list[JSONObject] = []
        if endpoints is not None and service is not None and not service.spec.selector and _is_mirrored(endpoints):
            bodies = _slices(endpoints)
        present = [
            each
            for each in context.indexer(EndpointSlice).by_index(service_index, f"{key.namespace}/{key.name}")
            if each.labels.get(MANAGED_BY) == _MANAGER
        ]
        client = context.client.discovery_v1.endpointslices(key.namespace)
        for body in bodies:
            # The ports and the type of the addresses of a slice do not change.
            old = next((each for each in present if _has_place_for(each, body)), None)
            if old is None:
                await client.create(body)
                continue
            present.remove(old)
            if (change := _change(old, body)) is not None:
                try:
                    await client.patch(old.name, change, type="merge")
                except (NotFoundError, ConflictError):
                    continue  # its change leads here again
        for old in present:
            try:
                await client.delete(old.name, uid=old.uid)
            except (NotFoundError, ConflictError):
                continue


def _mirrored_key(item: EndpointSlice) -> ObjectKey | None:
    if item.labels.get(MANAGED_BY) != _MANAGER:
        return None
    return ObjectKey(item.namespace, item.labels.get(SERVICE_NAME, ""))


def _is_mirrored(endpoints: Endpoints) -> bool:
    return endpoints.labels.get(_SKIP) != "true" and _LEADER not in endpoints.metadata.annotations


def _slices(endpoints: Endpoints) -> list[JSONObject]:
    """The slices: one for each list of ports and each type of addresses, more if it would be too large."""
    metadata: JSONObject = {
        "generateName": f"{endpoints.name}-",
        "labels": {**endpoints.labels, SERVICE_NAME: endpoints.name, MANAGED_BY: _MANAGER},
        "ownerReferences": [owner_reference(endpoints).to_dict()],
    }
    annotations = endpoints.metadata.annotations
    if kept := {name: text for name, text in annotations.items() if name not in _NOT_COPIED}:
        metadata["annotations"] = {**kept}
    found: dict[str, tuple[JSONObject, list[JSON]]] = {}
    for subset in endpoints.subsets:
        ports = _ports(subset)
        addresses = [*((each, True) for each in subset.addresses), *((e, False) for e in subset.not_ready_addresses)]
        for address, ready in addresses[:_PER_SUBSET]:
            endpoint, type = _endpoint(address, ready=ready)
            body: JSONObject = {"metadata": metadata, "addressType": type, "ports": ports}
            found.setdefault(f"{type} {ports}", (body, []))[1].append(endpoint)
    return [
        {**body, "endpoints": members[start : start + _PER_SLICE]}
        for body, members in found.values()
        for start in range(0, len(members), _PER_SLICE)
    ]


def _ports(subset: EndpointSubset) -> list[JSON]:
    found: list[JSON] = []
    for port in subset.ports:
        each: JSONObject = {"name": port.name or "", "port": port.port, "protocol": port.protocol or "TCP"}
        if port.app_protocol:
            each["appProtocol"] = port.app_protocol
        found.append(each)
    return found


def _endpoint(address: EndpointAddress, *, ready: bool) -> tuple[JSONObject, str]:
    ip = ip_address(address.ip)
    endpoint: JSONObject = {"addresses": [str(ip)], "conditions": {"ready": ready}}
    if address.target_ref is not None:
        endpoint["targetRef"] = address.target_ref.to_dict()
    if address.node_name:
        endpoint["nodeName"] = address.node_name
    if address.hostname:
        endpoint["hostname"] = address.hostname
    return endpoint, "IPv6" if isinstance(ip, IPv6Address) else "IPv4"


def _has_place_for(old: EndpointSlice, body: JSONObject) -> bool:
    tree = old.to_dict()
    return (tree.get("addressType"), tree.get("ports") or []) == (body["addressType"], body["ports"])


def _change(old: EndpointSlice, body: JSONObject) -> JSONObject | None:
    """A merge patch, or None if the slice is up to date."""
    metadata = body["metadata"]
    assert isinstance(metadata, dict)
    change: JSONObject = {}
    for name, present in (("labels", dict(old.labels)), ("annotations", dict(old.metadata.annotations))):
        wanted = metadata.get(name)
        wanted = wanted if isinstance(wanted, dict) else {}
        if wanted != present:
            change[name] = {**dict.fromkeys(present), **wanted}
    if not change and (old.to_dict().get("endpoints") or []) == body["endpoints"]:
        return None
    return {"metadata": change, "endpoints": body["endpoints"]}
