"""The webhooks of a program: functions that review, change and convert objects.

    hooks = Webhooks("fleets", service="fleets/operator")

    @hooks.validate(Fleet)
    def fixed_region(fleet: Fleet, request: AdmissionRequest[Fleet]) -> None:
        if request.old is not None and request.old.spec.region != fleet.spec.region:
            raise DeniedError("spec.region cannot be changed")

    manager.add_webhooks(hooks)

`http_server.py` serves them, and `configuration.py` makes the objects with which the API server calls them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, Unpack, overload
from urllib.parse import urlsplit

from listwatch.errors import UsageError
from listwatch.meta import GroupKind
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.webhooks.admission_request import AdmissionRequest
from listwatch.webhooks.certificates.certificate_files import CertificateFiles
from listwatch.webhooks.certificates.managed_certificates import ManagedCertificates
from listwatch.webhooks.configuration import Configuration, Endpoint, configurations, conversion
from listwatch.webhooks.conversions import Conversions
from listwatch.webhooks.hooks import AdmissionHook, FunctionForm, HookKeywords, HookOptions, MutationKeywords

if TYPE_CHECKING:
    from listwatch.models.apiextensions_v1 import CustomResourceDefinition

__all__ = ["Webhooks"]

T = TypeVar("T", bound=Object)
R = TypeVar("R")
S = TypeVar("S", bound=CustomResource)
U = TypeVar("U", bound=CustomResource)

_DEFAULT_PORT = 9443
_SERVICE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[0-9]{1,5})?")
_MAX_REQUESTS = 100
_MAX_BODY = 7 * 1024 * 1024
"""Enough for an object, its stored state, and the rest of a review; etcd accepts objects of 1.5 MiB."""


class Webhooks:
    """The webhooks of a program; `Manager.add_webhooks` serves them. `name` is that of the configuration objects.

    The API server calls them through `service`, "namespace/name" of a Service, or at `url`. Without either it calls
    `host` and `port`, for development and tests. With port 0, a free port is selected.

    By default, certificates are created and rotated: ManagedCertificates. The configuration objects are applied to the
    cluster, and `spec.conversion` of CustomResourceDefinitions is set. With `register=False`, only the authorities of
    the certificates are written into existing ones, which `listwatch generate webhooks` prints.

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
        certificates: CertificateFiles | ManagedCertificates | None = None,
        register: bool = True,
        max_requests: int = _MAX_REQUESTS,
        max_body: int = _MAX_BODY,
    ) -> None:
        if service and url:
            raise UsageError("pass service= or url=, not both")
        if service and not _SERVICE.fullmatch(service):
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
        self._certificates = certificates or ManagedCertificates()
        self._registers = register
        self._max_requests = max_requests
        self._max_body = max_body
        self._admission: dict[str, AdmissionHook] = {}
        self._conversions = Conversions()

    def __repr__(self) -> str:
        converted = [f"conversion of {kind}" for kind in self._conversions.kinds()]
        return f"<Webhooks {self.name}: {', '.join([*self._admission, *converted]) or 'none'}>"

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

        Its changes are sent as a JSON patch; fields that the class does not declare are not changed. It may raise
        DeniedError. With `reinvoke`, it is called again if a later webhook has changed the object. The other options
        are those of `validate`.
        """
        return HookDecorator(self._admission, "mutate", kind, HookOptions(**options), name=name, resource=resource)

    def convert(self, source: type[S], target: type[U]) -> ConversionDecorator[S, U]:
        """Convert objects from one version of a custom resource to another with a function of `(object)`.

        Two functions for each version, to and from one version, the hub, are enough: other conversions take two
        steps. Metadata is kept; a function may set labels and annotations. DeniedError is for an object that cannot be
        converted.
        """
        return ConversionDecorator(self._conversions, source, target)

    # --- configuration -----------------------------------------------------------------------------------------------

    def configurations(self, *, ca_bundle: bytes = b"") -> list[Configuration]:
        """Return the configurations of the admission webhooks; `ca_bundle` has the authorities to trust, in PEM."""
        return configurations(self.name, self._admission.values(), self._endpoint(self._port), ca_bundle)

    def with_conversion(
        self, definition: CustomResourceDefinition, *, ca_bundle: bytes = b""
    ) -> CustomResourceDefinition:
        """Return a definition that lets these webhooks convert its versions; unchanged if none does."""
        kind = GroupKind(definition.spec.group, definition.spec.names.kind)
        if kind not in self._conversions.kinds():
            return definition
        self._conversions.check()
        tree = definition.to_dict()
        tree["spec"]["conversion"] = conversion(self._endpoint(self._port), ca_bundle)
        return type(definition).from_dict(tree)

    def _endpoint(self, port: int) -> Endpoint:
        if self._service or self._url:
            return Endpoint(self._service, self._url)
        if not port:
            raise UsageError("the port is selected when the manager runs: pass service=, url= or port=")
        host = f"[{self._host}]" if ":" in self._host else self._host
        return Endpoint(url=f"https://{host}:{port}")

    @property
    def _hosts(self) -> list[str]:
        """The names under which API servers call the webhooks."""
        if self._service:
            namespace, _, name = self._service.partition(":")[0].partition("/")
            return [f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local"]
        return [urlsplit(self._url).hostname or ""] if self._url else [self._host]


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


class ConversionDecorator(Generic[S, U]):
    """Declares the function that it decorates as a conversion, and returns the function."""

    def __init__(self, conversions: Conversions, source: type[S], target: type[U]) -> None:
        self._conversions = conversions
        self._source = source
        self._target = target

    @overload
    def __call__(self, function: Callable[[S], Awaitable[U]]) -> Callable[[S], Awaitable[U]]: ...
    @overload
    def __call__(self, function: Callable[[S], U]) -> Callable[[S], U]: ...
    def __call__(self, function: Callable[[S], object]) -> Callable[[S], object]:
        form = FunctionForm.of(function, at_most=1, expected="a function of one object")
        self._conversions.add(self._source, self._target, form)
        return function
