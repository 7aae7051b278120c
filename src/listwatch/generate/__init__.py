"""CustomResourceDefinitions from classes, and classes from CustomResourceDefinitions."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "GenerateError": "listwatch.generate.generate_error",
    "ModelModule": "listwatch.generate.model_module",
    "custom_resource_definitions": "listwatch.generate.definitions",
    "model_modules": "listwatch.generate.model_module",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.generate.definitions import custom_resource_definitions as custom_resource_definitions
    from listwatch.generate.generate_error import GenerateError as GenerateError
    from listwatch.generate.model_module import ModelModule as ModelModule
    from listwatch.generate.model_module import model_modules as model_modules
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
