"""Expressions of policies: what they can refer to, and how they are evaluated for one write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from listwatch.json_value import JSONObject
from listwatch.server.admission.attributes import Attributes, request_value
from listwatch.server.cel.declarations import Declarations
from listwatch.server.cel.environment import (
    COST_LIMIT,
    FUNCTIONS,
    CompileError,
    InstantiationError,
    Program,
    compile_expression,
)
from listwatch.server.cel.evaluation import Frame
from listwatch.server.cel.library.authorization import (
    AUTHORIZER,
    RESOURCE_CHECK,
    AccessAttributes,
    Authorize,
    authorizer_value,
    resource_check,
)
from listwatch.server.cel.schema_types import DeclaredType, object_types
from listwatch.server.cel.type_system import (
    BOOL,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    ObjectType,
    Type,
    list_of,
    map_of,
    object_type,
)
from listwatch.server.cel.values import CELError, CostLimitError, Value
from listwatch.server.json_tree import object_at, objects_at, text_at
from listwatch.server.requests import User

__all__ = [
    "Compiler",
    "Evaluation",
    "ExpressionError",
    "FailedProgramError",
    "authorize_as",
    "conditions_hold",
    "namespace_value",
]

BUDGET = 10_000_000
_NO_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_KIND = {"group": STRING, "version": STRING, "kind": STRING}
_RESOURCE = {"group": STRING, "version": STRING, "resource": STRING}
_USER = {"username": STRING, "uid": STRING, "groups": list_of(STRING), "extra": map_of(STRING, list_of(STRING))}
_REQUEST = {
    "kind": object_type("kubernetes.GroupVersionKind"),
    "resource": object_type("kubernetes.GroupVersionResource"),
    "subResource": STRING,
    "requestKind": object_type("kubernetes.GroupVersionKind"),
    "requestResource": object_type("kubernetes.GroupVersionResource"),
    "requestSubResource": STRING,
    "name": STRING,
    "namespace": STRING,
    "operation": STRING,
    "userInfo": object_type("kubernetes.UserInfo"),
    "dryRun": BOOL,
    "options": DYN,
}
_NAMESPACE = {
    "metadata": object_type("kubernetes.NamespaceMetadata"),
    "spec": object_type("kubernetes.NamespaceSpec"),
    "status": object_type("kubernetes.NamespaceStatus"),
}
_NAMESPACE_METADATA = {
    **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), STRING),
    **dict.fromkeys(("labels", "annotations"), map_of(STRING, STRING)),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), TIMESTAMP),
    **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), INT),
    "finalizers": list_of(STRING),
}
_NAMESPACE_STATUS = {"conditions": list_of(object_type("kubernetes.NamespaceCondition")), "phase": STRING}
_NAMESPACE_CONDITION = {
    **dict.fromkeys(("status", "type", "message", "reason"), STRING),
    "lastTransitionTime": TIMESTAMP,
}
_OBJECTS: Mapping[str, ObjectType] = {
    each.name: each
    for each in (
        ObjectType("kubernetes.AdmissionRequest", _REQUEST),
        ObjectType("kubernetes.GroupVersionKind", _KIND),
        ObjectType("kubernetes.GroupVersionResource", _RESOURCE),
        ObjectType("kubernetes.UserInfo", _USER),
        ObjectType("kubernetes.Namespace", _NAMESPACE),
        ObjectType("kubernetes.NamespaceMetadata", _NAMESPACE_METADATA),
        ObjectType("kubernetes.NamespaceSpec", {"finalizers": list_of(STRING)}),
        ObjectType("kubernetes.NamespaceStatus", _NAMESPACE_STATUS),
        ObjectType("kubernetes.NamespaceCondition", _NAMESPACE_CONDITION),
        ObjectType("JSONPatch", {"op": STRING, "path": STRING, "from": STRING, "value": DYN}),
    )
}
_VARIABLES = "kubernetes.variables"


class ExpressionError(Exception):
    """An expression that does not compile, or fails."""


class FailedProgramError(ExpressionError):
    """An expression in which the conversion of a constant fails."""


def _type_name(type_: Type) -> str:
    return "null_type" if type_ == NULL else str(type_)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a policy; `program` is None if it does not compile."""

    expression: str
    program: Program | None
    problem: str = ""


class Compiler:
    """Compiles the expressions of one policy; variables are compiled first, in their order.

    `object_` and `params` are the types of these variables, if they are known.
    """

    def __init__(
        self,
        spec: JSONObject,
        *,
        mutates: bool = False,
        object_: DeclaredType | None = None,
        params: DeclaredType | None = None,
    ) -> None:
        self._has_params = spec.get("paramKind") is not None
        self._mutates = mutates
        self._object_type = object_.type if object_ else DYN
        self._params_type = params.type if params else DYN
        self._declared = {
            name: found for each in (object_, params) if each for name, found in object_types(each).items()
        }
        self.variables: dict[str, Variable] = {}
        for each in objects_at(spec, "variables"):
            text = text_at(each, "expression")
            try:
                self.variables[text_at(each, "name")] = Variable(text, self.compile(text))
            except ExpressionError as error:
                self.variables[text_at(each, "name")] = Variable(text, None, str(error))

    def compile(self, text: str, *types: Type, variables: bool = True) -> Program:
        """Raises ExpressionError, also if the value is of another type than these."""
        try:
            program = compile_expression(text, self._declarations(variables=variables))
        except InstantiationError as error:
            raise FailedProgramError(f"program instantiation failed: {error}") from None
        except CompileError as error:
            raise ExpressionError(f"compilation failed: {error}") from None
        if types and program.type not in types:
            names = [*map(_type_name, types)]
            shown = names[0] if len(types) == 1 else f"one of [{' '.join(names)}]"
            raise ExpressionError(f"must evaluate to {shown} but got {_type_name(program.type)}")
        return program

    def _declarations(self, *, variables: bool) -> Declarations:
        found = {
            "object": self._object_type,
            "oldObject": self._object_type,
            "request": object_type("kubernetes.AdmissionRequest"),
            "namespaceObject": object_type("kubernetes.Namespace"),
            "authorizer": AUTHORIZER,
            "authorizer.requestResource": RESOURCE_CHECK,
        }
        if self._has_params:
            found["params"] = self._params_type
        if variables:
            found["variables"] = object_type(_VARIABLES)
        return Declarations(FUNCTIONS, found, self._object)

    def _object(self, name: str) -> ObjectType | None:
        if name == _VARIABLES:
            types = {
                each: variable.program.type if variable.program else DYN for each, variable in self.variables.items()
            }
            return ObjectType(name, types)
        if self._mutates and (name == "Object" or name.startswith("Object.")):
            return ObjectType(name, None)
        if name == "JSONPatch" and not self._mutates:
            return None
        return _OBJECTS.get(name) or self._declared.get(name)


@dataclass
class Evaluation:
    """Evaluates the expressions of one policy for one write, within its budget."""

    attributes: Attributes
    variables: Mapping[str, Variable]
    params: JSONObject | None
    authorize: Authorize
    budget: int = BUDGET
    _values: dict[str, Value | CELError] = field(default_factory=dict)

    def value(self, program: Program) -> Value:
        """Raises ExpressionError."""
        if self.budget < 0:
            raise ExpressionError(_NO_BUDGET)
        frame = Frame(self._activation(), COST_LIMIT)
        try:
            return program.run(frame)
        except (CELError, CostLimitError) as error:
            if frame.cost > self.budget:
                raise ExpressionError(_NO_BUDGET) from None
            raise ExpressionError(f"expression '{program.text}' resulted in error: {error}") from None
        finally:
            self.budget -= frame.cost

    def _activation(self) -> dict[str, Value]:
        attributes = self.attributes
        return {
            "object": attributes.new,
            "oldObject": attributes.old,
            "request": request_value(attributes),
            "namespaceObject": attributes.namespace,
            "params": self.params,
            "variables": self,
            "authorizer": authorizer_value(self.authorize),
            "authorizer.requestResource": resource_check(self.authorize, _request_resource(attributes)),
        }

    def read_field(self, name: str, frame: Frame) -> Value:
        """Return the value of a variable, which is computed when it is first read."""
        if name not in self._values:
            variable = self.variables.get(name)
            if variable is None or variable.program is None:
                raise CELError(f"composited variable {name!r} fails to compile: {variable.problem if variable else ''}")
            inner = Frame(self._activation(), frame.limit - frame.cost)
            try:
                self._values[name] = variable.program.run(inner)
            except CELError as error:
                self._values[name] = CELError(f'composited variable "{name}" fails to evaluate: {error}')
            finally:
                frame.charge(inner.cost)
        found = self._values[name]
        if isinstance(found, CELError):
            raise found
        return found


def _request_resource(attributes: Attributes) -> dict[str, str]:
    request = attributes.request
    found = {"group": request.resource.group, "resource": request.resource.plural, "name": attributes.name}
    return {**found, "subresource": request.subresource, "namespace": request.namespace}


def authorize_as(review: Callable[[User, JSONObject], tuple[bool, str]], user: User) -> Authorize:
    """Return the decisions of an authorizer about a user, or about the service account that an expression names."""

    def authorize(access: AccessAttributes) -> tuple[bool, str]:
        namespace, name = access.service_account
        subject = user
        if name:
            groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
            subject = User(f"system:serviceaccount:{namespace}:{name}", groups=groups)
        return review(subject, {**access.attributes, "verb": access.verb})

    return authorize


def conditions_hold(conditions: list[JSONObject], compile_: Callable[[str], Program], evaluation: Evaluation) -> bool:
    """Whether all match conditions hold; a false one counts more than one that fails. Raises ExpressionError."""
    problems: list[str] = []
    for condition in conditions:
        try:
            if evaluation.value(compile_(text_at(condition, "expression"))) is False:
                return False
        except ExpressionError as error:
            problems.append(str(error))
    if problems:
        shown = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise ExpressionError(shown)
    return True


def namespace_value(tree: JSONObject) -> JSONObject:
    """Return the fields of a namespace that expressions can read."""
    metadata = {name: value for name, value in object_at(tree, "metadata").items() if name != "managedFields"}
    return {"metadata": metadata, "spec": object_at(tree, "spec"), "status": object_at(tree, "status")}
