"""Names that are resolved on first use, and errors that suggest the right name for a wrong one."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import FrameType
from typing import NoReturn


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    `homes` maps each public name to the module that defines it. A name that equals its module refers to the module.
    """

    def get_attribute(name: str) -> object:
        if name not in homes:
            raise _unknown_name(package, name, homes, sys._getframe(1))
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)  # later lookups do not call this function
        return value

    def list_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get_attribute, list_names


def only_classes(module: str) -> Callable[[str], NoReturn]:
    """Return `__getattr__` for a module of classes: the error for a name that it does not have."""

    def get_attribute(name: str) -> NoReturn:
        classes = [each for each, value in vars(sys.modules[module]).items() if isinstance(value, type)]
        raise _unknown_name(module, name, classes, sys._getframe(1))

    return get_attribute


def _unknown_name(module: str, name: str, known: Iterable[str], caller: FrameType) -> Exception:
    message = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(message)  # the import system looks for some of these in every module
    hint = did_you_mean(name, known)
    if _is_importing(caller):
        # `from module import name` discards the message of an AttributeError.
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    return AttributeError(message + hint)


def _is_importing(caller: FrameType) -> bool:
    """Whether the frame executes `from module import name`."""
    from opcode import opname

    return opname[caller.f_code.co_code[caller.f_lasti]] == "IMPORT_FROM"


def unknown_attribute(owner: str, name: str, known: Iterable[str], *, elsewhere: Iterable[str] = ()) -> AttributeError:
    """Return an error that names where the attribute is instead, suggests a similar name, or lists the known ones."""
    names = [*known]
    places = [*elsewhere][:2]
    hint = (
        f"; did you mean {' or '.join(places)}?"
        if places
        else did_you_mean(name, names) or f"; it has: {', '.join(names)}"
    )
    return AttributeError(f"{owner} has no attribute {name!r}{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean node_name?` for `nodeName` or `node_nam`; empty if no known name is similar."""
    from difflib import get_close_matches  # not needed by most programs

    by_letters = {_letters(each): each for each in known}
    near = get_close_matches(_letters(name), by_letters, n=1)
    return f"; did you mean {by_letters[near[0]]}?" if near else ""


def _letters(name: str) -> str:
    # `nodeName`, `node_name` and `NodeName` differ only in their naming convention.
    return name.replace("_", "").lower()
