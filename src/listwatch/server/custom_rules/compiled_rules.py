"""Compiles the rules in the schema of a custom resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from listwatch.json_value import JSONObject
from listwatch.server.cel.cost_estimation import estimated_cost
from listwatch.server.cel.declarations import Declarations
from listwatch.server.cel.environment import FUNCTIONS, CompileError, InstantiationError, Program, compile_expression
from listwatch.server.cel.escaping import escaped
from listwatch.server.cel.schema_types import DeclaredType, declared_type, object_types, size_limits
from listwatch.server.cel.type_system import BOOL, STRING, Type, optional_of
from listwatch.server.custom_rules.field_paths import FieldPathError, parsed_field_path
from listwatch.server.json_tree import object_at, objects_at, text_at

__all__ = ["RULES", "CompiledRule", "SchemaRules", "compile_rule", "rules_of", "type_of_property"]

RULES = "x-kubernetes-validations"
_EMBEDDED = "x-kubernetes-embedded-resource"


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule; `problem` is why it does not compile."""

    rule: JSONObject
    program: Program | None = None
    problem: str = ""
    cost: int = 0
    """What one evaluation can cost at most."""
    message: Program | None = None
    message_problem: str = ""
    message_cost: int = 0
    path: str = ""
    """The path of the field that errors name, below that of the schema."""

    @property
    def uses_old_self(self) -> bool:
        return self.program is not None and "oldSelf" in self.program.names

    @property
    def has_optional_old_self(self) -> bool:
        return bool(self.rule.get("optionalOldSelf"))

    @property
    def shown(self) -> str:
        """The rule in messages."""
        return (text_at(self.rule, "message") or text_at(self.rule, "rule")).strip()


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """The rules of a schema and of the schemas in it; there is none for schemas without rules."""

    schema: JSONObject
    declared: DeclaredType
    rules: tuple[CompiledRule, ...]
    items: SchemaRules | None = None
    values: SchemaRules | None = None
    """For additionalProperties."""
    properties: Mapping[str, SchemaRules] = field(default_factory=dict)


def rules_of(schema: JSONObject) -> SchemaRules | None:
    """Return the compiled rules of the schema of a resource; None if it has none."""
    return _rules(schema, declared_type(schema, is_root=True, name="object")) if _has_rules(schema) else None


def _has_rules(schema: JSONObject) -> bool:
    return bool(schema.get(RULES)) or any(_has_rules(each) for each in _inner_schemas(schema))


def _inner_schemas(schema: JSONObject) -> list[JSONObject]:
    found = [each for each in object_at(schema, "properties").values() if isinstance(each, dict)]
    for name in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(name), dict):
            found.append(inner)
    return found


def _rules(schema: JSONObject, declared: DeclaredType | None) -> SchemaRules | None:
    if declared is None or not _has_rules(schema):
        return None
    found = tuple(compile_rule(rule, schema, declared) for rule in objects_at(schema, RULES))
    items = values = None
    if isinstance(inner := schema.get("items"), dict):
        items = _rules(inner, declared.element)
    if isinstance(inner := schema.get("additionalProperties"), dict):
        values = _rules(inner, declared.element)
    properties: dict[str, SchemaRules] = {}
    for name, inner in object_at(schema, "properties").items():
        if isinstance(inner, dict) and (rules := _rules(inner, type_of_property(declared, name, inner))):
            properties[name] = rules
    return SchemaRules(schema, declared, found, items, values, properties)


def type_of_property(declared: DeclaredType, name: str, schema: JSONObject) -> DeclaredType | None:
    identifier = escaped(name)
    if identifier is None:
        return declared_type(schema, is_root=bool(schema.get(_EMBEDDED)), name=f"object.{name}")
    return declared.fields.get(identifier)


def _declarations(declared: DeclaredType, *, is_optional: bool) -> Declarations:
    objects = object_types(declared)
    old: Type = optional_of(declared.type) if is_optional else declared.type
    return Declarations(FUNCTIONS, {"self": declared.type, "oldSelf": old}, objects.get)


def compile_rule(rule: JSONObject, schema: JSONObject, declared: DeclaredType) -> CompiledRule:
    text = text_at(rule, "rule")
    if not text.strip():
        return CompiledRule(rule)
    declarations = _declarations(declared, is_optional=bool(rule.get("optionalOldSelf")))
    limits = size_limits(declared)
    try:
        program = compile_expression(text, declarations)
    except InstantiationError as error:
        return CompiledRule(rule, problem=f"program instantiation failed: {error}")
    except CompileError as error:
        return CompiledRule(rule, problem=f"compilation failed: {error}")
    if program.type != BOOL:
        return CompiledRule(rule, problem="cel expression must evaluate to a bool")
    cost = estimated_cost(program.root, limits).most
    message, problem, message_cost = None, "", 0
    if expression := text_at(rule, "messageExpression"):
        try:
            message = compile_expression(expression, declarations)
        except CompileError as error:
            problem = f"messageExpression compilation failed: {error}"
        else:
            message_cost = estimated_cost(message.root, limits).most
            if message.type != STRING:
                message, problem = None, "messageExpression must evaluate to a string"
    try:
        path = parsed_field_path(text_at(rule, "fieldPath"), schema)
    except FieldPathError:
        path = ""
    return CompiledRule(rule, program, "", cost, message, problem, message_cost, path)
