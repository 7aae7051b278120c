"""Names that are resolved on first use: the public names of a package, and the resources of a client or factory."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    `homes` maps each public name to the module that defines it. A name that equals its module refers to the module.
    """

    def get_attribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)  # later lookups do not call this function
        return value

    def list_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get_attribute, list_names


def unknown_attribute(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return an error that suggests a similar name, or lists the known ones."""
    from difflib import get_close_matches  # not needed by most programs

    names = [*known]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(names)}"
    return AttributeError(f"{owner} has no attribute {name!r}; {hint}")
