"""The kinds and types of `apiextensions.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class CustomResourceColumnDefinition(Model):
    description: str | None = None
    format: str | None = None
    json_path: str = field(default_factory=str)
    name: str = field(default_factory=str)
    priority: int | None = None
    type: str = field(default_factory=str)


class CustomResourceConversion(Model):
    strategy: str = field(default_factory=str)
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class CustomResourceDefinitionNames(Model):
    categories: list[str] = field(default_factory=list)
    kind: str = field(default_factory=str)
    list_kind: str | None = None
    plural: str = field(default_factory=str)
    short_names: list[str] = field(default_factory=list)
    singular: str | None = None


class CustomResourceDefinitionSpec(Model):
    conversion: CustomResourceConversion | None = None
    group: str = field(default_factory=str)
    names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    preserve_unknown_fields: bool | None = None
    scope: str = field(default_factory=str)
    versions: list[CustomResourceDefinitionVersion] = field(default_factory=required_list)


class CustomResourceDefinitionStatus(Model):
    accepted_names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    conditions: list[CustomResourceDefinitionCondition] = field(default_factory=list)
    observed_generation: int | None = None
    stored_versions: list[str] = field(default_factory=list)


class CustomResourceDefinitionVersion(Model):
    additional_printer_columns: list[CustomResourceColumnDefinition] = field(default_factory=list)
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    name: str = field(default_factory=str)
    schema: CustomResourceValidation | None = None
    selectable_fields: list[SelectableField] = field(default_factory=list)
    served: bool = field(default_factory=bool)
    storage: bool = field(default_factory=bool)
    subresources: CustomResourceSubresources | None = None


class CustomResourceSubresourceScale(Model):
    label_selector_path: str | None = None
    spec_replicas_path: str = field(default_factory=str)
    status_replicas_path: str = field(default_factory=str)


class CustomResourceSubresourceStatus(Model):
    """Has no fields; its presence is the value."""


class CustomResourceSubresources(Model):
    scale: CustomResourceSubresourceScale | None = None
    status: CustomResourceSubresourceStatus | None = None


class CustomResourceValidation(Model):
    open_api_v3_schema: JSONSchemaProps | None = field(default=None, name="openAPIV3Schema")


class ExternalDocumentation(Model):
    description: str | None = None
    url: str | None = None


class JSONSchemaProps(Model):
    ref: str | None = field(default=None, name="$ref")
    schema: str | None = field(default=None, name="$schema")
    additional_items: JSONSchemaProps | bool | None = None
    additional_properties: JSONSchemaProps | bool | None = None
    all_of: list[JSONSchemaProps] = field(default_factory=list)
    any_of: list[JSONSchemaProps] = field(default_factory=list)
    default: Any = None
    definitions: dict[str, JSONSchemaProps] = field(default_factory=dict)
    dependencies: dict[str, JSONSchemaProps | list[str]] = field(default_factory=dict)
    description: str | None = None
    enum: list[Any] = field(default_factory=list)
    example: Any = None
    exclusive_maximum: bool | None = None
    exclusive_minimum: bool | None = None
    external_docs: ExternalDocumentation | None = None
    format: str | None = None
    id: str | None = None
    items: JSONSchemaProps | list[JSONSchemaProps] | None = None
    max_items: int | None = None
    max_length: int | None = None
    max_properties: int | None = None
    maximum: float | None = None
    min_items: int | None = None
    min_length: int | None = None
    min_properties: int | None = None
    minimum: float | None = None
    multiple_of: float | None = None
    not_: JSONSchemaProps | None = None
    nullable: bool | None = None
    one_of: list[JSONSchemaProps] = field(default_factory=list)
    pattern: str | None = None
    pattern_properties: dict[str, JSONSchemaProps] = field(default_factory=dict)
    properties: dict[str, JSONSchemaProps] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    title: str | None = None
    type: str | None = None
    unique_items: bool | None = None
    x_kubernetes_embedded_resource: bool | None = field(default=None, name="x-kubernetes-embedded-resource")
    x_kubernetes_int_or_string: bool | None = field(default=None, name="x-kubernetes-int-or-string")
    x_kubernetes_list_map_keys: list[str] = field(default_factory=list, name="x-kubernetes-list-map-keys")
    x_kubernetes_list_type: str | None = field(default=None, name="x-kubernetes-list-type")
    x_kubernetes_map_type: str | None = field(default=None, name="x-kubernetes-map-type")
    x_kubernetes_preserve_unknown_fields: bool | None = field(default=None, name="x-kubernetes-preserve-unknown-fields")
    x_kubernetes_validations: list[ValidationRule] = field(default_factory=list, name="x-kubernetes-validations")


class SelectableField(Model):
    json_path: str = field(default_factory=str)


class ServiceReference(Model):
    name: str = field(default_factory=str)
    namespace: str = field(default_factory=str)
    path: str | None = None
    port: int | None = None


class ValidationRule(Model):
    field_path: str | None = None
    message: str | None = None
    message_expression: str | None = None
    optional_old_self: bool | None = None
    reason: str | None = None
    rule: str = field(default_factory=str)


class WebhookClientConfig(Model):
    ca_bundle: bytes | None = None
    service: ServiceReference | None = None
    url: str | None = None


class WebhookConversion(Model):
    client_config: WebhookClientConfig | None = None
    conversion_review_versions: list[str] = field(default_factory=required_list)


class CustomResourceDefinition(
    Object,
    resource=Resource(
        "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        subresources=(
            Subresource("status", "apiextensions.k8s.io", "v1", "CustomResourceDefinition", ("get", "patch", "update")),
        ),
    ),
):
    spec: CustomResourceDefinitionSpec = lazy(CustomResourceDefinitionSpec)
    status: CustomResourceDefinitionStatus = lazy(CustomResourceDefinitionStatus)


class CustomResourceDefinitionList(ObjectList[CustomResourceDefinition], item=CustomResourceDefinition):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
