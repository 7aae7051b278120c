"""Validates custom objects by the rules of their schema."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn
from weakref import WeakKeyDictionary

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.cel.environment import COST_LIMIT, Program
from listwatch.server.cel.evaluation import Frame
from listwatch.server.cel.values import NO_VALUE, CELError, CostLimitError, OptionalValue, Value
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.custom_rules.compiled_rules import CompiledRule, SchemaRules, rules_of
from listwatch.server.custom_rules.definition_problems import definition_problems
from listwatch.server.field_errors import duplicate, forbidden, invalid, required
from listwatch.server.json_tree import same, text_at
from listwatch.server.rules.checks import field_path
from listwatch.server.rules.custom_objects import list_key

__all__ = ["CustomRules"]

_BUDGET = 10_000_000
_MAX_MESSAGE = 5 * 1024
_BLOCKING = {
    *("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
}
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class CustomRules:
    """The rules of all custom resources, compiled when their first object is validated."""

    def __init__(self) -> None:
        self._compiled: WeakKeyDictionary[CustomVersion, tuple[SchemaRules | None]] = WeakKeyDictionary()

    def definition_problems(self, new: JSONObject, old: JSONObject | None) -> list[StatusCause]:
        return definition_problems(new, old)

    def problems(
        self,
        version: CustomVersion,
        new: JSONObject,
        old: JSONObject | None,
        found: list[StatusCause],
        warnings: list[str],
    ) -> list[StatusCause]:
        """Return the problems that were found before, and what the rules of the schema reject.

        Of values that an update does not change, they become warnings.
        """
        compiled = self._compiled.get(version)
        if compiled is None:
            compiled = self._compiled[version] = (rules_of(version.schema),)
        if compiled[0] is None:
            return found
        if any(cause.reason in _BLOCKING for cause in found):
            return [*found, invalid("<nil>", None, _NOT_CHECKED)]
        evaluation = _Evaluation(warnings)
        with suppress(_BudgetError):
            evaluation.validate(compiled[0], new, old, "", is_unchanged=False, is_root=True)
        return [*found, *evaluation.problems]


class _BudgetError(Exception):
    """No further rules are evaluated."""


class _Evaluation:
    """The validation of one object."""

    def __init__(self, warnings: list[str]) -> None:
        self.problems: list[StatusCause] = []
        self._warnings = warnings
        self._budget = _BUDGET

    def validate(
        self, rules: SchemaRules, new: JSON, old: JSON, path: str, *, is_unchanged: bool, is_root: bool = False
    ) -> None:
        """Raises _BudgetError. `is_unchanged` says that an object around this value is."""
        if new is None:
            return
        is_unchanged = is_unchanged or (old is not None and not is_root and same(new, old))
        if rules.rules:
            self._evaluate_all(rules, new, old, path, is_unchanged=is_unchanged)
        if isinstance(new, dict):
            before = old if isinstance(old, dict) else {}
            for name, value in new.items():
                inner = rules.properties.get(name)
                if rules.values:
                    key = f"{path}[{name}]"
                    self.validate(rules.values, value, before.get(name), key, is_unchanged=is_unchanged)
                elif inner:
                    inner_path = field_path(path, name)
                    self.validate(inner, value, before.get(name), inner_path, is_unchanged=is_unchanged)
        elif isinstance(new, list) and rules.items:
            is_map = rules.schema.get("x-kubernetes-list-type") == "map"
            known = {list_key(each, rules.schema): each for each in old} if is_map and isinstance(old, list) else {}
            for index, value in enumerate(new):
                previous = known.get(list_key(value, rules.schema)) if is_map else None
                self.validate(rules.items, value, previous, f"{path}[{index}]", is_unchanged=is_unchanged)

    def _evaluate_all(self, rules: SchemaRules, new: JSON, old: JSON, path: str, *, is_unchanged: bool) -> None:
        type_ = text_at(rules.schema, "type")
        where = path or "<nil>"
        if self._budget <= 0:
            self._fail(invalid(where, type_, _OUT_OF_BUDGET))
        value = rules.declared.value(new)
        before = None if old is None else rules.declared.value(old)
        for compiled in rules.rules:
            if compiled.problem:
                self.problems.append(invalid(where, type_, f"rule compile error: {compiled.problem}"))
            elif compiled.program and not (
                compiled.uses_old_self and old is None and not compiled.has_optional_old_self
            ):
                variables = _variables(compiled, value, before)
                try:
                    holds = self._run(compiled.program, variables, compiled, where, type_)
                except CELError as error:
                    self.problems.append(_failure(error, compiled, where, type_))
                    continue
                if holds is not True:
                    problem = self._rejection(compiled, variables, new, path, type_)
                    self._report(problem, is_warning=is_unchanged and not compiled.uses_old_self)

    def _run(
        self, program: Program, variables: Mapping[str, Value], compiled: CompiledRule, where: str, type_: str
    ) -> Value:
        frame = Frame(variables, COST_LIMIT)
        try:
            return program.run(frame)
        except CostLimitError as error:
            detail = (
                f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: "
                f"{compiled.shown}"
            )
            self._fail(invalid(where, type_, detail))
        finally:
            if frame.cost > self._budget:
                self._fail(invalid(where, type_, _OUT_OF_BUDGET))
            self._budget -= frame.cost

    def _rejection(
        self, compiled: CompiledRule, variables: Mapping[str, Value], value: JSON, path: str, type_: str
    ) -> StatusCause:
        path = field_path(path, compiled.path) if compiled.path and path else compiled.path or path or "<nil>"
        detail = self._message(compiled, variables, path, type_)
        match compiled.rule.get("reason"):
            case "FieldValueForbidden":
                return forbidden(path, detail)
            case "FieldValueRequired":
                return required(path, detail)
            case "FieldValueDuplicate" if type_ not in ("object", "array"):
                return duplicate(path, value)
            case "FieldValueDuplicate":
                return StatusCause("FieldValueDuplicate", "Duplicate value", path)
        if type_ in ("object", "array"):
            return StatusCause("FieldValueInvalid", f"Invalid value: {detail}", path)
        return invalid(path, value, detail)

    def _message(self, compiled: CompiledRule, variables: Mapping[str, Value], path: str, type_: str) -> str:
        if compiled.message:
            frame = Frame(variables, COST_LIMIT)
            try:
                found = compiled.message.run(frame)
            except CostLimitError:
                text = text_at(compiled.rule, "messageExpression")
                detail = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
                self._fail(invalid(path, type_, f'{detail}: "{text}"'))
            except CELError:
                found = ""
            if frame.cost > self._budget:
                why = "messageExpression evaluation failed due to running out of cost budget"
                self._fail(invalid(path, type_, f"{why}, no further validation rules will be run"))
            self._budget -= frame.cost
            text = found.strip() if isinstance(found, str) else ""
            if text and len(text.encode()) <= _MAX_MESSAGE and "\n" not in text:
                return text
        message = text_at(compiled.rule, "message")
        return message.strip() if message else f"failed rule: {compiled.shown}"

    def _report(self, problem: StatusCause, *, is_warning: bool) -> None:
        if is_warning:
            self._warnings.append(f"{problem.field}: {problem.message}")
        else:
            self.problems.append(problem)

    def _fail(self, problem: StatusCause) -> NoReturn:
        self.problems.append(problem)
        raise _BudgetError


def _variables(compiled: CompiledRule, value: Value, before: Value) -> dict[str, Value]:
    if not compiled.uses_old_self and not (compiled.message and "oldSelf" in compiled.message.names):
        return {"self": value}
    if compiled.has_optional_old_self:
        return {"self": value, "oldSelf": NO_VALUE if before is None else OptionalValue(before)}
    return {"self": value, "oldSelf": before}


def _failure(error: CELError, compiled: CompiledRule, where: str, type_: str) -> StatusCause:
    if str(error).startswith("no such overload"):
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        return invalid(where, type_, f"'{error}': {why}: {compiled.shown}")
    return invalid(where, type_, f"{error} evaluating rule: {compiled.shown}")
