"""API objects: metadata, and a body that stays bytes until it is accessed.

This package does no I/O and defines no kinds; `listwatch.models` has them.
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Column": "listwatch.objects.declarations.definition_options",
    "CustomResource": "listwatch.objects.declarations.custom_resource",
    "JSON": "listwatch.json_value",
    "JSONObject": "listwatch.json_value",
    "ListMeta": "listwatch.objects.metadata",
    "ManagedFieldsEntry": "listwatch.objects.metadata",
    "MicroTime": "listwatch.objects.declarations.model",
    "Model": "listwatch.objects.declarations.model",
    "Object": "listwatch.objects.object",
    "ObjectList": "listwatch.objects.object_list",
    "ObjectMeta": "listwatch.objects.metadata",
    "OwnerReference": "listwatch.objects.metadata",
    "PartialObjectMetadata": "listwatch.objects.partial_object",
    "ScalePaths": "listwatch.objects.declarations.definition_options",
    "Unstructured": "listwatch.objects.unstructured",
    "crd": "listwatch.objects.declarations.definition_options",
    "field": "listwatch.objects.declarations.model",
    "rule": "listwatch.objects.declarations.definition_options",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.json_value import JSON as JSON
    from listwatch.json_value import JSONObject as JSONObject
    from listwatch.objects.declarations.custom_resource import CustomResource as CustomResource
    from listwatch.objects.declarations.definition_options import Column as Column
    from listwatch.objects.declarations.definition_options import ScalePaths as ScalePaths
    from listwatch.objects.declarations.definition_options import crd as crd
    from listwatch.objects.declarations.definition_options import rule as rule
    from listwatch.objects.declarations.model import MicroTime as MicroTime
    from listwatch.objects.declarations.model import Model as Model
    from listwatch.objects.declarations.model import field as field
    from listwatch.objects.metadata import ListMeta as ListMeta
    from listwatch.objects.metadata import ManagedFieldsEntry as ManagedFieldsEntry
    from listwatch.objects.metadata import ObjectMeta as ObjectMeta
    from listwatch.objects.metadata import OwnerReference as OwnerReference
    from listwatch.objects.object import Object as Object
    from listwatch.objects.object_list import ObjectList as ObjectList
    from listwatch.objects.partial_object import PartialObjectMetadata as PartialObjectMetadata
    from listwatch.objects.unstructured import Unstructured as Unstructured
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
