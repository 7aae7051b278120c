"""Untracking is used only on interpreters where it is safe."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from ctypes import py_object, pythonapi
from typing import Any

import pytest

from listwatch.objects.untracked import is_safe, is_supported, untrack_tree


def interpreter_untrack() -> Callable[[object], object]:
    function = pythonapi.PyObject_GC_UnTrack
    function.argtypes, function.restype = (py_object,), None
    return function


class NeverTrackedAgain(dict[str, Any]):
    """A dict as on Python 3.14: once untracked, it stays so."""

    def __setitem__(self, key: str, value: Any) -> None:
        was_tracked = gc.is_tracked(self) or not self
        super().__setitem__(key, value)
        if not was_tracked:
            interpreter_untrack()(self)


class NotTrackedAgainBySetdefault(dict[str, Any]):
    def setdefault(self, key: str, default: Any = None) -> Any:
        found = super().setdefault(key, default)
        interpreter_untrack()(self)
        return found


def test_the_probe_refuses_an_interpreter_that_does_not_track_changed_dicts_again():
    assert not is_safe(interpreter_untrack(), NeverTrackedAgain)


def test_the_probe_tries_every_way_to_store_into_a_dict():
    assert not is_safe(interpreter_untrack(), NotTrackedAgainBySetdefault)


def test_the_probe_refuses_an_untracker_without_effect():
    assert not is_safe(bool)


def test_the_probe_accepts_this_interpreter_exactly_if_untracking_is_on():
    assert is_safe(interpreter_untrack()) is is_supported


def test_untracking_is_on_where_it_was_seen_to_be_safe():
    assert is_supported is (sys.version_info < (3, 14))


@pytest.mark.skipif(not is_supported, reason="this interpreter does not track changed dicts again")
def test_a_cycle_that_user_code_makes_in_an_untracked_dict_is_collected():
    class Witness:
        pass

    tree: dict[str, Any] = {"spec": {"sizes": [1]}}
    untrack_tree(tree)
    assert not gc.is_tracked(tree["spec"])
    witness = Witness()
    tree["spec"].update(cycle=tree["spec"], witness=witness)
    gone = weakref.ref(witness)
    del tree, witness
    gc.collect()
    assert gone() is None


def test_without_support_nothing_is_untracked():
    program = (
        "import ctypes\n"
        "del ctypes.pythonapi\n"  # as on another interpreter
        "import gc\n"
        "from listwatch.objects import untracked\n"
        "tree = {'a': [1]}\n"
        "untracked.untrack(tree), untracked.untrack_tree(tree)\n"
        "print(untracked.is_supported, gc.is_tracked(tree), gc.is_tracked(tree['a']))\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True", "True"]
