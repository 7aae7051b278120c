"""The client of one resource: typed or dynamic, built-in or custom.

    pods = client.core_v1.pods("default")                                     ResourceClient[Pod]
    widgets = client.resource(Widget, namespace="default")                    ResourceClient[Widget]
    things = dynamic.resource("example.com/v1", "Thing").namespace("default") ResourceClient[Unstructured]

`base_resource_client.py` has get, list, watch, patch and delete, `container_client.py` logs, commands and ports;
`subresource_client.py` has other subresources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from listwatch.api.options import (
    FieldValidation,
    PropagationPolicy,
    QueryValue,
    delete_options,
    query_parameters,
)
from listwatch.api.patches import APPLY_PATCH, MERGE_PATCH, Patch, PatchTypeLike
from listwatch.client.resources.container_client import ContainerClient
from listwatch.client.resources.subresource_client import SubresourceClient
from listwatch.client.rest.request import Request
from listwatch.errors import RequestError
from listwatch.json_value import JSON
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

if TYPE_CHECKING:
    from listwatch.models.authentication_v1 import TokenRequest
    from listwatch.models.autoscaling_v1 import Scale

__all__ = ["ResourceClient"]

T = TypeVar("T", bound=Object)
S = TypeVar("S", bound=Object)


class ResourceClient(ContainerClient[T]):
    """The objects of one resource, in one namespace or in all, and their subresources."""

    # --- whole objects -----------------------------------------------------------------------------------------------

    async def create(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Create an object in the namespace of this client, or else in that of the object. Return it as stored."""
        body = await self._body(obj)
        request = await self._collection_request("POST", namespace=self._namespace_of(body))
        options = query_parameters(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return (await request.params(options).body(body).do()).into(self._kind)

    async def update(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace an object; ConflictError if it has changed since this version was read."""
        options = query_parameters(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return await self._replace(await self._body(obj), options)

    async def update_status(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace the status of an object; the server ignores changes to the rest of it."""
        options = query_parameters(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return await self._replace(await self._body(obj), options, "status")

    async def apply(
        self,
        obj: T | Mapping[str, object],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
        subresource: str = "",
    ) -> T:
        """Apply the fields of the object server-side; create the object if it does not exist.

        ConflictError if another manager owns one of the fields with another value; `force` takes the ownership. Fields
        that this manager applied before and omits now are removed.
        """
        body = _check_apply(await self._body(obj), field_manager)
        return await self.namespace(self._namespace_of(body)).patch(
            body.name,
            body,
            type=APPLY_PATCH,
            subresource=subresource,
            field_manager=field_manager,
            force=force,
            dry_run=dry_run,
            field_validation=field_validation,
        )

    async def apply_status(
        self,
        obj: T | Mapping[str, object],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
    ) -> T:
        """Apply the status of an object server-side."""
        return await self.apply(
            obj,
            field_manager=field_manager,
            force=force,
            dry_run=dry_run,
            field_validation=field_validation,
            subresource="status",
        )

    # --- subresources ------------------------------------------------------------------------------------------------

    @overload
    def subresource(self, name: str) -> SubresourceClient[Unstructured]: ...
    @overload
    def subresource(self, name: str, kind: type[S]) -> SubresourceClient[S]: ...
    def subresource(self, name: str, kind: type[Any] = Unstructured) -> SubresourceClient[Any]:
        """Return a client for a subresource, such as `ephemeralcontainers` or `proxy/metrics`.

        Its responses are decoded as `kind`.
        """

        async def request(method: str, object_name: str) -> Request:
            return await self._request(method, object_name, *name.split("/"))

        return SubresourceClient(request, kind)

    async def get_scale(self, name: str) -> Scale:
        """Get the current and the desired number of replicas."""
        return await self._scale.get(name)

    async def update_scale(self, name: str, scale: Scale, *, dry_run: bool = False, field_manager: str = "") -> Scale:
        """Replace the desired number of replicas."""
        return await self._scale.update(name, scale, dry_run=dry_run, field_manager=field_manager)

    async def patch_scale(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchTypeLike = MERGE_PATCH,
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Scale:
        """Change the desired number of replicas, as with {"spec": {"replicas": 3}}."""
        return await self._scale.patch(name, patch, type=type, dry_run=dry_run, field_manager=field_manager)

    async def evict(
        self,
        name: str,
        *,
        grace_period_seconds: int | None = None,
        propagation_policy: PropagationPolicy = "",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> None:
        """Evict a pod; TooManyRequestsError if a disruption budget does not allow it now.

        `uid` and `resource_version` are preconditions.
        """
        options = delete_options(
            grace_period_seconds=grace_period_seconds,
            propagation_policy=propagation_policy,
            uid=uid,
            resource_version=resource_version,
            dry_run=dry_run,
        )
        body: dict[str, JSON] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": self._metadata(name)}
        if options is not None:
            body["deleteOptions"] = options
        # Not retried: waiting for Retry-After could take minutes, so the caller decides when to retry.
        await (await self._request("POST", name, "eviction")).body(body).max_retries(0).do()

    async def bind(self, name: str, node: str, *, dry_run: bool = False) -> None:
        """Bind a pod to a node, as a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": self._metadata(name), "target": target}
        await (await self._request("POST", name, "binding")).params(query_parameters(dry_run=dry_run)).body(body).do()

    async def create_token(
        self,
        name: str,
        *,
        audiences: Sequence[str] = (),
        expiration_seconds: int | None = None,
        bound_object_ref: Object | None = None,
    ) -> TokenRequest:
        """Request a token of a service account: `.status.token`.

        `bound_object_ref` is a pod, secret or node; the token becomes invalid when that object is deleted.
        """
        from listwatch.models.authentication_v1 import BoundObjectReference, TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(audiences=[*audiences], expiration_seconds=expiration_seconds)
        if (bound := bound_object_ref) is not None:
            spec.bound_object_ref = BoundObjectReference(
                api_version=bound.api_version, kind=bound.kind, name=bound.name, uid=bound.uid
            )
        return await self.subresource("token", TokenRequest).create(name, TokenRequest(spec=spec))

    # --- bodies ------------------------------------------------------------------------------------------------------

    @property
    def _scale(self) -> SubresourceClient[Scale]:
        from listwatch.models.autoscaling_v1 import Scale

        return self.subresource("scale", Scale)

    async def _body(self, obj: T | Mapping[str, object]) -> Object:
        if isinstance(obj, Object):
            return obj
        if not isinstance(obj, Mapping):
            raise RequestError(f"{self._name}: expected a {self._kind.__name__} or a dict, not a {type(obj).__name__}")
        # A dict may omit apiVersion and kind, which this client knows.
        resource = await self._find_resource()
        return self._kind.from_dict({"apiVersion": resource.api_version, "kind": resource.kind, **obj})

    async def _replace(self, body: Object, options: Mapping[str, QueryValue], *subresource: str) -> T:
        if not body.name:
            raise RequestError(f"the {body.kind} to update has no name; set metadata.name")
        request = await self._request("PUT", body.name, *subresource, namespace=self._namespace_of(body))
        return (await request.params(options).body(body).do()).into(self._kind)

    def _namespace_of(self, body: Object) -> str:
        return self._namespace or body.namespace

    def _metadata(self, name: str) -> dict[str, JSON]:
        return {"name": name, "namespace": self._namespace}


def _check_apply(body: Object, field_manager: str) -> Object:
    if not field_manager:
        raise RequestError(f"{body.describe()} cannot be applied: `field_manager` is empty; name the applying program")
    if not body.name:
        raise RequestError(f"the {body.kind} to apply has no name; set metadata.name")
    if body.metadata.managed_fields:
        advice = "apply only the fields that you manage, not an object read from the server"
        raise RequestError(f"{body.describe()} cannot be applied: it has managedFields; {advice}")
    return body
