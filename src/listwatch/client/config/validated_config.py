"""The base of the configuration dataclasses: fields are validated on creation, and secrets are hidden in `repr`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import NamedTuple, TypeVar

from listwatch.errors import ConfigError

# A field with this metadata shows only that it is set.
HIDDEN = {"show": lambda _: "<hidden>"}

# The accepted types and their description, by the annotation as it is written. Other annotations are not checked here.
_TYPES: dict[object, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a str"),
    "bytes": (bytes, "bytes"),
    "bool": (bool, "True or False"),
    "Sequence[str]": ((list, tuple), "a list of strings"),
    "Mapping[str, str]": (Mapping, "a mapping of strings"),
    "Mapping[str, Sequence[str]]": (Mapping, "a mapping of lists of strings"),
}


ConfigT = TypeVar("ConfigT", bound="ValidatedConfig")


class ConfigProblem(NamedTuple):
    """What is wrong with one field of a configuration."""

    field: str
    message: str


class ValidatedConfig(ABC):
    """A frozen dataclass that raises one ConfigError for all of its invalid fields, and shows no secret."""

    __slots__ = ()

    def __post_init__(self) -> None:
        raise_problems(type(self).__name__, _problems_of(self))
        for each in _fields(type(self)):
            if each.type in _TYPES:
                object.__setattr__(self, each.name, _immutable(getattr(self, each.name)))

    def __repr__(self) -> str:
        values = ((each, getattr(self, each.name)) for each in _fields(type(self)))
        shown = (f"{each.name}={_shown(each, value)}" for each, value in values if value != _default(each))
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def _problems(self) -> Iterator[ConfigProblem]:
        """Yield what is wrong with the values of the fields. Their types have been checked."""


def find_problems(kind: type[ValidatedConfig], values: Mapping[str, object]) -> list[ConfigProblem]:
    """Return what would be wrong with an instance of these values, with defaults for the other fields."""
    candidate = object.__new__(kind)
    for each in _fields(kind):
        object.__setattr__(candidate, each.name, values[each.name] if each.name in values else _default(each))
    return _problems_of(candidate)


def build_config(kind: type[ConfigT], values: Mapping[str, object]) -> ConfigT:
    """Return an instance of these values, each of which may be of any type until it has been validated."""
    return kind(**values)


def raise_problems(entry: str, problems: Sequence[ConfigProblem]) -> None:
    """Raise one ConfigError that names all problems; do nothing if there are none."""
    match problems:
        case []:
            return
        case [only]:
            raise ConfigError(only.message, entry=entry, field=only.field)
        case _:
            raise ConfigError("; ".join(": ".join(problem) for problem in problems), entry=entry)


def is_encodable(text: str) -> bool:
    """Whether the text has a UTF-8 form; half of a surrogate pair, which JSON and YAML allow, has none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _problems_of(config: ValidatedConfig) -> list[ConfigProblem]:
    return list(_type_problems(config)) or list(config._problems())


def _type_problems(config: ValidatedConfig) -> Iterator[ConfigProblem]:
    for each in _fields(type(config)):
        value = getattr(config, each.name)
        accepted, description = _TYPES.get(each.type, (object, ""))
        if not isinstance(value, accepted):
            yield ConfigProblem(each.name, f"must be {description}, is a {type(value).__name__}")
        elif isinstance(value, str) and not is_encodable(value):
            yield ConfigProblem(each.name, "contains half of a surrogate pair, which cannot be encoded")


def _immutable(value: object) -> object:
    """Copy lists and mappings, so that the config does not change with its arguments."""
    match value:
        case list() | tuple():
            return tuple(value)
        case Mapping():
            return {key: _immutable(each) for key, each in value.items()}
    return value


def _fields(kind: type) -> tuple[Field[object], ...]:
    return fields(kind)


def _default(each: Field[object]) -> object:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return None if each.default is MISSING else each.default


def _shown(each: Field[object], value: object) -> str:
    return str(each.metadata.get("show", repr)(value))
