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
    name: str = field(default_factory=str)
    type: str = field(default_factory=str)
    format: str | None = None
    description: str | None = None
    priority: int | None = None
    json_path: str = field(default_factory=str)


class CustomResourceConversion(Model):
    strategy: str = field(default_factory=str)
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None
    observed_generation: int | None = None


class CustomResourceDefinitionNames(Model):
    plural: str = field(default_factory=str)
    singular: str | None = None
    short_names: list[str] = field(default_factory=list)
    kind: str = field(default_factory=str)
    list_kind: str | None = None
    categories: list[str] = field(default_factory=list)


class CustomResourceDefinitionSpec(Model):
    group: str = field(default_factory=str)
    names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    scope: str = field(default_factory=str)
    versions: list[CustomResourceDefinitionVersion] = field(default_factory=required_list)
    conversion: CustomResourceConversion | None = None
    preserve_unknown_fields: bool | None = None


class CustomResourceDefinitionStatus(Model):
    conditions: list[CustomResourceDefinitionCondition] = field(default_factory=list)
    accepted_names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    stored_versions: list[str] = field(default_factory=list)
    observed_generation: int | None = None


class CustomResourceDefinitionVersion(Model):
    name: str = field(default_factory=str)
    served: bool = field(default_factory=bool)
    storage: bool = field(default_factory=bool)
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    schema: CustomResourceValidation | None = None
    subresources: CustomResourceSubresources | None = None
    additional_printer_columns: list[CustomResourceColumnDefinition] = field(default_factory=list)
    selectable_fields: list[SelectableField] = field(default_factory=list)


class CustomResourceSubresourceScale(Model):
    spec_replicas_path: str = field(default_factory=str)
    status_replicas_path: str = field(default_factory=str)
    label_selector_path: str | None = None


class CustomResourceSubresourceStatus(Model):
    """Has no fields; its presence is the value."""


class CustomResourceSubresources(Model):
    status: CustomResourceSubresourceStatus | None = None
    scale: CustomResourceSubresourceScale | None = None


class CustomResourceValidation(Model):
    open_api_v3_schema: JSONSchemaProps | None = field(default=None, name="openAPIV3Schema")


class ExternalDocumentation(Model):
    description: str | None = None
    url: str | None = None


class JSONSchemaProps(Model):
    id: str | None = None
    schema: str | None = field(default=None, name="$schema")
    ref: str | None = field(default=None, name="$ref")
    description: str | None = None
    type: str | None = None
    format: str | None = None
    title: str | None = None
    default: Any = None
    maximum: float | None = None
    exclusive_maximum: bool | None = None
    minimum: float | None = None
    exclusive_minimum: bool | None = None
    max_length: int | None = None
    min_length: int | None = None
    pattern: str | None = None
    max_items: int | None = None
    min_items: int | None = None
    unique_items: bool | None = None
    multiple_of: float | None = None
    enum: list[Any] = field(default_factory=list)
    max_properties: int | None = None
    min_properties: int | None = None
    required: list[str] = field(default_factory=list)
    items: JSONSchemaProps | list[JSONSchemaProps] | None = None
    all_of: list[JSONSchemaProps] = field(default_factory=list)
    one_of: list[JSONSchemaProps] = field(default_factory=list)
    any_of: list[JSONSchemaProps] = field(default_factory=list)
    not_: JSONSchemaProps | None = None
    properties: dict[str, JSONSchemaProps] = field(default_factory=dict)
    additional_properties: JSONSchemaProps | bool | None = None
    pattern_properties: dict[str, JSONSchemaProps] = field(default_factory=dict)
    dependencies: dict[str, JSONSchemaProps | list[str]] = field(default_factory=dict)
    additional_items: JSONSchemaProps | bool | None = None
    definitions: dict[str, JSONSchemaProps] = field(default_factory=dict)
    external_docs: ExternalDocumentation | None = None
    example: Any = None
    nullable: bool | None = None
    x_kubernetes_preserve_unknown_fields: bool | None = field(default=None, name="x-kubernetes-preserve-unknown-fields")
    x_kubernetes_embedded_resource: bool | None = field(default=None, name="x-kubernetes-embedded-resource")
    x_kubernetes_int_or_string: bool | None = field(default=None, name="x-kubernetes-int-or-string")
    x_kubernetes_list_map_keys: list[str] = field(default_factory=list, name="x-kubernetes-list-map-keys")
    x_kubernetes_list_type: str | None = field(default=None, name="x-kubernetes-list-type")
    x_kubernetes_map_type: str | None = field(default=None, name="x-kubernetes-map-type")
    x_kubernetes_validations: list[ValidationRule] = field(default_factory=list, name="x-kubernetes-validations")


class SelectableField(Model):
    json_path: str = field(default_factory=str)


class ServiceReference(Model):
    namespace: str = field(default_factory=str)
    name: str = field(default_factory=str)
    path: str | None = None
    port: int | None = None


class ValidationRule(Model):
    rule: str = field(default_factory=str)
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None
    field_path: str | None = None
    optional_old_self: bool | None = None


class WebhookClientConfig(Model):
    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: bytes | None = None


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
