"""Finds what is wrong with the expressions of a policy, when it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.admission.policies.expressions import Compiler, ExpressionError, FailedProgramError
from listwatch.server.cel.escaping import RESERVED
from listwatch.server.cel.type_system import BOOL, NULL, STRING, Type, list_of, object_type
from listwatch.server.field_errors import duplicate, invalid, not_supported, required, too_many
from listwatch.server.json_tree import object_at, objects_at, text_at
from listwatch.server.rules.admission import mutating_operations, policy_match
from listwatch.server.rules.checks import Causes, qualified_name

__all__ = ["policy_problems", "webhook_problems"]

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_PATCHES: Mapping[str, tuple[str, Type]] = {
    "ApplyConfiguration": ("applyConfiguration", object_type("Object")),
    "JSONPatch": ("jsonPatch", list_of(object_type("JSONPatch"))),
}
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)
_MAX_CONDITIONS, _MAX_ANNOTATIONS, _MAX_VALUE_EXPRESSION = 64, 20, 5 * 1024
_NOTHING = "validations or auditAnnotations must contain at least one item"


def policy_problems(tree: JSONObject, old: JSONObject | None) -> list[StatusCause]:
    """Return what is wrong with a policy; expressions that it had before are not checked again."""
    spec = object_at(tree, "spec")
    if old is not None and object_at(old, "spec") == spec:
        return []
    return [*_problems(tree, mutates=tree.get("kind") == "MutatingAdmissionPolicy")]


def webhook_problems(tree: JSONObject, old: JSONObject | None) -> list[StatusCause]:
    """Return the problems of the match conditions of webhooks; unchanged conditions are not checked again."""
    known = [objects_at(each, "matchConditions") for each in objects_at(old, "webhooks")]
    compiler = Compiler({})
    problems: list[StatusCause] = []
    for number, webhook in enumerate(objects_at(tree, "webhooks")):
        conditions = objects_at(webhook, "matchConditions")
        if conditions not in known:
            problems += _match_conditions(compiler, conditions, f"webhooks[{number}].matchConditions")
    return problems


def _match_conditions(compiler: Compiler, conditions: list[JSONObject], path: str) -> Causes:
    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(path, len(conditions), _MAX_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        name, text, field = text_at(condition, "name"), text_at(condition, "expression"), f"{path}[{index}]"
        if not text.strip():
            yield required(f"{field}.expression")
        else:
            yield from _expression(compiler, text.strip(), f"{field}.expression", BOOL, variables=False)
        if not name:
            yield required(f"{field}.name")
        else:
            yield from (invalid(f"{field}.name", name, detail) for detail in qualified_name(name))
            if name in seen:
                yield duplicate(f"{field}.name", name)
        seen.add(name)


def _problems(tree: JSONObject, *, mutates: bool) -> Causes:
    spec = object_at(tree, "spec")
    compiler = Compiler(spec, mutates=mutates)
    yield from policy_match(spec)
    if mutates:
        yield from mutating_operations(object_at(spec, "matchConstraints"), "spec.matchConstraints")
    yield from _match_conditions(compiler, objects_at(spec, "matchConditions"), "spec.matchConditions")
    for index, variable in enumerate(objects_at(spec, "variables")):
        yield from _variable(compiler, variable, f"spec.variables[{index}]")
    yield from _mutations(compiler, spec) if mutates else _validations(compiler, tree)


def _variable(compiler: Compiler, variable: JSONObject, path: str) -> Causes:
    name, text = text_at(variable, "name"), text_at(variable, "expression")
    is_named = bool(_IDENTIFIER.fullmatch(name)) and name not in RESERVED
    if not name.strip():
        yield required(f"{path}.name", "name is not specified")
    elif not is_named:
        yield invalid(f"{path}.name", name, "must be a valid CEL identifier")
    if not text.strip():
        yield required(f"{path}.expression", "expression is not specified")
    elif is_named and (found := compiler.variables[name]).problem:
        yield invalid(f"{path}.expression", found.expression, found.problem)


def _expression(
    compiler: Compiler,
    text: str,
    path: str,
    *types: Type,
    variables: bool = True,
    missing: str = "expression is not specified",
) -> Causes:
    if not text.strip():
        yield required(path, missing)
        return
    try:
        compiler.compile(text, *types, variables=variables)
    except FailedProgramError as error:
        yield StatusCause("InternalError", f"Internal error: {error}", path)
    except ExpressionError as error:
        yield invalid(path, text, str(error))


def _validations(compiler: Compiler, tree: JSONObject) -> Causes:
    validations, annotations = objects_at(tree, "spec", "validations"), objects_at(tree, "spec", "auditAnnotations")
    if not validations and not annotations:
        yield required("spec.validations", _NOTHING)
        yield required("spec.auditAnnotations", _NOTHING)
    for index, validation in enumerate(validations):
        yield from _validation(compiler, validation, f"spec.validations[{index}]")
    if len(annotations) > _MAX_ANNOTATIONS:
        shown: list[JSON] = [
            {"Key": text_at(each, "key"), "ValueExpression": text_at(each, "valueExpression")} for each in annotations
        ]
        yield invalid("spec.auditAnnotations", shown, f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations")
    keys: set[str] = set()
    for index, annotation in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", text_at(annotation, "key")
        whole = f"{text_at(tree, 'metadata', 'name')}/{key}"
        yield from (invalid(f"{path}.key", whole, detail) for detail in qualified_name(whole))
        text, where = text_at(annotation, "valueExpression"), f"{path}.valueExpression"
        if len(text.strip().encode()) > _MAX_VALUE_EXPRESSION:
            yield required(where, f"must not exceed {_MAX_VALUE_EXPRESSION} bytes in length")
        else:
            yield from _expression(compiler, text, where, STRING, NULL, missing="valueExpression is not specified")
        if key in keys:
            yield duplicate(f"{path}.key", key)
        keys.add(key)


def _validation(compiler: Compiler, validation: JSONObject, path: str) -> Causes:
    yield from _expression(compiler, text_at(validation, "expression"), f"{path}.expression", BOOL)
    expression, message = text_at(validation, "messageExpression"), text_at(validation, "message")
    if expression and not expression.strip():
        yield invalid(f"{path}.messageExpression", expression, "must be non-empty if specified")
    elif expression:
        yield from _expression(compiler, expression, f"{path}.messageExpression", STRING)
    if message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif not {"\n", "\r"}.isdisjoint(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    reason = text_at(validation, "reason")
    if reason and reason not in _REASONS:
        yield not_supported(f"{path}.reason", reason, _REASONS)


def _mutations(compiler: Compiler, spec: JSONObject) -> Causes:
    mutations = objects_at(spec, "mutations")
    if not mutations:
        yield required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(mutations):
        yield from _mutation(compiler, mutation, f"spec.mutations[{index}]")
    if (policy := text_at(spec, "reinvocationPolicy")) not in ("IfNeeded", "Never"):
        path = "spec.reinvocationPolicy"
        yield not_supported(path, policy, ("IfNeeded", "Never")) if policy else required(path)


def _mutation(compiler: Compiler, mutation: JSONObject, path: str) -> Causes:
    kind = text_at(mutation, "patchType")
    if not kind:
        yield required(f"{path}.patchType")
        return
    if kind not in _PATCHES:
        yield not_supported(f"{path}.patchType", kind, _PATCHES)
        return
    for each, (field, wanted) in _PATCHES.items():
        where, given = f"{path}.{field}", mutation.get(field)
        if each != kind:
            if given is not None:
                yield invalid(where, f"{{{field}}}", f"must not be specified when patchType is {kind}")
        elif given is None:
            yield required(where, f"must be specified when patchType is {kind}")
        else:
            text = text_at(mutation, field, "expression").strip()
            yield from _expression(compiler, text, f"{where}.expression", wanted, missing="")
