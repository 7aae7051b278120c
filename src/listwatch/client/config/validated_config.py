"""Frozen values that check themselves and keep their secrets: the way `config` writes its dataclasses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, NamedTuple

from listwatch.errors import ConfigError

# A field with this metadata shows only that it was set.
HIDDEN = {"show": lambda _: "<hidden>"}


class _Annotation(NamedTuple):
    """How the values of fields with one annotation are checked, named in a complaint, and kept."""

    accepted: type | tuple[type, ...]
    words: str
    keep: Callable[[Any], Any] = lambda value: value


# By the annotation as it is written; others are not checked here.
_ANNOTATIONS: dict[object, _Annotation] = {
    "str": _Annotation(str, "a str"),
    "bytes": _Annotation(bytes, "bytes"),
    "bool": _Annotation(bool, "True or False"),
    "Sequence[str]": _Annotation((list, tuple), "a list of texts", tuple),
    "Mapping[str, str]": _Annotation(Mapping, "a mapping of texts", dict),
    "Mapping[str, Sequence[str]]": _Annotation(
        Mapping, "a mapping of lists of texts", lambda value: {key: tuple(several) for key, several in value.items()}
    ),
}
_UNCHECKED = _Annotation(object, "anything")


class Mistake(NamedTuple):
    """One thing that is wrong with a value, and the field it is about."""

    field: str
    message: str


class Checked(ABC):
    """A dataclass that cannot be made with a mistake in it, and that shows what was set but no secret."""

    __slots__ = ()

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in _fields(type(self))}
        complain(type(self).__name__, self.mistakes_in(values))
        for each in _fields(type(self)):
            # A frozen value does not change with the list that it was made of.
            object.__setattr__(self, each.name, _annotation(each).keep(values[each.name]))

    def __repr__(self) -> str:
        values = ((each, getattr(self, each.name)) for each in _fields(type(self)))
        shown = (f"{each.name}={_shown(each, value)}" for each, value in values if value != _default(each))
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def mistakes_in(cls, values: Mapping[str, Any]) -> list[Mistake]:
        """What would be wrong with a value of these fields and defaults for the others."""
        complete = {each.name: _default(each) for each in _fields(cls)} | dict(values)
        return list(_wrong_types(cls, complete)) or list(cls._rules(complete))

    @classmethod
    @abstractmethod
    def _rules(cls, values: Mapping[str, Any]) -> Iterator[Mistake]:
        """What is wrong with these fields, whose types are right."""


def complain(entry: str, mistakes: Sequence[Mistake]) -> None:
    """Raise one ConfigError for all of them; none is fine."""
    match mistakes:
        case []:
            return
        case [only]:
            raise ConfigError(only.message, entry=entry, field=only.field)
        case _:
            raise ConfigError("; ".join(": ".join(mistake) for mistake in mistakes), entry=entry)


def _fields(cls: type) -> tuple[Field[Any], ...]:
    return fields(cls)


def _default(each: Field[Any]) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return None if each.default is MISSING else each.default


def _shown(each: Field[Any], value: Any) -> str:
    show = each.metadata.get("show", repr)
    return str(show(value))


def _annotation(each: Field[Any]) -> _Annotation:
    return _ANNOTATIONS.get(each.type, _UNCHECKED)


def _wrong_types(cls: type, values: Mapping[str, Any]) -> Iterator[Mistake]:
    for each in _fields(cls):
        value, annotation = values[each.name], _annotation(each)
        if not isinstance(value, annotation.accepted):
            yield Mistake(each.name, f"must be {annotation.words}, is a {type(value).__name__}")
        elif isinstance(value, str) and not is_unicode(value):
            yield Mistake(each.name, "holds half a character, which cannot be sent")


def is_unicode(text: str) -> bool:
    """Whether it can be encoded; a str can hold one half of a UTF-16 pair, which JSON and YAML may smuggle in."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
