"""A small API that exists nowhere: every way a real one describes a field, each once."""

from typing import Any

VERSION = "v0.1.2"

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
TOYS = "io.k8s.api.toys.v1"
SHOP = "com.example.shop.v1"


def ref(name: str, **more: Any) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}], **more}


def items(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def kind(group: str, version: str, name: str) -> dict[str, Any]:
    return {"x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": name}]}


def of_kind(metadata: str = "ObjectMeta") -> dict[str, Any]:
    return {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": ref(f"{META}.{metadata}", default={}),
    }


STRING = {"type": "string"}

SCHEMAS: dict[str, dict[str, Any]] = {
    f"{META}.ObjectMeta": {"type": "object", "properties": {"name": STRING}},
    f"{META}.ListMeta": {"type": "object", "properties": {"continue": STRING}},
    f"{META}.LabelSelector": {
        "type": "object",
        "properties": {"matchLabels": {"type": "object", "additionalProperties": STRING}},
    },
    f"{META}.Time": {"type": "string", "format": "date-time"},
    f"{META}.MicroTime": {"type": "string", "format": "date-time"},
    f"{META}.Trouble": {
        "type": "object",
        "properties": {"field": STRING, "reasons": {"type": "array", "items": STRING}},
    },
    f"{META}.Wish": {
        "type": "object",
        "properties": {"apiVersion": STRING, "kind": STRING, "for": STRING},
        "x-kubernetes-group-version-kind": [
            {"group": group, "version": "v1", "kind": "Wish"} for group in ("", "toys.k8s.io")
        ],
    },
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    f"{TOYS}.Toy": {
        "type": "object",
        "properties": {
            **of_kind(),
            "labelsURL": STRING,
            "key": STRING,
            "made": ref(f"{META}.MicroTime"),
            "spec": ref(f"{TOYS}.ToySpec", default={}),
            "status": ref(f"{TOYS}.ToyStatus"),
            "weight": {"type": "integer", "format": "int64", "default": 0},
        },
        **kind("toys.k8s.io", "v1", "Toy"),
    },
    f"{TOYS}.ToyList": {
        "type": "object",
        "properties": {**of_kind("ListMeta"), "items": {"type": "array", "items": items(f"{TOYS}.Toy")}},
        "required": ["items"],
        **kind("toys.k8s.io", "v1", "ToyList"),
    },
    f"{TOYS}.Wind": {
        "type": "object",
        "properties": {**of_kind(), "turns": {"type": "integer", "format": "int32"}},
        **kind("toys.k8s.io", "v1", "Wind"),
    },
    f"{TOYS}.ToySpec": {
        "type": "object",
        "description": 'What a toy is made of; "C:\\toys" and """quotes""" survive.\n\nIts wheels:\n - left\n - right"',
        "properties": {
            "$ref": STRING,
            "anything": {},
            "axle": ref(f"{TOYS}.Axle"),
            "bodyIPs": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
            "colour": {"type": "string", "default": "red", "enum": ["red", "blue"], "description": "The paint."},
            "continue": {"type": "boolean"},
            "gears": ref(f"{TOYS}.Gears", default={}),
            "int": {"type": "integer", "format": "int32"},
            "label": {"type": "string", "default": ""},
            "load": ref("io.k8s.apimachinery.pkg.api.resource.Quantity"),
            "limits": {
                "type": "object",
                "additionalProperties": items("io.k8s.apimachinery.pkg.api.resource.Quantity"),
            },
            "openAPIV3Schema": STRING,
            "port": ref("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
            "price": {"type": "number", "format": "double"},
            "seal": {"type": "string", "format": "byte"},
            "selector": ref(f"{META}.LabelSelector"),
            "sinceTime": ref(f"{META}.Time"),
            "spare": {"type": "array", "items": items(f"{TOYS}.Toy")},
            "toDict": STRING,
            "wheels": {
                "type": "array",
                "items": items(f"{TOYS}.Wheel"),
                "x-kubernetes-list-map-keys": ["name"],
                "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge,retainKeys",
                "description": "What it rolls on.\n  - indented\nA field and any datetime are only words here.",
            },
            "x-toys-only": {"type": "object"},
        },
        "required": ["label", "load", "limits", "port", "seal", "selector", "sinceTime", "wheels"],
    },
    f"{TOYS}.Axle": {"type": "object", "x-kubernetes-map-type": "atomic"},
    # Its name sorts after the types that use it.
    f"{TOYS}.Gears": {
        "type": "object",
        "properties": {"rings": ref(f"{TOYS}.Rings", default={}), "type": STRING},
        "x-kubernetes-unions": [{"discriminator": "type", "fields-to-discriminateBy": {"rings": "Rings"}}],
    },
    f"{TOYS}.Rings": {"type": "object", "properties": {"teeth": {"type": "integer", "format": "int32"}}},
    f"{TOYS}.ToyStatus": {"type": "object", "properties": {"ready": {"type": "boolean", "default": False}}},
    f"{TOYS}.Wheel": {
        "type": "object",
        "properties": {"name": {"type": "string", "default": ""}, "left": ref(f"{TOYS}.Wheel")},
        "required": ["name"],
    },
    f"{SHOP}.OrderSpecLines": {"type": "object", "properties": {"taken": STRING}},
    f"{SHOP}.Order": {
        "type": "object",
        "properties": {
            **of_kind(),
            "spec": {
                "type": "object",
                "properties": {
                    "lines": {"type": "array", "items": {"type": "object", "properties": {"toy": STRING}}},
                    "discount": {"x-kubernetes-int-or-string": True},
                    "notes": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
        },
        **kind("shop.example.com", "v1", "Order"),
    },
}

CORE = {
    "kind": "APIResourceList",
    "groupVersion": "v1",
    "resources": [
        {
            "name": "wishes",
            "singularName": "wish",
            "namespaced": False,
            "kind": "Wish",
            "verbs": ["create"],
            "storageVersionHash": "abc=",
        }
    ],
}

GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "toys.k8s.io"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "toys",
                            "singularResource": "toy",
                            "scope": "Namespaced",
                            "responseKind": {"group": "", "version": "", "kind": "Toy"},
                            "shortNames": ["t"],
                            "categories": ["all"],
                            "verbs": ["get", "list"],
                            "subresources": [
                                {
                                    "subresource": "status",
                                    "responseKind": {"group": "", "version": "", "kind": "Toy"},
                                    "verbs": ["get", "update"],
                                },
                                {
                                    "subresource": "scale",
                                    "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                                    "verbs": ["get"],
                                },
                            ],
                        }
                    ],
                }
            ],
        },
        {
            "metadata": {"name": "shop.example.com"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "orders",
                            "scope": "Cluster",
                            "responseKind": {"group": "shop.example.com", "version": "v1", "kind": "Order"},
                            "verbs": ["get"],
                        }
                    ],
                }
            ],
        },
    ],
}
