"""Objects as people write them: YAML in and out. Imported on first use, because PyYAML is slow to load.

It is read as Kubernetes reads it, which knows no times and no numbers to the base of 60, and within bounds: a text may
come from anywhere, and a small one can stand for more than fits into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from yaml.composer import Composer

from listwatch.errors import DecodeError, EncodeError

__all__ = ["read_all", "read_one", "write"]

# PyYAML's own C composer recurses without a limit and takes the process down; the one in Python is nearly as fast.
_LOADERS: Any = (Composer, yaml.CSafeLoader) if yaml.__with_libyaml__ else (yaml.SafeLoader,)
_SafeDumper: Any = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper

_ALIASES_MAY_ADD = 1_000_000

_BOOL, _FLOAT, _INT, _MERGE, _NULL, _STR, _TIMESTAMP = (
    f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "int", "merge", "null", "str", "timestamp")
)


class _Loader(*_LOADERS):  # type: ignore[misc]  # which ones depends on how PyYAML was built
    """Reads documents whose keys are texts, each given once, and whose aliases do not stand for too much."""

    def __init__(self, text: str | bytes) -> None:
        _LOADERS[-1].__init__(self, text)
        Composer.__init__(self)
        self._size = 0
        self._limit = 2 * len(text) + _ALIASES_MAY_ADD
        self._sizes: dict[yaml.Node, int] = {}
        self._flattened: set[yaml.Node] = set()

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        before, is_alias = self._size, self.check_event(yaml.AliasEvent)
        if not is_alias:
            self.anchors.pop(self.peek_event().anchor, None)  # YAML lets a name be given anew; PyYAML does not
        node: yaml.Node = super().compose_node(parent, index)
        if is_alias and node not in self._sizes:
            raise DecodeError(f"it holds itself, by the alias in {_line(node)}", object_name="YAML")
        self._size += self._sizes[node] if is_alias else 1 + len(node.value) * isinstance(node, yaml.ScalarNode)
        if self._size > self._limit:
            raise DecodeError("its aliases stand for too much", object_name="YAML")
        self._sizes.setdefault(node, self._size - before)
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag = super().resolve(kind, value, implicit)
        return _STR if tag == _TIMESTAMP or (tag in (_INT, _FLOAT) and ":" in value) else tag

    def construct_object(self, node: yaml.Node, **options: Any) -> Any:
        try:
            return super().construct_object(node, **options)
        except (ValueError, TypeError, LookupError, AttributeError):
            # All of these PyYAML lets out. What they say of a value is not repeated: it may be a secret.
            raise DecodeError(f"the value in {_line(node)} does not fit its tag", object_name="YAML") from None

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Once only: afterwards, what was merged in is among the keys and may be among them twice.
        if node not in self._flattened:
            self._flattened.add(node)
            self._check_keys(node)
            super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        names = set()
        for key, _ in node.value:
            if key.tag in (_BOOL, _NULL):
                raise DecodeError(f"the key {key.value!r} in {_line(key)} is no text; quote it", object_name="YAML")
            if key.tag in (_INT, _FLOAT):
                key.tag = _STR  # as it is written: ports are popular keys
            if key.tag == _STR and key.value in names:
                raise DecodeError(f"the key {key.value!r} is given twice, again in {_line(key)}", object_name="YAML")
            names.add(key.value if key.tag == _STR else None)


class _Dumper(_SafeDumper):  # type: ignore[misc]  # the C dumper if it is there
    """Writes texts of several lines as such."""


def _represent_text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar(_STR, text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def read_all(text: str | bytes) -> Iterator[Any]:
    """Each document that is not empty; the items of a list one by one."""
    try:
        for tree in yaml.load_all(text, Loader=_Loader):
            match tree:
                case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
                    yield from (_named(item, tree) for item in items)
                case _ if tree is not None:
                    yield tree
    except yaml.MarkedYAMLError as error:
        where = f", in {_line(error)}" if error.problem_mark else ""
        raise DecodeError(f"{error.problem or error.context}{where}", object_name="YAML") from None
    except yaml.YAMLError as error:
        raise DecodeError(str(error), object_name="YAML") from None
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name="YAML") from None
    except UnicodeError:
        raise DecodeError("a string in it contains a lone surrogate", object_name="YAML") from None


def read_one(text: str | bytes) -> Any:
    """The only document."""
    trees = list(read_all(text))
    if len(trees) != 1:
        raise DecodeError(f"expected one object, found {len(trees)}; all_from_yaml reads many", object_name="YAML")
    return trees[0]


def write(*trees: Any) -> str:
    """One document for each tree."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 1_000_000}
    try:
        text: str = yaml.dump_all(trees, Dumper=_Dumper, explicit_start=len(trees) > 1, **options)
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name="YAML") from None
    return text


def _named(item: Any, listed: dict[str, Any]) -> Any:
    """An item with the kind that only its list says, unless that is the list of anything."""
    kind = listed["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or "kind" in item:
        return item
    return {"apiVersion": listed.get("apiVersion"), "kind": kind, **item}


def _line(found: Any) -> str:
    mark = getattr(found, "problem_mark", None) or found.start_mark
    return f"line {mark.line + 1}, column {mark.column + 1}"
