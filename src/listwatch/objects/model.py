"""What an API type is made of: the Struct every nested type derives from, and the values that need a word of their own.

`object.py` holds whole objects; this module holds what lies inside them. `reading.py` and `writing.py` do the work.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec

from listwatch.objects.reading import Tree, convert
from listwatch.objects.writing import clone, to_tree

__all__ = ["MicroTime", "Model", "Quantity", "required_dict", "required_list"]

Quantity = Annotated[str, msgspec.Meta(extra={"wire": "quantity"})]
"""A resource quantity such as `"500m"`, as the API spells it; `listwatch.Quantity` computes with it."""

MicroTime = Annotated[datetime, msgspec.Meta(extra={"wire": "microtime"})]
"""A time that the API insists on reading with six digits after the second."""


class Model(msgspec.Struct, omit_defaults=True, repr_omit_defaults=True, rename="camel", gc=False):
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


def required_list() -> list[Any]:
    """The default of a list the API always writes, even when it is empty."""
    return []


def required_dict() -> dict[str, Any]:
    """The default of a map the API always writes, even when it is empty."""
    return {}
