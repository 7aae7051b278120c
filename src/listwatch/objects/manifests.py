"""Objects as people write them: YAML in and out. Imported on first use, because PyYAML is slow to load."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import yaml

from listwatch.errors import DecodeError

__all__ = ["read_all", "read_one", "write"]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _ManifestLoader(_Loader):  # type: ignore[misc]  # the C loader if it is there
    """Reads YAML as Kubernetes does: times stay text, and a key given twice is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            seen: set[Any] = set()
            for key, _ in node.value:
                name = self.construct_object(key, deep=True)
                if name in seen:
                    line = key.start_mark.line + 1
                    raise DecodeError(f"the key {name!r} is given twice, again in line {line}", object_name="YAML")
                seen.add(name)
        return mapping


_ManifestLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def read_all(text: str | bytes) -> Iterator[Any]:
    """Each document that is not empty; the items of a `List` one by one."""
    try:
        for tree in yaml.load_all(text, Loader=_ManifestLoader):
            if isinstance(tree, dict) and tree.get("kind") == "List" and isinstance(tree.get("items"), list):
                yield from tree["items"]
            elif tree is not None:
                yield tree
    except yaml.YAMLError as error:
        raise DecodeError(" ".join(str(error).split()), object_name="YAML") from None
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name="YAML") from None


def read_one(text: str | bytes) -> Any:
    """The only document."""
    trees = list(read_all(text))
    if len(trees) != 1:
        raise DecodeError(f"expected one document, found {len(trees)}; all_from_yaml reads many", object_name="YAML")
    return trees[0]


def write(*trees: Any) -> str:
    """One document for each tree."""
    return yaml.dump_all(trees, Dumper=_Dumper, sort_keys=False, allow_unicode=True, explicit_start=len(trees) > 1)
