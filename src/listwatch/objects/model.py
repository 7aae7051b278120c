"""What an API type is made of: the Struct every nested type derives from, and the values that need a word of their own.

`object.py` holds whole objects; this module holds what lies inside them. `reading.py` and `writing.py` do the work.
"""

from __future__ import annotations

from datetime import datetime
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec

from listwatch.objects.lists import StructWithLists, equal, lists_by_default, required_list
from listwatch.objects.reading import Tree, convert
from listwatch.objects.writing import clone, to_tree

__all__ = ["MicroTime", "Model", "Quantity", "required_dict", "required_list"]

Quantity = Annotated[str, msgspec.Meta(extra={"wire": "quantity"})]
"""A resource quantity such as `"500m"`, as the API spells it; `listwatch.Quantity` computes with it."""

MicroTime = Annotated[datetime, msgspec.Meta(extra={"wire": "microtime"})]
"""A time that the API insists on reading with six digits after the second."""


class Model(
    msgspec.Struct, metaclass=StructWithLists, omit_defaults=True, repr_omit_defaults=True, rename="camel", gc=False
):
    """A nested API type: attributes are snake_case, the wire has the API's own names, what is unset is not sent."""

    # gc=False: these hold data that cannot refer back to its holder, and collector passes over
    # millions of them are what makes other clients slow.

    @classmethod
    def from_dict(cls, tree: Tree) -> Self:
        """Read the wire form. What the type does not know is dropped: only whole objects keep it."""
        value: Self = convert(tree, cls, what=cls.__name__)
        return value

    def to_dict(self) -> dict[str, Any]:
        """The wire form, as a dict of its own."""
        tree: dict[str, Any] = to_tree(self, type(self), what=type(self).__name__)
        return tree

    def copy(self) -> Self:
        """An independent copy: changing either never shows in the other."""
        twin: Self = clone(self, type(self))
        return twin

    if not TYPE_CHECKING:  # type checkers know what a struct has of these
        __eq__ = equal
        __hash__ = msgspec.Struct.__hash__

    @recursive_repr("...")
    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        shown = [(name, getattr(self, name)) for name, _ in super().__rich_repr__()]
        unshown = lists_by_default(type(self)) if self.__struct_config__.repr_omit_defaults else {}
        return [(name, value) for name, value in shown if value != [] or name not in unshown]


def required_dict() -> dict[str, Any]:
    """The default of a map the API always writes, even when it is empty."""
    return {}
