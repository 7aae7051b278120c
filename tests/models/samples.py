"""Sample objects of any kind, made from its types alone."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from listwatch.objects.object import Object

Draw = st.DrawFn

# A few fields of each type at a few levels: an object with everything set would be megabytes.
MOST_FIELDS = 4
MOST_LEVELS = 5

TIMES = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # hypothesis wants the bounds naive
QUANTITIES = st.sampled_from(["0", "500m", "1Gi", "1.5", "12e6"])
JSON = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
SCALARS: dict[type, st.SearchStrategy[Any]] = {
    inspect.StrType: st.text(max_size=8),
    inspect.IntType: st.integers(-(2**63), 2**63 - 1),
    inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
    inspect.BoolType: st.booleans(),
    inspect.BytesType: st.binary(max_size=8),
    inspect.DateTimeType: TIMES,
    inspect.AnyType: JSON,
    inspect.NoneType: st.none(),
    inspect.RawType: st.just(msgspec.Raw(b'{"f:spec":{}}')),
}


@st.composite
def objects(draw: Draw, kind: type[Object]) -> Object:
    """An object of a kind, built as a program builds it."""
    return draw_object(draw, kind, 0)


def draw_object(draw: Draw, kind: type[Object], level: int) -> Object:
    names = draw(st.sets(st.sampled_from(sorted(kind.lazy_fields)), max_size=MOST_FIELDS))
    infos = {name: inspect.type_info(kind.lazy_fields[name].type) for name in names}
    return kind(**{name: draw_value(draw, info, level + 1) for name, info in infos.items()})


def draw_value(draw: Draw, info: inspect.Type, level: int) -> Any:
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}):
            return draw(QUANTITIES)
        case inspect.Metadata(type=inner):
            return draw_value(draw, inner, level)
        case inspect.UnionType(types=types):
            return draw_value(draw, draw(st.sampled_from(types)), level)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [draw_value(draw, item, level) for _ in range(draw_size(draw, level))]
        case inspect.DictType(value_type=value):
            keys = draw(st.sets(st.text(max_size=5), max_size=draw_size(draw, level)))
            return {key: draw_value(draw, value, level) for key in sorted(keys)}
        case inspect.StructType(cls=cls, fields=fields):
            chosen = draw(st.sets(st.sampled_from(range(len(fields))), max_size=MOST_FIELDS)) if fields else set()
            if level >= MOST_LEVELS:
                chosen = set()
            return cls(**{fields[n].name: draw_value(draw, fields[n].type, level + 1) for n in sorted(chosen)})
        case inspect.CustomType(cls=cls):
            return draw_object(draw, cls, level)
        case _:
            return draw(SCALARS[type(info)])


def draw_size(draw: Draw, level: int) -> int:
    return draw(st.integers(0, 2)) if level < MOST_LEVELS else 0


def filled(info: inspect.Type, above: frozenset[type] = frozenset()) -> Any:
    """A value with every field of every type in it set to something that is no default, but no type inside itself."""
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}):
            return "500m"
        case inspect.Metadata(type=inner):
            return filled(inner, above)
        case inspect.UnionType(types=types):
            real = [each for each in types if not isinstance(each, inspect.NoneType)]
            fresh = [each for each in real if getattr(each, "cls", None) not in above]
            return filled(fresh[0], above) if fresh else None
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [] if getattr(item, "cls", None) in above else [filled(item, above)]
        case inspect.DictType(value_type=value):
            return {} if getattr(value, "cls", None) in above else {"key": filled(value, above)}
        case inspect.StructType(cls=cls, fields=fields):
            return cls(**{field.name: filled(field.type, above | {cls}) for field in fields})
        case inspect.CustomType(cls=cls):
            return cls.from_dict({"metadata": {"name": "inside"}})
        case _:
            return FILLED[type(info)]


FILLED: dict[type, Any] = {
    inspect.StrType: "text",
    inspect.IntType: 7,
    inspect.FloatType: 1.5,
    inspect.BoolType: True,
    inspect.BytesType: b"bytes",
    inspect.DateTimeType: datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    inspect.AnyType: {"any": [1, None]},
    inspect.RawType: msgspec.Raw(b'{"f:spec":{}}'),
}
