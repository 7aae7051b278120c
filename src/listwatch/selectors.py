"""Label and field selectors: parsing, matching and rendering as in the API server. Errors are `SelectorError`s.

    label selector   app=web  tier!=db  app in (web, api)  env notin (test)  owner  !legacy  replicas>3  replicas<9
    field selector   metadata.name=web-0  status.phase!=Running      with \\, \\= and \\\\ in values

Terms are separated by commas, and all of them must match. Equal selectors are rendered as equal strings.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Protocol, Self, TypeVar

from listwatch.errors import SelectorError

_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxother = 120
_show = _shortened.repr


class Operator(StrEnum):
    """The operator of a requirement; the value is its spelling in a selector."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = ""
    DOES_NOT_EXIST = "!"
    GREATER_THAN = ">"
    LESS_THAN = "<"


# --- Labels -----------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_INT64 = range(-(2**63), 2**63)

_WITHOUT_VALUES = (Operator.EXISTS, Operator.DOES_NOT_EXIST)
_WITH_VALUE_SET = (Operator.IN, Operator.NOT_IN)
_WITH_INTEGER = (Operator.GREATER_THAN, Operator.LESS_THAN)


def _check_label_key(key: str) -> None:
    if not isinstance(key, str):
        raise SelectorError(f"a label key must be a string, not {_show(key)}")
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= 253 and _DNS_SUBDOMAIN.fullmatch(prefix)):
        rule = "the prefix before '/' must be a DNS subdomain of at most 253 characters"
        raise SelectorError(f"{_show(key)} is not a valid label key: {rule}")
    if problem := _problem_of(name):
        raise SelectorError(f"{_show(key)} is not a valid label key: {'its name' if slash else 'it'} {problem}")


def _check_label_value(key: str, value: str) -> None:
    if not isinstance(value, str):
        raise SelectorError(f"label {key!r}: the value must be a string, not {_show(value)}")
    if value and (problem := _problem_of(value)):
        raise SelectorError(f"label {key!r}: {_show(value)} is not a valid value: it {problem}")


def _problem_of(name: str) -> str:
    if not 1 <= len(name) <= 63:
        return f"must have 1 to 63 characters, not {len(name)}"
    if not _NAME.fullmatch(name):
        return "must consist of letters, digits, '-', '_' and '.', and must begin and end with a letter or digit"
    return ""


def _integer(text: str) -> int | None:
    # The length check avoids Python's limit on the number of digits of an int.
    if len(text) > 1000 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


def _accepts_count(operator: Operator, count: int) -> bool:
    if operator in _WITHOUT_VALUES:
        return count == 0
    return count == 1 or (count > 1 and operator in _WITH_VALUE_SET)


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One term of a label selector: a valid key, an operator, and the valid values that it takes, sorted."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_label_key(self.key)
        for value in self.values:
            _check_label_value(self.key, value)
        object.__setattr__(self, "values", tuple(sorted(set(self.values))))
        if not _accepts_count(self.operator, len(self.values)):
            raise SelectorError(f"label {self.key!r}: {self.operator.name} does not take {len(self.values)} values")
        if self.operator in _WITH_INTEGER and _integer(self.values[0]) is None:
            raise SelectorError(f"label {self.key!r}: '{self.operator}' needs a 64-bit integer, not {self.values[0]!r}")

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS | Operator.DOES_NOT_EXIST:
                return f"{self.operator}{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(self.values)})"
            case _:
                return f"{self.key}{self.operator}{self.values[0]}"


@dataclass(frozen=True, slots=True)
class _Integers:
    """The label values that are integers within a range."""

    numbers: range

    def __contains__(self, label: object) -> bool:
        number = _integer(label) if isinstance(label, str) else None
        return number is not None and number in self.numbers  # `in range` is linear for other types than int


def _label_test(requirement: LabelRequirement) -> tuple[str, Container[str | None], bool]:
    """The key, a container of label values, and whether the label must be in it; a missing label is None."""
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case Operator.EXISTS:
            return key, (None,), False
        case Operator.DOES_NOT_EXIST:
            return key, (None,), True
        case Operator.EQUALS | Operator.IN:
            return key, frozenset(values), True
        case Operator.NOT_EQUALS | Operator.NOT_IN:
            return key, frozenset(values), False
        case Operator.GREATER_THAN:
            return key, _Integers(range(int(values[0]) + 1, _INT64.stop)), True
        case Operator.LESS_THAN:
            return key, _Integers(range(_INT64.start, int(values[0]))), True


class Labelled(Protocol):
    """Something with labels, such as every `Object`."""

    @property
    def labels(self) -> Mapping[str, str]: ...


_V = TypeVar("_V")
_LabelledT = TypeVar("_LabelledT", bound=Labelled)


@dataclass(frozen=True, slots=True, repr=False)
class LabelSelector:
    """Selects objects whose labels meet every requirement; an empty selector selects all objects."""

    requirements: tuple[LabelRequirement, ...] = ()
    _tests: tuple[tuple[str, Container[str | None], bool], ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        requirements = tuple(sorted(self.requirements, key=attrgetter("key")))
        object.__setattr__(self, "requirements", requirements)
        object.__setattr__(self, "_tests", tuple(map(_label_test, requirements)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the string form; the empty string selects everything."""
        return cls(tuple(_LabelParser(text).requirements()))

    @classmethod
    def from_dict(cls, selector: Mapping[str, object] | None) -> Self:
        """Read the structured form with `matchLabels` and `matchExpressions`: None selects nothing, {} everything."""
        return cls(tuple(_requirements_from_api(selector)) if selector is not None else _NOTHING)

    @classmethod
    def everything(cls) -> Self:
        return cls()

    @classmethod
    def nothing(cls) -> Self:
        """A selector that matches no object, also when it is sent to a server."""
        return cls(_NOTHING)

    @property
    def is_empty(self) -> bool:
        """True if there are no requirements, so that every object matches."""
        return not self.requirements

    @property
    def is_nothing(self) -> bool:
        """True if this is `nothing()`; other contradictions are not detected."""
        return self.requirements == _NOTHING

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """True if an object with these labels is selected; None means an object without labels."""
        if labels is None:
            labels = {}
        for key, values, wanted in self._tests:  # noqa: SIM110  # runs per cached object; `all` takes twice as long
            if (labels.get(key) in values) is not wanted:
                return False
        return True

    def select(
        self, items: Iterable[_LabelledT], narrowed: Callable[..., list[_LabelledT]] | None = None
    ) -> list[_LabelledT]:
        """The items that match; faster than calling `matches` for each.

        A class of items may have a faster function than `narrowed_by_label`, which is called for each requirement.
        """
        found = list(items)
        for key, values, wanted in self._tests:
            found = (narrowed or narrowed_by_label)(found, key, values, wanted=wanted)
        return found

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"LabelSelector({str(self)!r})"


def narrowed_by_label(
    items: list[_LabelledT], key: str, values: Container[str | None], *, wanted: bool
) -> list[_LabelledT]:
    """The items whose label is one of the values or, if not wanted, none of them; a missing label is None."""
    return [item for item in items if (item.labels.get(key) in values) is wanted]


_NOTHING = (LabelRequirement("nothing", Operator.EXISTS), LabelRequirement("nothing", Operator.DOES_NOT_EXIST))

LabelSelectorLike = str | Mapping[str, str | Collection[str] | None] | LabelSelector | None


def parse_label_selector(value: LabelSelectorLike) -> LabelSelector:
    """A selector from a string, a mapping, a selector, or None for everything.

    In a mapping, a string means `=`, a list, tuple or set means `in`, and None means that the label exists.
    """
    match value:
        case LabelSelector():
            return value
        case None:
            return LabelSelector()
        case str():
            return _parsed(value)
        case Mapping():
            return LabelSelector(tuple(_requirement_from_pair(key, wanted) for key, wanted in value.items()))
    raise SelectorError(f"a label selector must be a string, a mapping, a LabelSelector or None, not {_show(value)}")


# Programs select with a few selectors again and again, and parsing one takes as long as reading a hundred objects.
_parsed = lru_cache(maxsize=256)(LabelSelector.parse)


def _requirement_from_pair(key: str, wanted: object) -> LabelRequirement:
    match wanted:
        case None:
            return LabelRequirement(key, Operator.EXISTS)
        case str():
            return LabelRequirement(key, Operator.EQUALS, (wanted,))
        case list() | tuple() | set() | frozenset():
            return LabelRequirement(key, Operator.IN, tuple(wanted))
    hint = "; use LabelSelector.from_dict for the structured form" if key in ("matchLabels", "matchExpressions") else ""
    expected = "a string, a list, tuple or set of strings, or None for 'exists'"
    raise SelectorError(f"label {_show(key)}: expected {expected}, not {_show(wanted)}{hint}")


_API_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def _requirements_from_api(selector: Mapping[str, object]) -> Iterator[LabelRequirement]:
    # Ignoring an unknown field would select more than intended.
    if unknown := set(_typed(selector, Mapping, "it")) - {"matchLabels", "matchExpressions"}:
        raise SelectorError(f"label selector: expected matchLabels and matchExpressions, not {_show(unknown)}")
    for key, value in _typed(selector.get("matchLabels") or {}, Mapping, "matchLabels").items():
        yield LabelRequirement(key, Operator.EQUALS, (value,))
    for index, each in enumerate(_typed(selector.get("matchExpressions") or (), (list, tuple), "matchExpressions")):
        where = f"matchExpressions[{index}]"
        expression = _typed(each, Mapping, where)
        operator = _API_OPERATORS.get(_typed(expression.get("operator"), str, f"{where}.operator"))
        if operator is None:
            raise SelectorError(f"label selector: {where}.operator must be one of {', '.join(_API_OPERATORS)}")
        values = _typed(expression.get("values") or (), (list, tuple), f"{where}.values")
        yield LabelRequirement(expression.get("key", ""), operator, tuple(values))


def _typed(value: object, expected: type[_V] | tuple[type[_V], ...], where: str) -> _V:
    if isinstance(value, expected):
        return value
    raise SelectorError(f"label selector: {where} must not be {_show(value)}")


_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+|\Z)")
_SYMBOLS = frozenset(("==", "!=", *"=!<>(),", ""))
_INFIX = {"==": Operator.EQUALS, **{each.value: each for each in Operator if each not in _WITHOUT_VALUES}}


class _LabelParser:
    """A recursive-descent parser for one label selector, with one token of lookahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.finditer(text)
        self._advance()

    def requirements(self) -> Iterator[LabelRequirement]:
        if not self._token:
            return
        yield self._requirement()
        while self._accept(","):
            yield self._requirement()
        self._expect("", "',' or the end")

    def _requirement(self) -> LabelRequirement:
        absent = self._accept("!")
        position = self._position
        key = self._word("a label key" if absent else "a label key or '!'")
        operator, values = (Operator.DOES_NOT_EXIST, ()) if absent else self._restriction()
        try:
            return LabelRequirement(key, operator, values)
        except SelectorError as error:
            raise _parse_error("label", self._text, position, str(error)) from None

    def _restriction(self) -> tuple[Operator, tuple[str, ...]]:
        if self._token in ("", ","):
            return Operator.EXISTS, ()
        operator = _INFIX.get(self._token)
        if operator is None:
            raise self._unexpected("an operator (=, ==, !=, in, notin, >, <), ',' or the end")
        self._advance()
        return operator, self._value_set() if operator in _WITH_VALUE_SET else (self._value(until=("", ",")),)

    def _value_set(self) -> tuple[str, ...]:
        self._expect("(", "'(' before the values")
        values = [self._value(until=(",", ")"))]
        while self._accept(","):
            values.append(self._value(until=(",", ")")))
        self._expect(")", "',' or ')' after a value")
        return tuple(values)

    def _value(self, *, until: tuple[str, ...]) -> str:
        """The next word, or the empty value if one of the given symbols follows."""
        return "" if self._token in until else self._word("a value")

    def _word(self, expected: str) -> str:
        word = self._token
        if word in _SYMBOLS:
            raise self._unexpected(expected)
        self._advance()
        return word

    def _accept(self, symbol: str) -> bool:
        accepted = self._token == symbol
        if accepted:
            self._advance()
        return accepted

    def _expect(self, symbol: str, expected: str) -> None:
        if not self._accept(symbol):
            raise self._unexpected(expected)

    def _advance(self) -> None:
        token = next(self._tokens, None)
        self._token, self._position = (token[1], token.start(1)) if token else ("", len(self._text))

    def _unexpected(self, expected: str) -> SelectorError:
        found = _show(self._token) if self._token else "the end"
        return _parse_error("label", self._text, self._position, f"expected {expected}, found {found}")


def _parse_error(kind: str, text: str, position: int, reason: str) -> SelectorError:
    return SelectorError(f"cannot parse {kind} selector {_show(text)} at position {position}: {reason}", text=text)


# --- Fields -----------------------------------------------------------------------------------------------------------

_FIELD = re.compile(r"[^\s\\,=!]+")
_TERM = re.compile(r"(?:[^\\,]+|\\.?)+", re.DOTALL)
_TERM_PARTS = re.compile(r"(.*?)(!=|==?)(.*)", re.DOTALL)
_ESCAPED_VALUE = re.compile(r"(?:[^\\,=]+|\\[\\,=])*")


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One term of a field selector: the field equals the value, or does not; a missing field is the empty string."""

    field: str
    operator: Operator
    value: str

    def __post_init__(self) -> None:
        if not _is_sendable(self.field) or not _FIELD.fullmatch(self.field):
            raise SelectorError(
                f"{_show(self.field)} is not a valid field: it must be a string without spaces and \\ , = !"
            )
        if self.operator not in (Operator.EQUALS, Operator.NOT_EQUALS):
            raise SelectorError(f"field {self.field!r}: fields support only '=' and '!=', not {self.operator.name}")
        if not _is_sendable(self.value):
            raise SelectorError(f"field {self.field!r}: the value must be valid Unicode, not {_show(self.value)}")

    def accepts(self, value: str) -> bool:
        return (value == self.value) is (self.operator is Operator.EQUALS)

    def __str__(self) -> str:
        return self.field + self.operator + re.sub(r"([\\,=])", r"\\\1", self.value)


@dataclass(frozen=True, slots=True, repr=False)
class FieldSelector:
    """Selects objects whose fields meet every requirement; an empty selector selects all objects."""

    requirements: tuple[FieldRequirement, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(self.requirements, key=str)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the string form; empty terms are ignored, and the empty string selects everything."""
        return cls(tuple(_parse_field_term(text, term) for term in _TERM.finditer(text)))

    @property
    def is_empty(self) -> bool:
        """True if there are no requirements, so that every object matches."""
        return not self.requirements

    def matches(self, fields: Mapping[str, str] | Callable[[str], str | None]) -> bool:
        """True if an object with these fields is selected; a function is called with each field name."""
        lookup = fields if callable(fields) else fields.get
        return all(each.accepts(lookup(each.field) or "") for each in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"FieldSelector({str(self)!r})"


FieldSelectorLike = str | Mapping[str, str] | FieldSelector | None


def parse_field_selector(value: FieldSelectorLike) -> FieldSelector:
    """A selector from a string, a mapping of field names to values, a selector, or None for everything."""
    match value:
        case FieldSelector():
            return value
        case None:
            return FieldSelector()
        case str():
            return FieldSelector.parse(value)
        case Mapping():
            return FieldSelector(tuple(FieldRequirement(name, Operator.EQUALS, each) for name, each in value.items()))
    raise SelectorError(f"a field selector must be a string, a mapping, a FieldSelector or None, not {_show(value)}")


def _parse_field_term(text: str, term: re.Match[str]) -> FieldRequirement:
    parts = _TERM_PARTS.fullmatch(text, term.start(), term.end())
    if parts is None:
        raise _parse_error("field", text, term.start(), f"expected field=value or field!=value, found {_show(term[0])}")
    name, sign, _ = parts.groups()
    value = _unescaped(text, *parts.span(3))
    try:
        return FieldRequirement(name, Operator.NOT_EQUALS if sign == "!=" else Operator.EQUALS, value)
    except SelectorError as error:
        raise _parse_error("field", text, term.start(), str(error)) from None


def _unescaped(text: str, start: int, end: int) -> str:
    readable = _ESCAPED_VALUE.match(text, start, end)
    stop = readable.end() if readable else start
    if stop < end:
        reason = "'\\' must be followed by '\\', ',' or '='" if text[stop] == "\\" else "write '=' in a value as '\\='"
        raise _parse_error("field", text, stop, reason)
    return re.sub(r"\\(.)", r"\1", text[start:end])


def _is_sendable(text: object) -> bool:
    """A lone surrogate is a valid str in Python but cannot be part of a URL."""
    return isinstance(text, str) and not re.search("[\ud800-\udfff]", text)
