"""Records which functions of listwatch a run enters, and in which order. `tools.walk` documents what is counted."""

from __future__ import annotations

import asyncio
import dis
import gc
import inspect
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType, FrameType
from typing import Self

PACKAGE = "listwatch"
NOT_COUNTED = {
    f"{PACKAGE}.models": "generated",
    f"{PACKAGE}.clock": "clock",
    f"{PACKAGE}.tasks.cooperative": "yields to the event loop",
}
"""Modules that are listed but not counted, including everything inside them."""
STEPS = {"__call__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__next__", "__anext__", "__await__"}
"""Special methods that count like other functions."""

_RESUME, _YIELD = dis.opmap["RESUME"], dis.opmap["YIELD_VALUE"]
_PART_OF_A_FUNCTION = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_RECEIVE, _SEND = ("recv", "recv_into"), ("send", "sendmsg", "sendall")


@dataclass(frozen=True, slots=True)
class Entered:
    """A function that was entered. A non-empty `mark` is the reason why it is not counted."""

    module: str
    function: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Walk:
    """The entries of one traced run in order, and the qualified name of the user function that ended it."""

    entries: list[Entered]
    end: str = ""

    @property
    def counted(self) -> list[Entered]:
        return [entry for entry in self.entries if not entry.mark]

    @property
    def modules(self) -> list[str]:
        return list(dict.fromkeys(entry.module for entry in self.counted))

    @property
    def functions(self) -> list[Entered]:
        return list(dict.fromkeys(self.counted))

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Each change from one module to another."""
        modules = [entry.module for entry in self.counted]
        return [(one, other) for one, other in pairwise(modules) if one != other]

    @property
    def steps_back(self) -> list[tuple[str, str]]:
        """The steps to a module that was entered before."""
        entered = set(self.modules[:1])
        back = []
        for step in self.steps:
            if step[1] in entered:
                back.append(step)
            entered.add(step[1])
        return back


class _Runs:
    """The callbacks that the event loop ran, numbered, and which of them led to which.

    A callback follows from the one that scheduled it and, for a task, from the task's previous callback.
    """

    def __init__(self) -> None:
        self.current = 0
        self._causes: dict[int, set[int]] = {}
        self._scheduled: list[asyncio.Handle] = []  # keeps the handles alive, so that their ids stay unique
        self._scheduled_in: dict[int, int] = {}
        self._last_of_task: dict[asyncio.Task[object], int] = {}

    def schedule(self, handle: asyncio.Handle) -> None:
        self._scheduled.append(handle)
        self._scheduled_in[id(handle)] = self.current

    def start(self, handle: asyncio.Handle) -> None:
        self.current += 1
        scheduled_in = self._scheduled_in.get(id(handle))
        self._causes[self.current] = set() if scheduled_in is None else {scheduled_in}

    def note_task(self) -> None:
        task = asyncio.current_task()
        if task is not None and (last := self._last_of_task.get(task)) != self.current:
            self._last_of_task[task] = self.current
            if last is not None:
                self._causes.setdefault(self.current, set()).add(last)

    def leading_to(self, run: int) -> set[int]:
        found, pending = set(), [run]
        while pending:
            found.add(run := pending.pop())
            pending.extend(self._causes.get(run, set()) - found)
        return found


class Tracer:
    """Collects the functions of listwatch that are entered in the thread of the event loop: `with tracer: …`.

    It starts immediately or, with `from_read`, at the next read of a network socket. It ends with the block, at the
    last write to a network socket with `to_write`, or at the first call of the function `end`.
    """

    def __init__(
        self, *, from_read: bool = False, to_write: bool = False, end: Callable[..., object] | None = None
    ) -> None:
        self._collects = not from_read
        self._to_write = to_write
        self._end = end.__code__ if inspect.isfunction(end) else None
        self._ended = ""
        self._length = 0
        self._last_run = 0
        self._entries: list[tuple[Entered, int]] = []
        self._runs = _Runs()
        self._known: dict[CodeType, Entered | None] = {}
        # Coroutines that were resumed and may only be waiting for an inner one, and whether there is an inner one.
        self._resumed: dict[FrameType, bool] = {}
        self._was_collecting = True  # whether the garbage collector was enabled

    def __enter__(self) -> Self:
        self._runs.note_task()
        self._was_collecting = gc.isenabled()
        gc.disable()  # finalizers of what earlier runs have left do not belong to the walk
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        if self._was_collecting:
            gc.enable()
        self._resumed.clear()
        if not self._to_write and not self._ended:
            self._mark_end()

    @property
    def walk(self) -> Walk:
        runs = self._runs.leading_to(self._last_run)
        return Walk([entered for entered, run in self._entries[: self._length] if run in runs], self._ended)

    def _profile(self, frame: FrameType, event: str, arg: object) -> None:
        if self._ended:
            return
        match event:
            case "call":
                self._call(frame)
            case "return":
                self._return(frame)
                if isinstance(arg, asyncio.Handle) and frame.f_code.co_name in ("call_soon", "call_at"):
                    self._runs.schedule(arg)
            case "c_call":
                self._continue(frame)
                self._note_traffic(arg)

    def _call(self, frame: FrameType) -> None:
        caller = frame.f_back
        if _is_resumed_in_await(frame):
            if caller in self._resumed:
                self._resumed[caller] = True
            self._resumed[frame] = False
            return
        self._continue(caller)
        if frame.f_code is asyncio.Handle._run.__code__:
            self._runs.start(frame.f_locals["self"])
        self._enter(frame)

    def _return(self, frame: FrameType) -> None:
        # From Python 3.13 on, the position of a suspended frame is already that of the next instruction.
        is_suspended = frame.f_code.co_code[frame.f_lasti] in (_YIELD, _RESUME)
        if is_suspended and self._resumed.get(frame):
            del self._resumed[frame]  # it ran no code itself: the inner coroutine waits again
            return
        self._continue(frame)
        if not is_suspended:
            self._continue(frame.f_back)

    def _continue(self, frame: FrameType | None) -> None:
        """Record that a resumed coroutine runs its own code."""
        if frame is not None and self._resumed.pop(frame, None) is not None:
            self._enter(frame)

    def _enter(self, frame: FrameType) -> None:
        self._runs.note_task()
        if not self._collects:
            return
        code = frame.f_code
        if code is self._end:
            self._ended = code.co_qualname
            self._mark_end()
            return
        if code not in self._known:
            self._known[code] = _describe(frame)
        entered = self._known[code]
        if entered is not None:
            self._entries.append((entered, self._runs.current))

    def _note_traffic(self, function: object) -> None:
        name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
        if not isinstance(owner, socket.socket) or owner.family not in (socket.AF_INET, socket.AF_INET6):
            return  # asyncio wakes its loop through a socket of another family
        if name in _RECEIVE:
            self._collects = True
        elif name in _SEND and self._to_write:
            self._mark_end()

    def _mark_end(self) -> None:
        self._length = len(self._entries)
        self._last_run = self._runs.current


def _is_resumed_in_await(frame: FrameType) -> bool:
    """Whether a coroutine is resumed inside an `await` or a `yield from`."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == _RESUME and code[at + 1] & 3 >= 2  # the argument encodes what suspended the frame


def _describe(frame: FrameType) -> Entered | None:
    """The entry for a function of listwatch; None for other code, and for module and class bodies."""
    module = frame.f_globals.get("__name__", "")
    code = frame.f_code
    is_function = code.co_flags & inspect.CO_NEWLOCALS and code.co_flags & inspect.CO_OPTIMIZED
    if module.partition(".")[0] != PACKAGE or not is_function or code.co_name in _PART_OF_A_FUNCTION:
        return None
    return Entered(module, code.co_qualname, _mark(frame, module))


def _mark(frame: FrameType, module: str) -> str:
    for package, mark in NOT_COUNTED.items():
        if module == package or module.startswith(f"{package}."):
            return mark
    name = frame.f_code.co_name
    if name.startswith("__") and name.endswith("__") and name not in STEPS:
        return "special method"
    return "property" if _is_property(frame) else ""


def _is_property(frame: FrameType) -> bool:
    code = frame.f_code
    if not code.co_argcount:
        return False
    owner = type(frame.f_locals.get(code.co_varnames[0]))
    return isinstance(inspect.getattr_static(owner, code.co_name, None), property | cached_property)
