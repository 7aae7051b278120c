"""Evaluates the match conditions of webhooks."""

from __future__ import annotations

from collections.abc import Callable

from listwatch.json_value import JSONObject
from listwatch.server.admission.attributes import Attributes
from listwatch.server.admission.policies.expressions import (
    Compiler,
    Evaluation,
    ExpressionError,
    authorize_as,
    conditions_hold,
)
from listwatch.server.cel.environment import Program
from listwatch.server.internal_errors import internal_error
from listwatch.server.requests import User

__all__ = ["MatchConditions"]


class MatchConditions:
    """Compiles each expression once."""

    def __init__(self, review: Callable[[User, JSONObject], tuple[bool, str]]) -> None:
        self._review = review
        self._compiler = Compiler({})
        self._programs: dict[str, Program] = {}

    def hold(self, conditions: list[JSONObject], attributes: Attributes, name: str, *, fails: bool) -> bool:
        """Whether all conditions hold; raises InternalServerError if one fails and the webhook does not ignore that."""
        authorize = authorize_as(self._review, attributes.request.user)
        try:
            return conditions_hold(conditions, self._program, Evaluation(attributes, {}, None, authorize))
        except ExpressionError as error:
            if not fails:
                return False
            raise internal_error(f'failed calling webhook "{name}": {error}') from None

    def _program(self, text: str) -> Program:
        if text not in self._programs:
            self._programs[text] = self._compiler.compile(text, variables=False)
        return self._programs[text]
