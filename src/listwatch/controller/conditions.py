"""The conditions in an object's status: what is so at the moment, since when, and why.

    changed = set_condition(widget["status"]["conditions"], "Ready", True, reason="AllSet", generation=3)
    if changed:
        await widgets.update_status(widget)

They are dicts of wire names in an Unstructured, and models in a typed object; both are lists that are changed in place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError

__all__ = ["find_condition", "is_condition_true", "remove_condition", "set_condition"]

_WORDS = {True: "True", False: "False", None: "Unknown"}
_STATUSES = frozenset(_WORDS.values())
# How the fields of models are called on the wire.
_WIRE = {"last_transition_time": "lastTransitionTime", "observed_generation": "observedGeneration"}


def set_condition(
    conditions: list[Any],
    type: str,  # what the API calls it
    status: bool | str | None,  # noqa: FBT001  # it is what the condition is
    *,
    reason: str,
    message: str = "",
    generation: int | None = None,
    kind: Any = None,
    clock: Clock | None = None,
) -> bool:
    """Say how it is now, and return whether that is news; the transition time moves only with the status.

    `status` is True, False, None for unknown, or the API's word for it. `generation` is that of the spec this is said
    of. `kind` is the model to make a first condition of, in a list that has none; without it that is a dict.
    """
    word = status if isinstance(status, str) else _WORDS[status]
    if word not in _STATUSES or not type or not reason:
        wanted = "a type, a reason, and a status that is True, False or Unknown"
        raise UsageError(f"a condition needs {wanted}; got {type=}, {reason=} and status={word!r}")
    present = find_condition(conditions, type)
    if present is None:
        present = _made(conditions, kind)
        conditions.append(present)
    news = {"type": type, "status": word, "reason": reason, "message": message}
    if generation is not None:
        news["observed_generation"] = generation  # type: ignore[assignment]  # the one number among texts
    if _value(present, "status") != word:
        news["last_transition_time"] = _moment(present, (clock or SystemClock()).now())
    changes = [_put(present, name, value) for name, value in news.items()]
    return any(changes)


def find_condition(conditions: list[Any], type: str) -> Any:
    """The condition of that type; None if there is none."""
    return next((each for each in conditions if _value(each, "type") == type), None)


def is_condition_true(conditions: list[Any], type: str, *, generation: int | None = None) -> bool:
    """Whether it is said to be so, and of this generation if one is given."""
    found = find_condition(conditions, type)
    if found is None or _value(found, "status") != "True":
        return False
    return generation is None or _value(found, "observed_generation") == generation


def remove_condition(conditions: list[Any], type: str) -> bool:
    """Say nothing of that any more, and return whether something was said."""
    found = find_condition(conditions, type)
    if found is not None:
        conditions.remove(found)
    return found is not None


def _made(conditions: list[Any], kind: Any) -> Any:
    if kind is None and conditions:
        kind = conditions[0].__class__
    return {} if kind is None else kind()


def _moment(condition: Any, now: datetime) -> Any:
    # The API keeps whole seconds.
    now = now.astimezone(UTC).replace(microsecond=0)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(condition, dict) else now


def _value(condition: Any, name: str) -> Any:
    if isinstance(condition, dict):
        return condition.get(_WIRE.get(name, name))
    return getattr(condition, name, None)


def _put(condition: Any, name: str, value: Any) -> bool:
    if _value(condition, name) == value:
        return False
    if isinstance(condition, dict):
        condition[_WIRE.get(name, name)] = value
    elif hasattr(condition, name):  # not every kind of condition has an observed generation
        setattr(condition, name, value)
    else:
        return False
    return True
