"""Finds rules that a definition must not have: that do not compile, or could cost too much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.cel.cost_estimation import UNLIMITED
from listwatch.server.cel.schema_types import MAX_REQUEST, DeclaredType, declared_type
from listwatch.server.custom_rules.compiled_rules import RULES, CompiledRule, compile_rule, type_of_property
from listwatch.server.custom_rules.field_paths import FieldPathError, parsed_field_path
from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import object_at, objects_at, text_at, value_at
from listwatch.server.rules.checks import Causes
from listwatch.server.rules.definitions import occurrences

__all__ = ["definition_problems"]

_RULE_LIMIT, _TOTAL_LIMIT = 10_000_000, 100_000_000
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)


def definition_problems(tree: JSONObject, old: JSONObject | None) -> list[StatusCause]:
    """Return what is wrong with the rules of a definition whose schemas are valid."""
    versions = objects_at(tree, "spec", "versions")
    if old is not None and versions == objects_at(old, "spec", "versions"):
        return []
    found: list[StatusCause] = []
    for path, version in occurrences(versions, "schema"):
        schema = object_at(version, "schema", "openAPIV3Schema")
        total = _Total()
        declared = declared_type(schema, is_root=True, name="object")
        found += _schema_problems(schema, f"{path}.openAPIV3Schema", declared, _Place(total))
        found += total.problems(f"{path}.openAPIV3Schema")
    return found


@dataclass
class _Total:
    """What all rules of a schema can cost."""

    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def add(self, cost: int, path: str) -> None:
        self.cost = min(self.cost + cost, UNLIMITED)
        if cost >= _TOTAL_LIMIT // 100:
            self.expensive = sorted([*self.expensive, (cost, path)], key=lambda each: -each[0])[:4]

    def problems(self, path: str) -> Causes:
        if self.cost > _TOTAL_LIMIT:
            for _, expensive in self.expensive:
                detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
                yield forbidden(expensive, detail)
            name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
            yield forbidden(path, _too_costly(name, self.cost, _TOTAL_LIMIT))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a schema is: how often its values can occur, and which list makes old and new ones uncorrelatable."""

    total: _Total
    cardinality: int | None = 1
    """None if there is no limit."""
    uncorrelatable: str = ""

    def inside(self, schema: JSONObject, path: str) -> _Place:
        uncorrelatable = self.uncorrelatable
        if schema.get("items") and schema.get("x-kubernetes-list-type") != "map":
            uncorrelatable = uncorrelatable or path
        most = _most_elements(schema)
        cardinality = None if most is None or self.cardinality is None else self.cardinality * most
        return _Place(self.total, cardinality, uncorrelatable)


def _most_elements(schema: JSONObject) -> int | None:
    match schema.get("type"):
        case "array":
            limit = schema.get("maxItems")
        case "object" if schema.get("additionalProperties"):
            limit = schema.get("maxProperties")
        case _:
            return 1
    return max(limit, 0) if isinstance(limit, int) else None


def _schema_problems(
    schema: JSONObject, path: str, declared: DeclaredType | None, place: _Place
) -> Iterator[StatusCause]:
    inner_place = place.inside(schema, path)
    for name, inner in object_at(schema, "properties").items():
        if isinstance(inner, dict):
            inner_type = type_of_property(declared, name, inner) if declared else None
            yield from _schema_problems(inner, f"{path}.properties[{name}]", inner_type, inner_place)
    for name in ("additionalProperties", "items"):
        if isinstance(inner := schema.get(name), dict):
            inner_type = declared.element if declared else None
            yield from _schema_problems(inner, f"{path}.{name}", inner_type, inner_place)
    rules = objects_at(schema, RULES)
    plain = [cause for index, rule in enumerate(rules) for cause in _form(rule, schema, f"{path}.{RULES}[{index}]")]
    yield from plain
    if plain or not rules:
        return
    if declared is None:
        yield StatusCause(
            "InternalError",
            "Internal error: internal error: failed to retrieve type information for x-kubernetes-validations",
            f"{path}.{RULES}",
        )
        return
    for index, rule in enumerate(rules):
        yield from _compiled(compile_rule(rule, schema, declared), f"{path}.{RULES}[{index}]", declared, place)


def _form(rule: JSONObject, schema: JSONObject, path: str) -> Causes:
    text, message = text_at(rule, "rule").strip(), text_at(rule, "message")
    if not text:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _has_newlines(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    elif _has_newlines(text) and not message.strip():
        yield required(f"{path}.message", "message must be specified if rule contains line breaks")
    expression = text_at(rule, "messageExpression")
    if expression and not expression.strip():
        yield required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if (reason := value_at(rule, "reason")) is not None and reason not in _REASONS:
        yield not_supported(f"{path}.reason", reason, _REASONS)
    field_path = text_at(rule, "fieldPath")
    if field_path and not field_path.strip():
        yield invalid(f"{path}.fieldPath", field_path, "must be non-empty if specified")
    if _has_newlines(field_path):
        yield invalid(f"{path}.fieldPath", field_path, "must not contain line breaks")
    try:
        parsed_field_path(field_path, schema)
    except FieldPathError:
        yield invalid(f"{path}.fieldPath", field_path, "must be a valid path")


def _has_newlines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _compiled(compiled: CompiledRule, path: str, declared: DeclaredType, place: _Place) -> Causes:
    cardinality = place.cardinality
    if cardinality is None:
        cardinality = MAX_REQUEST // (declared.least_size + 1)
    cost = min(compiled.cost * cardinality, UNLIMITED)
    if cost > _RULE_LIMIT:
        yield forbidden(f"{path}.rule", _too_costly("estimated rule cost", cost, _RULE_LIMIT))
    place.total.add(cost, f"{path}.rule")
    if compiled.problem:
        yield invalid(f"{path}.rule", _shown(compiled.rule), compiled.problem)
    if compiled.message_problem:
        yield invalid(f"{path}.messageExpression", _shown(compiled.rule), compiled.message_problem)
    elif compiled.message:
        if compiled.message_cost > _RULE_LIMIT:
            detail = _too_costly("estimated messageExpression cost", compiled.message_cost, _RULE_LIMIT)
            yield forbidden(f"{path}.messageExpression", detail)
        place.total.add(compiled.message_cost, f"{path}.messageExpression")
    optional = compiled.rule.get("optionalOldSelf")
    if compiled.uses_old_self and place.uncorrelatable:
        detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place.uncorrelatable}"
        yield invalid(f"{path}.rule", text_at(compiled.rule, "rule"), detail)
    elif not compiled.uses_old_self and optional is not None:
        yield invalid(f"{path}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")


def _too_costly(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {shown} {_ADVICE}"


def _shown(rule: JSONObject) -> JSON:
    """Return a rule as the real server prints it: with Go's field names."""
    return {
        "Rule": text_at(rule, "rule"),
        "Message": text_at(rule, "message"),
        "MessageExpression": text_at(rule, "messageExpression"),
        "Reason": rule.get("reason"),
        "FieldPath": text_at(rule, "fieldPath"),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
