"""Declarations of webhooks: functions, and the requests for which they are called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypedDict

from listwatch.errors import UsageError
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.declarations.definition_options import guess_plural, options_of
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.webhooks.admission_request import Operation

__all__ = ["AdmissionHook", "FunctionForm", "HookKeywords", "HookOptions", "MutationKeywords", "ResourceRule"]

FailurePolicy = Literal["Fail", "Ignore"]
"""What happens to requests when a webhook cannot be called."""
SideEffects = Literal["None", "NoneOnDryRun"]
Scope = Literal["*", "Cluster", "Namespaced"]

_OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}")


class FunctionForm(NamedTuple):
    """A function of a program, and how to call it."""

    function: Callable[..., object]
    name: str
    is_async: bool
    arguments: int

    @classmethod
    def of(cls, given: object, *, at_most: int, expected: str) -> FunctionForm:
        """Check a function before it is called; raises UsageError."""
        name = getattr(given, "__name__", type(given).__name__)
        if not callable(given) or isinstance(given, type):
            raise UsageError(f"{given!r} is not a function: expected {expected}")
        signature = inspect.signature(given)
        for count in range(at_most, 0, -1):
            try:
                signature.bind(*[None] * count)
            except TypeError:
                continue
            call = getattr(given, "__call__", None)  # noqa: B004  # an object whose calls are coroutines
            is_async = inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(call)
            return cls(given, name, is_async, count)
        raise UsageError(f"{name}{signature}: expected {expected}")


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """The resource of a webhook: its group, versions and plural, and the subresource if there is one."""

    group: str
    version: str
    resource: str
    subresource: str = ""

    @property
    def path(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @classmethod
    def of(cls, kind: type[Object], resource: str) -> ResourceRule:
        """Return the resource with this name, such as `pods/exec` or `deployments.apps`, or that of a class."""
        if resource:
            plural, _, subresource = resource.partition("/")
            plural, _, group = plural.partition(".")
            # A scale, for example, is of another group than the resource.
            version = kind.gvk.version if kind.gvk is not None and kind.gvk.group == group else "*"
            return cls(group, version, plural, subresource)
        if kind.resource is not None:
            return cls(kind.resource.group, kind.resource.version, kind.resource.plural)
        if kind.gvk is None or not issubclass(kind, CustomResource):
            raise UsageError(f"{kind.__name__} has no resource of its own: pass resource=, as in resource='pods/exec'")
        plural = options_of(kind).plural or guess_plural(kind.gvk.kind)
        return cls(kind.gvk.group, kind.gvk.version, plural)


class HookKeywords(TypedDict, total=False):
    """The options of a webhook; see `Webhooks.validate`."""

    operations: Collection[Operation]
    namespace_selector: Mapping[str, object]
    object_selector: Mapping[str, object]
    match_conditions: Mapping[str, str]
    scope: Scope
    failure_policy: FailurePolicy
    side_effects: SideEffects
    timeout: float


class MutationKeywords(HookKeywords, total=False):
    """The options of a webhook that changes objects; see `Webhooks.mutate`."""

    reinvoke: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """For which requests a webhook is called, and what happens if it cannot be called."""

    operations: Collection[Operation] = ("CREATE", "UPDATE")
    namespace_selector: Mapping[str, object] = field(default_factory=dict[str, object])
    object_selector: Mapping[str, object] = field(default_factory=dict[str, object])
    match_conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    scope: Scope = "*"
    failure_policy: FailurePolicy = "Fail"
    side_effects: SideEffects = "None"
    timeout: float = 10.0
    reinvoke: bool = False

    def __post_init__(self) -> None:
        unknown = [each for each in self.operations if each not in _OPERATIONS]
        if isinstance(self.operations, str) or unknown or not self.operations:
            raise UsageError(f"operations={self.operations!r}: expected a list of {', '.join(_OPERATIONS)}")
        if not 1 <= self.timeout <= 30:
            raise UsageError(f"timeout={self.timeout!r}: the API server waits between 1 and 30 seconds for a webhook")


@dataclass(frozen=True, slots=True)
class AdmissionHook:
    """A function that reviews requests."""

    action: Literal["mutate", "validate"]
    name: str
    """The name in the configuration, with three parts or more: `fixed-region.fleets.example.com`."""
    kind: type[Object]
    rule: ResourceRule
    form: FunctionForm
    options: HookOptions

    @property
    def path(self) -> str:
        return f"/{self.action}/{self.name}"

    @classmethod
    def of(
        cls,
        action: Literal["mutate", "validate"],
        kind: type[Object] | str,
        function: Callable[..., object],
        options: HookOptions,
        *,
        name: str,
        resource: str,
    ) -> AdmissionHook:
        """Check a declaration; raises UsageError."""
        form = FunctionForm.of(function, at_most=2, expected="a function of (object) or (object, request)")
        model: object = Unstructured if isinstance(kind, str) else kind
        if not (isinstance(model, type) and issubclass(model, Object)):
            raise UsageError(f"{form.name}: expected a class of objects, or a name such as 'pods/exec', not {kind!r}")
        rule = ResourceRule.of(model, kind if isinstance(kind, str) else resource)
        default = (
            f"{form.name.strip('_').replace('_', '-').lower()}.{rule.path.replace('/', '.')}.{rule.group or 'core'}"
        )
        found = name or default
        if not _NAME.fullmatch(found) or len(found) > 253:
            raise UsageError(
                f"{form.name}: {found!r} is not a name of a webhook: pass name= with three parts or more in lower case,"
                " as in name='fixed-region.fleets.example.com'"
            )
        return cls(action, found, model, rule, form, options)
