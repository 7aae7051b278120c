"""client-go for Python: the names most programs need, each imported when it is first used.

`import listwatch as lw` loads no HTTP library and no model; what a program touches brings what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Where each public name lives, relative to this package; a module's own name stands for the module.
_HOMES = {
    "FieldSelector": "selectors",
    "GroupVersionKind": "meta",
    "GroupVersionResource": "meta",
    "LabelSelector": "selectors",
    "Object": "objects.object",
    "ObjectKey": "meta",
    "Quantity": "quantity",
    "Unstructured": "objects.unstructured",
    "errors": "errors",
}

__all__ = ["__version__", *_HOMES]

# Type checkers read the imports, which say the same as _HOMES; programs get the two functions.
if TYPE_CHECKING:
    from listwatch import errors as errors
    from listwatch.meta import GroupVersionKind as GroupVersionKind
    from listwatch.meta import GroupVersionResource as GroupVersionResource
    from listwatch.meta import ObjectKey as ObjectKey
    from listwatch.objects.object import Object as Object
    from listwatch.objects.unstructured import Unstructured as Unstructured
    from listwatch.quantity import Quantity as Quantity
    from listwatch.selectors import FieldSelector as FieldSelector
    from listwatch.selectors import LabelSelector as LabelSelector
else:

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(f"{__name__}.{_HOMES[name]}")
        value = home if name == _HOMES[name] else getattr(home, name)
        globals()[name] = value  # found without this function from now on
        return value

    def __dir__():
        return __all__
