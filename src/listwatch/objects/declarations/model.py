"""The base class of nested API types, and the annotated types of quantities and times.

`object.py` has whole objects, this module what is inside them. `reading.py` and `writing.py` convert from and to JSON.
"""

from __future__ import annotations

from datetime import datetime
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Annotated, Any, Self, dataclass_transform

import msgspec
from msgspec import field

from listwatch.objects.json.reading import Tree, convert
from listwatch.objects.lists import StructWithLists, equal, lists_by_default, required_list
from listwatch.objects.writing import clone, to_tree

__all__ = ["MicroTime", "Model", "Quantity", "field", "required_dict", "required_list"]

Quantity = Annotated[str, msgspec.Meta(extra={"wire": "quantity"})]
"""A resource quantity as a string, such as `"500m"`; `listwatch.Quantity` computes with it."""

MicroTime = Annotated[datetime, msgspec.Meta(extra={"wire": "microtime"})]
"""A time that the API requires with microseconds."""


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Model(
    msgspec.Struct, metaclass=StructWithLists, omit_defaults=True, repr_omit_defaults=True, rename="camel", gc=False
):
    """A nested API type: annotated fields in snake_case, with the camelCase names of the API in JSON.

    Not sent are fields that are None, and lists and maps that are empty, where that is their default.
    """

    # gc=False: the data cannot contain reference cycles, and garbage collections over millions of structs are slow.

    @classmethod
    def from_dict(cls, tree: Tree) -> Self:
        """Create a value from a dict of wire names. Unknown fields are dropped; only whole objects keep them."""
        value: Self = convert(tree, cls, what=cls.__name__)
        return value

    def to_dict(self) -> dict[str, Any]:
        """The value as a new dict of wire names."""
        tree: dict[str, Any] = to_tree(self, type(self), what=type(self).__name__)
        return tree

    def copy(self) -> Self:
        """An independent copy."""
        duplicate: Self = clone(self, type(self))
        return duplicate

    if not TYPE_CHECKING:  # type checkers know these methods of a struct
        __eq__ = equal
        __hash__ = msgspec.Struct.__hash__

    @recursive_repr("...")
    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        shown = [(name, getattr(self, name)) for name, _ in super().__rich_repr__()]
        hidden = lists_by_default(type(self)) if self.__struct_config__.repr_omit_defaults else {}
        return [(name, value) for name, value in shown if value != [] or name not in hidden]


def required_dict() -> dict[str, Any]:
    """The default of a map that the API always writes, even if it is empty."""
    return {}
