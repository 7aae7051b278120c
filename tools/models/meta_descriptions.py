"""Reads the descriptions of the types that every kind uses, such as ObjectMeta; they have no stubs."""

from __future__ import annotations

import json
from pathlib import Path

from listwatch import blocking
from listwatch.client import ClientConfig
from listwatch.server.schema.schema import builtin_schema

__all__ = ["write_meta_descriptions"]

_OUTPUT = Path(__file__).parents[2] / "src" / "listwatch" / "server" / "openapi" / "meta_descriptions.json"
_DOCUMENTS = ("api/v1", "apis/apiextensions.k8s.io/v1")
_PREFIX = "io.k8s.apimachinery."


def write_meta_descriptions(config: ClientConfig) -> None:
    """Write the descriptions that a real server has."""
    schema = builtin_schema()
    names = {schema.type(name).definition: name for name in schema.type_names()}
    found: dict[str, dict[str, object]] = {}
    with blocking.RESTClient(config) as rest:
        for document in _DOCUMENTS:
            trees = json.loads(rest.get().abs_path(f"/openapi/v3/{document}").do().raw)["components"]["schemas"]
            for definition, tree in trees.items():
                if definition.startswith(_PREFIX) and definition in names:
                    fields = {name: each.get("description", "") for name, each in tree.get("properties", {}).items()}
                    described = {name: text for name, text in fields.items() if text}
                    found[names[definition]] = {"text": tree.get("description", ""), "fields": described}
    _OUTPUT.write_text(json.dumps(dict(sorted(found.items())), indent=0, ensure_ascii=False, sort_keys=True) + "\n")
