"""The conditions in the status of an object: what currently holds, since when, and why.

    if set_condition(widget, "Ready", True, reason="AllSet", generation=widget.metadata.generation):
        await widgets.update_status(widget)

All functions take an object, its status, or its list of conditions. The conditions of a typed object are models, those
of an Unstructured are dicts; they are changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar, cast, get_args, get_origin, overload

import msgspec

from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["HasConditions", "find_condition", "is_condition_true", "remove_condition", "set_condition"]

_Tree = dict[str, Any]
_Condition = msgspec.Struct | _Tree

C = TypeVar("C", bound=Model | _Tree)
C_co = TypeVar("C_co", bound=Model | _Tree, covariant=True)

HasConditions = Object | Model | _Tree | list[Any]
"""An object, a status, or a list of conditions."""


class _TypedStatus(Protocol[C_co]):
    @property
    def conditions(self) -> Sequence[C_co] | None: ...


class _TypedObject(Protocol[C_co]):
    @property
    def status(self) -> _TypedStatus[C_co]: ...


_STATUS_WORDS = {True: "True", False: "False", None: "Unknown"}
_STATUSES = frozenset(_STATUS_WORDS.values())
_WIRE_NAMES = {"last_transition_time": "lastTransitionTime", "observed_generation": "observedGeneration"}


def set_condition(
    on: HasConditions,
    type: str,  # the field's name in the API
    status: bool | str | None,  # noqa: FBT001  # the value itself, not an option
    *,
    reason: str,
    message: str = "",
    generation: int | None = None,
    kind: type[Model] | type[dict[str, Any]] | None = None,
    clock: Clock | None = None,
) -> bool:
    """Set a condition, and return whether anything changed. A change of its status sets the transition time.

    `on` is the object, its status or its list of conditions. `status` is True, False, None for unknown, or the API's
    string. `generation` is the generation of the spec that was observed. `kind` is the class of conditions, such as
    `Condition` or `dict`; it is needed only for an empty list that is passed without its status.
    """
    word = status if isinstance(status, str) else _STATUS_WORDS.get(status, repr(status))
    if word not in _STATUSES or not type or not reason:
        needed = "a type, a reason, and a status of True, False or Unknown"
        raise UsageError(f"a condition needs {needed}; got {type=}, {reason=} and status={word!r}")
    conditions = _conditions_of(on, create=True)
    condition = find_condition(conditions, type)
    if condition is None:
        condition = _kind_for(conditions, kind or _declared_kind(on), type)()
        conditions.append(condition)
    values: dict[str, object] = {"type": type, "status": word, "reason": reason, "message": message}
    if generation is not None:
        values["observed_generation"] = generation
    if _value(condition, "status") != word:
        values["last_transition_time"] = _timestamp(condition, (clock or SystemClock()).now())
    changes = [_set(condition, name, value) for name, value in values.items()]
    return any(changes)


@overload
def find_condition(on: list[C], type: str) -> C | None: ...
@overload
def find_condition(on: Unstructured | dict[str, Any], type: str) -> dict[str, Any] | None: ...
@overload
def find_condition(on: _TypedObject[C] | _TypedStatus[C], type: str) -> C | None: ...
@overload
def find_condition(on: HasConditions, type: str) -> Any: ...
def find_condition(on: object, type: str) -> object:
    """The condition of that type; None if there is none."""
    return next((each for each in _conditions_of(cast("HasConditions", on)) if _value(each, "type") == type), None)


def is_condition_true(on: HasConditions, type: str, *, generation: int | None = None) -> bool:
    """Whether the status of the condition is True; with `generation`, also whether that generation was observed."""
    found = find_condition(on, type)
    if found is None or _value(found, "status") != "True":
        return False
    return generation is None or _value(found, "observed_generation") == generation


def remove_condition(on: HasConditions, type: str) -> bool:
    """Remove the condition of that type, and return whether there was one."""
    conditions = _conditions_of(on)
    found = find_condition(conditions, type)
    if found is not None:
        conditions.remove(found)
    return found is not None


# --- lists of conditions ----------------------------------------------------------------------------------------------


def _conditions_of(on: HasConditions, *, create: bool = False) -> list[_Condition]:
    """The list of conditions; if it is missing, an empty one, which is stored in the object if `create`."""
    match on:
        case list():
            return on
        case Unstructured():
            status = on.setdefault("status", {}) if create else on.get("status", {})
            return _conditions_of(status, create=create)
        case dict():
            found: list[_Condition] = on.setdefault("conditions", []) if create else on.get("conditions", [])
            return found
        case Model() if hasattr(on, "conditions"):
            if on.conditions is None and create:
                on.conditions = []
            return [] if on.conditions is None else on.conditions
        case Object() if isinstance(status := getattr(on, "status", None), Model | dict):
            return _conditions_of(status, create=create)
    raise UsageError(
        f"{on!r} has no conditions: pass an object whose status has them, its status, or its list of conditions"
    )


def _declared_kind(on: HasConditions) -> type[_Condition] | None:
    """The class of conditions that the type of the status declares."""
    match on:
        case list():
            return None
        case dict() | Unstructured():
            return dict
        case Model():
            hints = (each.type for each in msgspec.structs.fields(type(on)) if each.name == "conditions")
            return next((kind for hint in hints for kind in _structures_in(hint)), None)
        case _:
            return _declared_kind(on.status)  # type: ignore[attr-defined]  # checked by _conditions_of


def _structures_in(hint: object) -> Iterator[type[_Condition]]:
    """The models and dicts in `list[Condition] | None`; models show their lists as tuples."""
    origin = get_origin(hint) or hint
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct | dict):
        yield origin
    else:
        for each in get_args(hint):
            yield from _structures_in(each)


def _kind_for(conditions: list[_Condition], known: type[_Condition] | None, type: str) -> type[_Condition]:
    kind = known or (conditions[0].__class__ if conditions else None)
    if kind is None:
        raise UsageError(
            f"cannot add the condition {type} to an empty list, whose element type is unknown: pass the object or its "
            "status in place of the list, or kind=, such as kind=Condition or kind=dict"
        )
    return kind


# --- one condition ----------------------------------------------------------------------------------------------------


def _timestamp(condition: object, now: datetime) -> str | datetime:
    # The API keeps whole seconds.
    now = now.astimezone(UTC).replace(microsecond=0)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(condition, dict) else now


def _value(condition: object, name: str) -> object:
    if isinstance(condition, dict):
        return condition.get(_WIRE_NAMES.get(name, name))
    return getattr(condition, name, None)


def _set(condition: object, name: str, value: object) -> bool:
    if _value(condition, name) == value:
        return False
    if isinstance(condition, dict):
        condition[_WIRE_NAMES.get(name, name)] = value
    elif hasattr(condition, name):  # not every kind of condition has an observed generation
        setattr(condition, name, value)
    else:
        return False
    return True
