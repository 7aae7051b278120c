"""YAML manifests. Imported on first use, because PyYAML is slow to import.

YAML is read as Kubernetes reads it: without timestamps and base-60 numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import yaml

from listwatch.errors import DecodeError, EncodeError
from listwatch.objects.json.reading import Tree
from listwatch.objects.yaml.yaml_loader import AliasExpansionError, BoundedLoader, NestingError, RecursiveAliasError

__all__ = ["Document", "read_all", "read_documents", "read_one", "write"]

_SafeDumper: Any = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper

_BOOL, _FLOAT, _INT, _MERGE, _NULL, _STR, _TIMESTAMP, _VALUE = (
    f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "int", "merge", "null", "str", "timestamp", "value")
)


class _Loader(BoundedLoader):
    """Reads documents with unique string keys."""

    def __init__(self, text: str | bytes) -> None:
        super().__init__(text)
        self._flattened: set[yaml.Node] = set()

    def resolve(self, kind: type[yaml.Node], value: str, implicit: object) -> object:
        tag = super().resolve(kind, value, implicit)
        # A plain = is a string; PyYAML takes it for the default key of YAML 1.1, which it cannot construct.
        return _STR if tag in (_TIMESTAMP, _VALUE) or (tag in (_INT, _FLOAT) and ":" in value) else tag

    def construct_object(self, node: yaml.Node, **options: bool) -> object:
        try:
            return super().construct_object(node, **options)
        except (ValueError, TypeError, LookupError, AttributeError):
            # PyYAML raises all of these. Their messages may contain a secret value.
            raise DecodeError(f"the value at {_line(node)} does not match its tag", object_name="YAML") from None

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Only once: merged keys become ordinary keys, and may then occur twice.
        if node not in self._flattened:
            self._flattened.add(node)
            self._check_keys(node)
            super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        names = set()
        for key, _ in node.value:
            if key.tag in (_BOOL, _NULL):
                raise DecodeError(
                    f"the key {key.value!r} at {_line(key)} is not a string; quote it", object_name="YAML"
                )
            if key.tag in (_INT, _FLOAT):
                key.tag = _STR  # as written: ports are common keys
            if key.tag == _STR and key.value in names:
                raise DecodeError(f"duplicate key {key.value!r} at {_line(key)}", object_name="YAML")
            names.add(key.value if key.tag == _STR else None)


class _Dumper(_SafeDumper):  # type: ignore[misc]  # the C dumper if it is installed
    """Writes multi-line strings as block scalars."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_STR, text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


class Document(NamedTuple):
    """One object of a file, and the number of its document, counted from 1."""

    number: int
    tree: Tree


def read_all(text: str | bytes) -> Iterator[Tree]:
    """Each non-empty document; the items of a list one by one."""
    return (each.tree for each in read_documents(text))


def read_documents(text: str | bytes) -> Iterator[Document]:
    """Each non-empty document with its number; the items of a list one by one. The errors name the document."""
    documents = _documents(text)
    for number in count(1):
        try:
            tree = next(documents)
        except StopIteration:
            return
        except DecodeError as error:
            error.message = f"document {number}: {error.message}" if number > 1 else error.message
            raise
        match tree:
            case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
                yield from (Document(number, _named(item, tree)) for item in items)
            case {"kind": "List", "apiVersion": "v1", **rest}:
                if rest.get("items") is not None:
                    raise DecodeError(f"document {number}: the items of the List are not a list", object_name="YAML")
            case _ if tree is not None:
                yield Document(number, tree)


def _documents(text: str | bytes) -> Iterator[Tree]:
    try:
        yield from yaml.load_all(text, Loader=_Loader)
    except RecursiveAliasError as error:
        raise DecodeError(f"the alias at {_line(error)} is recursive", object_name="YAML") from None
    except AliasExpansionError:
        raise DecodeError("its aliases expand to too much data", object_name="YAML") from None
    except (NestingError, RecursionError):
        raise DecodeError("it is nested too deeply", object_name="YAML") from None
    except yaml.MarkedYAMLError as error:
        where = f" at {_line(error)}" if error.problem_mark else ""
        raise DecodeError(f"{error.problem or error.context}{where}", object_name="YAML") from None
    except yaml.YAMLError as error:
        raise DecodeError(str(error), object_name="YAML") from None
    except UnicodeError:
        raise DecodeError("a string in it contains a lone surrogate", object_name="YAML") from None


def read_one(text: str | bytes) -> Tree:
    """The only document."""
    trees = list(read_all(text))
    if len(trees) != 1:
        raise DecodeError(f"expected one object, found {len(trees)}; use all_from_yaml for several", object_name="YAML")
    return trees[0]


def write(*trees: object) -> str:
    """One document per tree."""
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 1_000_000}
    try:
        text: str = yaml.dump_all(trees, Dumper=_Dumper, explicit_start=len(trees) > 1, **options)
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name="YAML") from None
    return text


def _named(item: object, listed: Mapping[str, str]) -> object:
    """An item with the kind of its list, if it has none itself and the list is not of mixed kinds."""
    kind = listed["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or "kind" in item:
        return item
    return {"apiVersion": listed.get("apiVersion"), "kind": kind, **item}


def _line(found: yaml.Node | yaml.MarkedYAMLError) -> str:
    mark = found.problem_mark if isinstance(found, yaml.MarkedYAMLError) else found.start_mark
    assert mark is not None
    return f"line {mark.line + 1}, column {mark.column + 1}"
