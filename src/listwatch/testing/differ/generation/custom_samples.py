"""The custom resources of the generated scenarios: their definitions, and one valid object of each."""

from __future__ import annotations

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.samples import Kind
from listwatch.testing.differ.scenarios import Request

__all__ = ["CUSTOM_KINDS", "DEFINITIONS"]

GROUP = "differ.example.com"
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _number(**limits: JSON) -> JSON:
    return {"type": "integer", **limits}


_SPEC: JSONObject = {
    "type": "object",
    "required": ["size"],
    "x-kubernetes-validations": [
        {"rule": "!has(self.max) || self.size <= self.max", "message": "size exceeds max", "fieldPath": ".size"},
        {"rule": "!has(oldSelf.color) || self.?color.orValue('') == oldSelf.color", "reason": "FieldValueForbidden"},
    ],
    "properties": {
        "size": _number(format="int32", minimum=0, maximum=100),
        "max": _number(minimum=0),
        "ratio": {"type": "number", "multipleOf": 0.5, "exclusiveMinimum": True, "minimum": 0},
        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "code": {"type": "string", "pattern": "^[a-z]{2,4}$", "maxLength": 3},
        "note": {"type": "string", "nullable": True},
        "port": {"x-kubernetes-int-or-string": True},
        "until": {"type": "string", "format": "date-time"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "maxItems": 3, "items": {"type": "string"}},
        "steps": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "retries": _number(default=3)},
            },
        },
        "args": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {"zone": {"type": "string"}, "row": _number()},
        },
        "choice": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
    },
}
_STATUS: JSONObject = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "replicas": _number(),
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
            },
        },
    },
}
_SCHEMA: JSONObject = {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS}}
_ANYTHING: JSONObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_COLUMNS: JSON = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "its color"},
    {"name": "Steps", "type": "string", "jsonPath": ".spec.steps[*].name", "priority": 1},
    {"name": "Until", "type": "date", "jsonPath": ".spec.until"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def _version(name: str, *, storage: bool = False, schema: JSON, **more: JSON) -> JSON:
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


_WIDGETS: JSONObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
        "versions": [
            _version(
                "v1",
                storage=True,
                schema=_SCHEMA,
                subresources={
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"},
                },
                additionalPrinterColumns=_COLUMNS,
                selectableFields=[{"jsonPath": ".spec.color"}],
            ),
            _version("v1beta1", schema=_ANYTHING, deprecated=True),
        ],
    },
}
_GADGETS: JSONObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Cluster",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [_version("v1", storage=True, schema=_ANYTHING)],
    },
}
_WIDGET: JSONObject = {
    "spec": {
        "size": 3,
        "max": 10,
        "ratio": 1.5,
        "color": "green",
        "code": "abc",
        "note": None,
        "port": "http",
        "until": "2026-01-01T00:00:00Z",
        "free": {"a": {"b": [1, "x"]}},
        "labels": {"x": "y"},
        "tags": ["one", "two"],
        "steps": [{"name": "first"}, {"name": "second", "retries": 1}],
        "args": ["x", "y"],
        "place": {"zone": "a", "row": 1},
        "choice": {"a": "x"},
    }
}
_SELECTORS = ("spec.color=green", "spec.color!=green")

CUSTOM_KINDS = (
    Kind(f"{GROUP}/v1", "widgets", "Widget", _WIDGET, _SELECTORS, ("status", "scale")),
    Kind(f"{GROUP}/v1beta1", "widgets", "Widget", _WIDGET),
    Kind(f"{GROUP}/v1", "gadgets", "Gadget", {"spec": {"anything": [1, {"a": "b"}]}}, namespaced=False),
)

DEFINITIONS = (
    Request(method="POST", path=_PATH, body=_WIDGETS),
    Request(method="POST", path=_PATH, body=_GADGETS),
    *(
        Request(method="GET", path=kind.path, until='"items"')  # a real server serves a new resource after some time
        for kind in CUSTOM_KINDS
    ),
)
