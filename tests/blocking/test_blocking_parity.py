"""The blocking face has every name of the asynchronous one, with its signature and its documentation."""

import ast
import inspect
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType
from typing import Any

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.blocking.face import Face, Opened, spoken
from listwatch.informer.factory import SharedInformerFactory
from listwatch.informer.list_watch import ListWatch
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Pod
from tools import generate_blocking

FACES = generate_blocking.faces()
FUNCTIONS = [name for name in blocking.__all__ if not isinstance(getattr(blocking, name), type)]

# What is for other parts of listwatch, and not for programs.
LEFT_OUT = {
    "Request": {"open_stream", "open_watch"},
    "ClientSet": {"source"},
    "ListWatch": {"list", "watch", "of_kind"},
    "Controller": {"informer"},
    "DynamicClient": {"source"},
    "Manager": {"factory"},
    "MetadataClient": {"source"},
    "SharedIndexInformer": {"lease", "indexer_type", "listener_type"},
    "SharedInformerFactory": {"informer_type", "lease"},
}


def members(face: type[Face]) -> Iterator[tuple[str, Any, Any]]:
    """The name of each member here, the twin's and our own."""
    for its_name, member in vars(face.twin_class).items():
        name = face.name_for(its_name)
        if name is not None and isinstance(member, FunctionType | property | cached_property | classmethod):
            yield name, member, inspect.getattr_static(face, name)


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_nothing_is_left_out_but_what_is_named_here(face: type[Face]):
    assert face.left_out == LEFT_OUT.get(face.__name__, set())
    public = {name for name in vars(face.twin_class) if not name.startswith("_")} - {"aclose"} - face.left_out
    functions = {name for name in public if not isinstance(vars(face.twin_class)[name], str)}
    assert functions <= set(dir(face))


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_method_takes_what_its_twin_takes(face: type[Face]):
    for name, theirs, ours in members(face):
        if name not in ("__enter__", "__exit__") and isinstance(theirs, FunctionType | classmethod):
            ours, theirs = getattr(ours, "__func__", ours), getattr(theirs, "__func__", theirs)
            assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters, name
            assert not inspect.iscoroutinefunction(ours), name
    if issubclass(face, Opened):
        assert inspect.signature(face).parameters == inspect.signature(face.twin_class).parameters


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_the_documentation_is_that_of_the_twin(face: type[Face]):
    assert face.__doc__ == spoken(face.twin_class.__doc__)
    for name, theirs, ours in members(face):
        assert ours.__doc__ == spoken(theirs.__doc__), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_what_its_twin_takes(name: str):
    ours = getattr(blocking, name)
    theirs = ours.__wrapped__
    assert inspect.iscoroutinefunction(theirs)
    assert not inspect.iscoroutinefunction(ours)
    assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
    assert ours.__doc__ == spoken(theirs.__doc__)


def test_what_reads_and_waits_has_a_blocking_form():
    held = {"add_finalizer", "finalize", "remove_finalizer"}
    assert set(FUNCTIONS) == {"apply_files", "retry_on_conflict", "until", "until_with_sync", "wait_for"} | held
    functions = {name for name in lw.__all__ if inspect.iscoroutinefunction(getattr(lw, name))}
    assert functions <= set(FUNCTIONS)


def test_the_words_of_asynchronous_programs_are_not_used():
    told = "`async with informer`, or `await informer.run()`"
    assert spoken(told) == "`with informer`, or `informer.run()`"
    assert spoken(None) is None


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_type_checkers_see_what_is_there(face: type[Face]):
    [definition] = [each for each in stub_classes() if each.name == face.__name__]
    seen = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    assert {name for name, *_ in members(face)} <= seen


def test_type_checkers_know_the_attributes_that_constructors_set():
    informer = {name for name in vars(informer_twin()) if not name.startswith("_")}
    assert informer == set(generate_blocking._ATTRIBUTES["SharedIndexInformer"])


def informer_twin() -> SharedIndexInformer[Any]:
    return SharedIndexInformer(ListWatch(list=list, watch=list), Pod)


def test_the_stub_is_what_the_generator_makes_now():
    assert generate_blocking.stub() == generate_blocking.STUB.read_text(), "run `make blocking`"


def test_the_public_names_are_those_of_the_asynchronous_classes():
    assert SharedInformerFactory.__name__ in blocking.__all__
    for name in blocking.__all__:
        here = getattr(blocking, name)
        twin = getattr(here, "twin_class", None) or here.__wrapped__
        assert twin.__name__ == name


def stub_classes() -> list[ast.ClassDef]:
    tree = ast.parse(generate_blocking.STUB.read_text())
    return [each for each in tree.body if isinstance(each, ast.ClassDef)]
