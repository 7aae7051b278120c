"""Finds what is wrong with the expressions of a policy, when it is written."""

from __future__ import annotations

from listwatch.errors import StatusCause
from listwatch.json_value import JSONObject
from listwatch.server.admission.policy_expressions import Compiler, ExpressionError
from listwatch.server.cel.type_system import BOOL, NULL, STRING, Type, list_of, object_type
from listwatch.server.field_errors import duplicate, invalid, not_supported, required
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at
from listwatch.server.rules.checks import Causes, qualified_name

__all__ = ["policy_problems", "webhook_problems"]

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOTHING = "validations or auditAnnotations must contain at least one item"


def policy_problems(tree: JSONObject, old: JSONObject | None) -> list[StatusCause]:
    """Return what is wrong with a policy; expressions that it had before are not checked again."""
    spec = object_at(tree, "spec")
    if old is not None and object_at(old, "spec") == spec:
        return []
    return [*_problems(spec, mutates=tree.get("kind") == "MutatingAdmissionPolicy")]


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


def _problems(spec: JSONObject, *, mutates: bool) -> Causes:
    compiler = Compiler(spec, mutates=mutates)
    if not spec.get("matchConstraints"):
        yield required("spec.matchConstraints")
    elif not objects_at(spec, "matchConstraints", "resourceRules"):
        yield required("spec.matchConstraints.resourceRules")
    for index, condition in enumerate(objects_at(spec, "matchConditions")):
        path = f"spec.matchConditions[{index}].expression"
        yield from _expression(compiler, text_at(condition, "expression"), path, BOOL, variables=False)
    for index, variable in enumerate(objects_at(spec, "variables")):
        found = compiler.variables[text_at(variable, "name")]
        if found.problem:
            yield invalid(f"spec.variables[{index}].expression", found.expression, found.problem)
    yield from _mutations(compiler, spec) if mutates else _validations(compiler, spec)


def _expression(compiler: Compiler, text: str, path: str, *types: Type, variables: bool = True) -> Causes:
    if not text.strip():
        yield required(path, "expression is not specified")
        return
    try:
        compiler.compile(text, *types, variables=variables)
    except ExpressionError as error:
        yield invalid(path, text, str(error))


def _validations(compiler: Compiler, spec: JSONObject) -> Causes:
    validations, annotations = objects_at(spec, "validations"), objects_at(spec, "auditAnnotations")
    if not validations and not annotations:
        yield required("spec.validations", _NOTHING)
        yield required("spec.auditAnnotations", _NOTHING)
    for index, validation in enumerate(validations):
        path = f"spec.validations[{index}]"
        yield from _expression(compiler, text_at(validation, "expression"), f"{path}.expression", BOOL)
        reason = text_at(validation, "reason")
        if reason and reason not in _REASONS:
            yield not_supported(f"{path}.reason", reason, _REASONS)
        if message := text_at(validation, "messageExpression"):
            yield from _expression(compiler, message, f"{path}.messageExpression", STRING)
    for index, annotation in enumerate(annotations):
        path = f"spec.auditAnnotations[{index}].valueExpression"
        yield from _expression(compiler, text_at(annotation, "valueExpression"), path, STRING, NULL)


def _mutations(compiler: Compiler, spec: JSONObject) -> Causes:
    for rule in objects_at(spec, "matchConstraints", "resourceRules"):
        for operation in texts_at(rule, "operations"):
            if operation == "DELETE":
                path = "spec.matchConstraints.resourceRules.operations"
                yield not_supported(path, operation, ("*", "CONNECT", "CREATE", "UPDATE"))
    mutations = objects_at(spec, "mutations")
    if not mutations:
        yield required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(mutations):
        path = f"spec.mutations[{index}]"
        if mutation.get("patchType") == "ApplyConfiguration":
            text = text_at(mutation, "applyConfiguration", "expression")
            yield from _expression(compiler, text, f"{path}.applyConfiguration.expression", object_type("Object"))
        else:
            text = text_at(mutation, "jsonPatch", "expression")
            wanted = list_of(object_type("JSONPatch"))
            yield from _expression(compiler, text, f"{path}.jsonPatch.expression", wanted)
