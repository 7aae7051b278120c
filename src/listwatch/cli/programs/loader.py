"""Imports the file of `listwatch run` and finds its controllers.

A file defines either of these:

    widgets = lw.Controller(reconcile, for_=Widget)        module-level controllers: all of them run
    hooks = lw.Webhooks("widgets")                         module-level webhooks: they are served

    def setup(manager: lw.Manager) -> None: ...            adds controllers, checks and handlers itself; may be async
    async def setup(manager, client: lw.ClientSet): ...    also makes requests, for example to apply definitions
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.errors import ListWatchError, UsageError
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.webhooks.webhooks import Webhooks

__all__ = ["Declarations", "Program", "ProgramError", "load_declarations", "load_program"]


class ProgramError(ListWatchError):
    """The file of a program cannot be imported, or defines no controllers."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a file defines."""

    file: Path
    controllers: tuple[Controller, ...]
    webhooks: tuple[Webhooks, ...]
    setup: Callable[..., object] | None

    async def add_to(self, manager: Manager, client: ClientSet) -> None:
        """Call `setup`, or else add controllers and webhooks; raises ProgramError if the manager has none then."""
        if self.setup is None:
            for controller in self.controllers:
                manager.add(controller)
            for webhooks in self.webhooks:
                manager.add_webhooks(webhooks)
        else:
            try:
                result = self.setup(manager, client) if _takes_two(self.setup) else self.setup(manager)
                if inspect.isawaitable(result):
                    await result
            except Exception as error:
                raise ProgramError(f"setup() of {self.file} failed:\n{_trace_in(self.file, error)}") from error
        if not manager.controllers and manager.webhook_port is None:
            raise ProgramError(
                f"setup() of {self.file} added no controller: call manager.add(Controller(…)) in it"
                if self.setup
                else f"{self.file} defines no controllers: assign lw.Controller(…) to a variable of the module, or "
                "define setup(manager), which adds them"
            )


def _takes_two(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True


def load_program(file: Path) -> Program:
    """Import a file and return what it defines; raises ProgramError with the traceback below the file.

    Its folder is the first one that imports are searched in, as for `python FILE`. Its `__name__` is not `__main__`.
    """
    file = file.resolve()
    module = _import(file)
    setup = getattr(module, "setup", None)
    if setup is not None and not callable(setup):
        raise ProgramError(f"setup in {file} is a {type(setup).__name__}: expected a function of a Manager")
    found = {id(each): each for each in vars(module).values() if isinstance(each, Controller)}
    return Program(file, tuple(found.values()), _webhooks_in(module), setup)


class Declarations(NamedTuple):
    """The custom resources that a file defines, not those that it imports, and its webhooks."""

    file: Path
    resources: list[type[CustomResource]]
    imported: list[str]
    webhooks: tuple[Webhooks, ...]

    def require_resources(self) -> list[type[CustomResource]]:
        """Raise ProgramError if there are none."""
        if not self.resources:
            hint = (
                f"it imports {', '.join(self.imported)}: pass the files that define them"
                if self.imported
                else 'write `class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet")`'
            )
            raise ProgramError(f"{self.file} defines no custom resource; {hint}")
        return self.resources

    def require_webhooks(self) -> tuple[Webhooks, ...]:
        """Raise ProgramError if there are none."""
        if not self.webhooks:
            raise ProgramError(
                f"{self.file} defines no webhooks: assign lw.Webhooks(…) to a variable of the module, and decorate "
                "functions with its methods"
            )
        return self.webhooks


def load_declarations(file: Path) -> Declarations:
    """Import a file and return what it declares."""
    file = file.resolve()
    module = _import(file)
    found = {
        id(each): each for each in vars(module).values() if isinstance(each, type) and issubclass(each, CustomResource)
    }
    own = [each for each in found.values() if each.__module__ == module.__name__]
    imported = sorted(each.__name__ for each in found.values() if each is not CustomResource and each not in own)
    return Declarations(file, own, imported, _webhooks_in(module))


def _webhooks_in(module: ModuleType) -> tuple[Webhooks, ...]:
    return tuple({id(each): each for each in vars(module).values() if isinstance(each, Webhooks)}.values())


def _import(file: Path) -> ModuleType:
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    name = file.stem
    if name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_program"  # such as operator.py, which is also a module of Python
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} is not a Python file: its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module  # as the import statement does; dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        raise ProgramError(f"{file} called sys.exit({error.code!r}) while it was imported") from error
    except Exception as error:
        raise ProgramError(f"{file} cannot be imported:\n{_trace_in(file, error)}") from error
    return module


def _trace_in(file: Path, error: Exception) -> str:
    """The traceback from the first frame in the file on; the frames of the importer explain nothing."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(file):
        trace = trace.tb_next
    error = error.with_traceback(trace)
    return "".join(traceback.format_exception(type(error), error, trace)).rstrip()
