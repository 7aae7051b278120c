"""One class for every resource of the API: typed, dynamic, built-in and custom.

    pods = client.core_v1.pods("default")                                     ResourceClient[Pod]
    widgets = client.resource(Widget, namespace="default")                    ResourceClient[Widget]
    things = dynamic.resource("example.com/v1", "Thing").namespace("default") ResourceClient[Unstructured]

What reads is in `resource_reader.py`, patch and delete are in `resource_editor.py`, subresources in
`subresource_client.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, overload

from listwatch.api.options import (
    FieldValidation,
    LogSource,
    PropagationPolicy,
    delete_options,
    log_options,
    query,
)
from listwatch.api.patches import APPLY_PATCH, MERGE_PATCH, Patch, PatchType
from listwatch.client.resources.resource_editor import ResourceEditor
from listwatch.client.resources.subresource_client import SubresourceClient
from listwatch.client.rest.log_stream import LogStream
from listwatch.client.rest.request import Request
from listwatch.errors import RequestError
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

if TYPE_CHECKING:
    from listwatch.models.authentication_v1 import TokenRequest
    from listwatch.models.autoscaling_v1 import Scale

__all__ = ["ResourceClient"]

T = TypeVar("T", bound=Object)
S = TypeVar("S", bound=Object)


class ResourceClient(ResourceEditor[T]):
    """The objects of one resource, in one namespace or in all, and everything that can be done with them."""

    # --- whole objects -----------------------------------------------------------------------------------------------

    async def create(
        self,
        obj: T | Mapping[str, Any],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """A new object, as the server made it: in this client's namespace, or else in the object's own."""
        body = await self._body(obj)
        request = await self._collection("POST", namespace=self._place_of(body))
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return (await request.params(options).body(body).do()).into(self._kind)

    async def update(
        self,
        obj: T | Mapping[str, Any],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace an object; ConflictError if it was changed since this one was read."""
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return await self._replace(await self._body(obj), options)

    async def update_status(
        self,
        obj: T | Mapping[str, Any],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace the status of an object; the server leaves the rest of it as it is."""
        options = query(dry_run=dry_run, field_manager=field_manager, field_validation=field_validation)
        return await self._replace(await self._body(obj), options, "status")

    async def apply(
        self,
        obj: T | Mapping[str, Any],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
        subresource: str = "",
    ) -> T:
        """Have the server make these fields so, and no others; create the object if there is none.

        ConflictError if another manager wants one of them otherwise; `force` takes them over. Fields that this manager
        applied before and leaves out now are removed.
        """
        body = _applicable(await self._body(obj), field_manager)
        return await self.namespace(self._place_of(body)).patch(
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
        obj: T | Mapping[str, Any],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
    ) -> T:
        """The same for the status of an object."""
        return await self.apply(
            obj,
            field_manager=field_manager,
            force=force,
            dry_run=dry_run,
            field_validation=field_validation,
            subresource="status",
        )

    # --- below objects -----------------------------------------------------------------------------------------------

    @overload
    def subresource(self, name: str) -> SubresourceClient[Unstructured]: ...
    @overload
    def subresource(self, name: str, kind: type[S]) -> SubresourceClient[S]: ...
    def subresource(self, name: str, kind: type[Any] = Unstructured) -> SubresourceClient[Any]:
        """Any subresource, such as `ephemeralcontainers` or `proxy/metrics`, and the kind to read its answers as."""

        async def request(method: str, of: str) -> Request:
            return await self._request(method, of, *name.split("/"))

        return SubresourceClient(request, kind)

    async def get_scale(self, name: str) -> Scale:
        """How many replicas an object has and is to have."""
        return await self._scale.get(name)

    async def update_scale(self, name: str, scale: Scale, *, dry_run: bool = False, field_manager: str = "") -> Scale:
        """Replace how many replicas an object is to have."""
        return await self._scale.update(name, scale, dry_run=dry_run, field_manager=field_manager)

    async def patch_scale(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchType | str = MERGE_PATCH,
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Scale:
        """Change how many replicas an object is to have, as with {"spec": {"replicas": 3}}."""
        return await self._scale.patch(name, patch, type=type, dry_run=dry_run, field_manager=field_manager)

    async def logs(
        self,
        name: str,
        *,
        container: str = "",
        since: float | timedelta | datetime | None = None,
        tail: int | None = None,
        previous: bool = False,
        timestamps: bool = False,
        limit_bytes: int | None = None,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> str:
        """What a container of a pod has written so far; `since` is a time, or how long ago in seconds."""
        parameters = log_options(
            container=container,
            since=since,
            tail_lines=tail,
            previous=previous,
            timestamps=timestamps,
            limit_bytes=limit_bytes,
            stream=stream,
            insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
        )
        body = await self.subresource("log").stream(name, **parameters).read_all()
        return body.decode(errors="replace")

    def follow_logs(
        self,
        name: str,
        *,
        container: str = "",
        since: float | timedelta | datetime | None = None,
        tail: int | None = None,
        timestamps: bool = False,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> LogStream:
        """The same as lines, and then each line that is written, until the container ends."""
        parameters = log_options(
            follow=True,
            container=container,
            since=since,
            tail_lines=tail,
            timestamps=timestamps,
            stream=stream,
            insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
        )
        return LogStream(self.subresource("log").stream(name, **parameters))

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
        """Have a pod deleted as soon as its disruption budgets allow it; until then, TooManyRequestsError."""
        options = delete_options(
            grace_period_seconds=grace_period_seconds,
            propagation_policy=propagation_policy,
            uid=uid,
            resource_version=resource_version,
            dry_run=dry_run,
            ignore_store_read_error=False,
        )
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": self._named(name), "deleteOptions": options}
        # Retried by the server's own word it could wait for longer than anybody wants; whoever evicts decides.
        await (await self._request("POST", name, "eviction")).body(_given(body)).max_retries(0).do()

    async def bind(self, name: str, node: str, *, dry_run: bool = False) -> None:
        """Put a pod on a node, as a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": self._named(name), "target": target}
        await (await self._request("POST", name, "binding")).params(query(dry_run=dry_run)).body(body).do()

    async def create_token(
        self,
        name: str,
        *,
        audiences: Sequence[str] = (),
        expiration_seconds: int | None = None,
        bound_to: Object | None = None,
    ) -> TokenRequest:
        """A token of a service account: `.status.token`. Bound to a pod, secret or node, it ends with that."""
        from listwatch.models.authentication_v1 import BoundObjectReference, TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(audiences=[*audiences], expiration_seconds=expiration_seconds)
        if bound_to is not None:
            spec.bound_object_ref = BoundObjectReference(
                api_version=bound_to.api_version, kind=bound_to.kind, name=bound_to.name, uid=bound_to.uid
            )
        return await self.subresource("token", TokenRequest).create(name, TokenRequest(spec=spec))

    # --- inside ------------------------------------------------------------------------------------------------------

    @property
    def _scale(self) -> SubresourceClient[Scale]:
        from listwatch.models.autoscaling_v1 import Scale

        return self.subresource("scale", Scale)

    async def _body(self, obj: T | Mapping[str, Any]) -> Object:
        if isinstance(obj, Object):
            return obj
        if not isinstance(obj, Mapping):
            raise RequestError(f"a {type(obj).__name__} is no object: give a {self._kind.__name__} or a dict")
        # A dict need not say what it is: that is known here.
        resource = await self._located()
        return self._kind.from_dict({"apiVersion": resource.api_version, "kind": resource.kind, **obj})

    async def _replace(self, body: Object, options: Mapping[str, Any], *subresource: str) -> T:
        if not body.name:
            raise RequestError(f"a {body.kind} to update needs a name")
        request = await self._request("PUT", body.name, *subresource, namespace=self._place_of(body))
        return (await request.params(options).body(body).do()).into(self._kind)

    def _place_of(self, body: Object) -> str:
        return self._namespace or body.namespace

    def _named(self, name: str) -> dict[str, str]:
        return {"name": name, "namespace": self._namespace}


def _applicable(body: Object, field_manager: str) -> Object:
    if not field_manager:
        raise RequestError(f"{body.describe()} is applied by somebody: give a field_manager")
    if not body.name:
        raise RequestError(f"a {body.kind} to apply needs a name")
    if body.metadata.managed_fields:
        why = "apply only the fields that you want to be so, not an object that came from the server"
        raise RequestError(f"{body.describe()} has managedFields and cannot be applied: {why}")
    return body


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}
