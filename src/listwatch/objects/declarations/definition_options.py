"""What a CustomResourceDefinition needs beside the fields of a class: names, columns, subresources and rules.

    @lw.crd(short_names=["fl"], columns=[lw.Column("Ships", ".spec.ships")])
    class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
        spec: Annotated[FleetSpec, lw.rule("self.ships <= self.harbours")]

`listwatch.generate` makes definitions of classes. Programs that only use the classes do not need any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Never, TypeVar

from listwatch.json_value import JSON, JSONObject
from listwatch.objects.declarations.custom_resource import CustomResource

__all__ = ["Column", "DefinitionOptions", "Rule", "ScalePaths", "crd", "guess_plural", "options_of", "rule", "rules_of"]

_R = TypeVar("_R", bound=CustomResource)
_C = TypeVar("_C")

_OPTIONS = "__crd_options__"
_RULES = "__crd_rules__"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`. The type is that of the field at the path, unless it is given.

    A column with a priority greater than 0 is shown only by `-o wide`.
    """

    name: str
    path: str
    type: Literal["", "boolean", "date", "integer", "number", "string"] = ""
    description: str = ""
    priority: int = 0
    format: str = ""


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """The fields that the subresource `scale` reads and writes; `label_selector` is needed for autoscaling."""

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    label_selector: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A validation rule in CEL: in `Annotated` for a field, as a decorator for all values of a Model."""

    expression: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False

    def __call__(self, cls: type[_C]) -> type[_C]:
        """Check all values of a class."""
        setattr(cls, _RULES, (self, *vars(cls).get(_RULES, ())))
        return cls

    def to_dict(self) -> JSONObject:
        """Return the rule as an entry of x-kubernetes-validations."""
        tree: JSONObject = {
            "rule": self.expression,
            "message": self.message,
            "messageExpression": self.message_expression,
            "reason": self.reason,
            "fieldPath": self.field_path,
            "optionalOldSelf": self.optional_old_self,
        }
        return {name: value for name, value in tree.items() if value}


def rule(
    expression: str,
    *,
    message: str = "",
    message_expression: str = "",
    reason: str = "",
    field_path: str = "",
    optional_old_self: bool = False,
) -> Rule:
    """Declare a validation rule in CEL, which the API server checks: `Annotated[str, lw.rule("self == oldSelf")]`."""
    return Rule(expression, message, message_expression, reason, field_path, optional_old_self)


@dataclass(frozen=True, slots=True)
class DefinitionOptions:
    """The arguments of `crd`."""

    plural: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    scope: str = "Namespaced"
    columns: tuple[Column, ...] = ()
    status: bool = True
    scale: ScalePaths | None = None
    selectable_fields: tuple[str, ...] = ()
    served: bool = True
    storage: bool | None = None
    deprecated: bool | str = False
    annotations: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, JSON] = field(default_factory=dict)


def crd(
    *classes: Never,
    plural: str = "",
    singular: str = "",
    short_names: Iterable[str] = (),
    categories: Iterable[str] = (),
    scope: Literal["Namespaced", "Cluster"] = "Namespaced",
    columns: Iterable[Column] = (),
    status: bool = True,
    scale: ScalePaths | None = None,
    selectable_fields: Iterable[str] = (),
    served: bool = True,
    storage: bool | None = None,
    deprecated: bool | str = False,
    annotations: Mapping[str, str] | None = None,
    schema: Mapping[str, JSON] | None = None,
) -> Callable[[type[_R]], type[_R]]:
    """Set names, scope, columns and subresources of the CustomResourceDefinition of a class.

    `plural` is by default the lower-case kind with an s. A class with a field `status` has the subresource, except with
    `status=False`. Among several versions, one has `storage=True`. `deprecated` may be the warning of the server.
    `schema` has further keywords for the schema of the whole object.
    """
    if classes:
        raise TypeError("crd takes keyword arguments only: write @lw.crd(), or an option in the parentheses")
    for name, value in (("short_names", short_names), ("categories", categories), ("columns", columns)):
        if isinstance(value, str | Column):
            raise TypeError(f"crd({name}=...) takes a list; write {name}=[{value!r}]")
    if scope not in ("Namespaced", "Cluster"):
        raise TypeError(f'crd(scope={scope!r}): write scope="Namespaced" or scope="Cluster"')
    options = DefinitionOptions(
        plural=plural,
        singular=singular,
        short_names=tuple(short_names),
        categories=tuple(categories),
        scope=scope,
        columns=tuple(columns),
        status=status,
        scale=scale,
        selectable_fields=tuple(selectable_fields),
        served=served,
        storage=storage,
        deprecated=deprecated,
        annotations=dict(annotations or {}),
        schema=dict(schema or {}),
    )

    def decorate(cls: type[_R]) -> type[_R]:
        given: object = cls
        if not (isinstance(given, type) and issubclass(given, CustomResource)):
            raise TypeError(f"@crd(...) decorates a class of CustomResource, not {cls!r}")
        setattr(cls, _OPTIONS, options)
        return cls

    return decorate


def options_of(cls: type[CustomResource]) -> DefinitionOptions:
    """Return the arguments of `crd`; those of a base class if the class has none."""
    options = getattr(cls, _OPTIONS, None)
    return options if isinstance(options, DefinitionOptions) else DefinitionOptions()


def rules_of(cls: type) -> list[Rule]:
    """Return the rules of a class and of its bases."""
    return [each for base in reversed(cls.__mro__) for each in vars(base).get(_RULES, ())]


def guess_plural(kind: str) -> str:
    """Return the plural that Kubernetes' tools assume: `fleets`, `policies`, `addresses`."""
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"
