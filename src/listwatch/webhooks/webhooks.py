"""The webhooks of a program: functions that review, change and convert objects.

    hooks = Webhooks("fleets", service="fleets/operator")

    @hooks.validate(Fleet)
    def fixed_region(fleet: Fleet, request: AdmissionRequest[Fleet]) -> None:
        if request.old is not None and request.old.spec.region != fleet.spec.region:
            raise DeniedError("spec.region cannot be changed")

    manager.add_webhooks(hooks)

`http_server.py` serves them, `configuration.py` makes the objects that make the API server call them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Literal, TypeVar, Unpack, overload

from listwatch.errors import UsageError
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.webhooks.admission_request import AdmissionRequest
from listwatch.webhooks.certificates.certificate_files import CertificateFiles
from listwatch.webhooks.hooks import AdmissionHook, HookKeywords, HookOptions, MutationKeywords

__all__ = ["Webhooks"]

T = TypeVar("T", bound=Object)
R = TypeVar("R")

_DEFAULT_PORT = 9443
_MAX_REQUESTS = 100
_MAX_BODY = 7 * 1024 * 1024
"""An object, its stored state, and the rest of a review; etcd stores objects of 1.5 MiB."""


class Webhooks:
    """The webhooks of a program; `Manager.add_webhooks` serves them. `name` is that of the configuration objects.

    The API server calls them through `service`, "namespace/name" of a Service, or at `url`. Without either it calls
    `host` and `port`, which is for development and tests. With port 0, a free port is selected.

    Plain functions run in threads, async ones in the event loop. `max_requests` is the number of reviews at a time, and
    `max_body` the number of bytes of one: further and larger ones are rejected.
    """

    def __init__(
        self,
        name: str,
        *,
        service: str = "",
        url: str = "",
        host: str = "",
        port: int = _DEFAULT_PORT,
        certificates: CertificateFiles,
        max_requests: int = _MAX_REQUESTS,
        max_body: int = _MAX_BODY,
    ) -> None:
        if service and url:
            raise UsageError("pass service= or url=, not both")
        if service and (service.count("/") != 1 or not all(service.split("/"))):
            raise UsageError(
                f"service={service!r}: expected the namespace and name of a Service, as in 'fleets/operator'"
            )
        if url and not url.startswith("https://"):
            raise UsageError(f"url={url!r}: API servers call webhooks over HTTPS only")
        if type(port) is not int or not 0 <= port <= 65535:
            raise UsageError(f"port={port!r}: expected a port from 0 to 65535; 0 selects a free port")
        self.name = name
        self._service = service
        self._url = url.rstrip("/")
        self._host = host or ("0.0.0.0" if service or url else "127.0.0.1")
        self._port = port
        self._certificates = certificates
        self._max_requests = max_requests
        self._max_body = max_body
        self._admission: dict[str, AdmissionHook] = {}

    def __repr__(self) -> str:
        return f"<Webhooks {self.name}: {', '.join(self._admission) or 'none'}>"

    @overload
    def validate(
        self, kind: type[T], *, name: str = ..., resource: str = ..., **options: Unpack[HookKeywords]
    ) -> HookDecorator[T]: ...
    @overload
    def validate(
        self, kind: str, *, name: str = ..., **options: Unpack[HookKeywords]
    ) -> HookDecorator[Unstructured]: ...
    def validate(
        self, kind: type[Object] | str, *, name: str = "", resource: str = "", **options: Unpack[HookKeywords]
    ) -> HookDecorator[T] | HookDecorator[Unstructured]:
        """Review requests with a function of `(object)` or `(object, request)`, which raises DeniedError to reject one.

        `kind` is a class, or a resource such as "pods/exec", whose objects are Unstructured. With a class, `resource`
        names another resource with objects of that class. `name` is that of the webhook in the configuration, by
        default made of those of the function and the resource.

        `operations` are CREATE and UPDATE by default. `namespace_selector` and `object_selector`, LabelSelectors as in
        the API, and `match_conditions`, CEL expressions by name, select requests further. If the function fails, takes
        longer than `timeout`, or cannot be called, `failure_policy` decides: "Fail" or "Ignore".
        """
        return HookDecorator(self._admission, "validate", kind, HookOptions(**options), name=name, resource=resource)

    @overload
    def mutate(
        self, kind: type[T], *, name: str = ..., resource: str = ..., **options: Unpack[MutationKeywords]
    ) -> HookDecorator[T]: ...
    @overload
    def mutate(
        self, kind: str, *, name: str = ..., **options: Unpack[MutationKeywords]
    ) -> HookDecorator[Unstructured]: ...
    def mutate(
        self, kind: type[Object] | str, *, name: str = "", resource: str = "", **options: Unpack[MutationKeywords]
    ) -> HookDecorator[T] | HookDecorator[Unstructured]:
        """Change objects with a function of `(object)` or `(object, request)`, which may also return another object.

        What it changed is sent as a JSON patch; fields that the class does not know stay as they are. It may raise
        DeniedError. With `reinvoke`, it is called again if a later webhook has changed the object. The other options
        are those of `validate`.
        """
        return HookDecorator(self._admission, "mutate", kind, HookOptions(**options), name=name, resource=resource)


class HookDecorator(Generic[T]):
    """Declares the function that it decorates as a webhook, and returns the function."""

    def __init__(
        self,
        hooks: dict[str, AdmissionHook],
        action: Literal["mutate", "validate"],
        kind: type[Object] | str,
        options: HookOptions,
        *,
        name: str,
        resource: str,
    ) -> None:
        self._hooks = hooks
        self._action: Literal["mutate", "validate"] = action
        self._kind = kind
        self._options = options
        self._name = name
        self._resource = resource

    @overload
    def __call__(self, function: Callable[[T], R]) -> Callable[[T], R]: ...
    @overload
    def __call__(self, function: Callable[[T, AdmissionRequest[T]], R]) -> Callable[[T, AdmissionRequest[T]], R]: ...
    def __call__(self, function: Callable[..., R]) -> Callable[..., R]:
        hook = AdmissionHook.of(
            self._action, self._kind, function, self._options, name=self._name, resource=self._resource
        )
        if hook.name in self._hooks:
            raise UsageError(f"there is already a webhook {hook.name}: pass this one another name=")
        self._hooks[hook.name] = hook
        return function
