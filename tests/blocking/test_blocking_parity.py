"""Every asynchronous class and function has a blocking counterpart with the same parameters and documentation."""

import inspect
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import pytest

import listwatch
from listwatch import blocking, client, controller, events, informer, leaderelection, workqueue
from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.sources import etcd
from tools import generate_blocking
from tools.blocking.writing import blocking_words

PACKAGES: list[ModuleType] = [listwatch, client, informer, workqueue, leaderelection, controller, events, etcd]

# Public asynchronous names without a blocking counterpart, and why.
WITHOUT = {
    "AiohttpTransport": "a transport is used by clients, blocking ones included",
    "EtcdLeaseLock": "a lock is asynchronous in both APIs; blocking electors take it with an asynchronous EtcdClient",
    "EventSink": "a protocol; blocking recorders take a blocking client",
    "LeaderLock": "a protocol; a lock of your own is asynchronous in both APIs",
    "LeaseLock": "blocking electors take a client and the name of the lease",
    "ListerWatcher": "a protocol; blocking informers take blocking sources and objects of the protocol",
    "Pager": "ResourceClient.pages does it",
    "pod_transport": "a transport of httpx's asynchronous client",
    "PodConnector": "a connector of aiohttp, whose sessions are asynchronous",
    "RateLimiter": "used by clients, blocking ones included",
    "Reflector": "a part of informers",
    "ResponseStream": "a protocol that transports implement",
    "TokenBucket": "used by clients, blocking ones included",
    "Transport": "a protocol that clients use",
    "WatchSource": "a protocol; the functions of a blocking ListWatch return plain iterators",
    "WebSocket": "a protocol that transports implement",
    "WebSocketTransport": "a protocol that clients use",
    "until_without_retry": "a `for` loop over the watch does it",
}

# Members without a blocking counterpart: they are for other parts of listwatch.
MEMBERS_WITHOUT = {
    "Cluster": {"factory"},
    "ClientSet": {"source"},
    "ListWatch": {"list", "watch", "of_kind"},
    "Controller": {"informer"},
    "DynamicClient": {"source"},
    "EtcdListWatch": {"list", "watch", "watch_for_cache"},
    "Manager": {"factory"},
    "MetadataClient": {"source"},
}

BLOCKING_NAMES = {
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
}
VALUES = [getattr(blocking, name) for name in blocking.__all__]
CLASSES = [each for each in VALUES if isinstance(each, type) and issubclass(each, BlockingObject)]
FUNCTIONS = [each.__name__ for each in VALUES if not isinstance(each, type)]

Member = FunctionType | property | cached_property | classmethod


def is_asynchronous(value: object) -> bool:
    """Whether a class has coroutine methods, or a function is a coroutine function."""
    if not isinstance(value, type):
        return inspect.iscoroutinefunction(value)
    names = [name for name in dir(value) if not name.startswith("_") or name in BLOCKING_NAMES]
    members = [inspect.getattr_static(value, name) for name in names]
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in members)


def original_of(blocking_class: type[BlockingObject]) -> type:
    return blocking_class._original


def members(blocking_class: type[BlockingObject]) -> Iterator[tuple[str, Any, Any]]:
    """The name of each public member, the asynchronous and the blocking one."""
    original = original_of(blocking_class)
    left_out = MEMBERS_WITHOUT.get(blocking_class.__name__, set())
    for name in dir(original):
        member = inspect.getattr_static(original, name)
        is_public = not name.startswith("_") or name in BLOCKING_NAMES or name in ("__call__", "__len__")
        is_double = name == "aclose" and hasattr(original, "close")
        if is_public and not is_double and name not in left_out and isinstance(member, Member):
            own_name = BLOCKING_NAMES.get(name, name)
            yield own_name, member, inspect.getattr_static(blocking_class, own_name, None)


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    signature = inspect.signature(getattr(function, "__func__", function))
    return [(each.name, each.kind, each.default) for each in signature.parameters.values()]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_asynchronous_name_has_a_counterpart(package: ModuleType):
    names = {name for name in package.__all__ if is_asynchronous(getattr(package, name))}
    assert names <= {*blocking.__all__, *WITHOUT}


def test_no_reason_is_given_for_a_name_that_has_a_counterpart_or_does_not_exist():
    assert WITHOUT.keys().isdisjoint(blocking.__all__)
    assert {name for package in PACKAGES for name in package.__all__} >= WITHOUT.keys()


@pytest.mark.parametrize("blocking_class", CLASSES, ids=lambda each: each.__name__)
def test_every_member_is_there_and_nothing_is_left_out_without_need(blocking_class: type[BlockingObject]):
    assert [name for name, _, own in members(blocking_class) if own is None] == []
    left_out = MEMBERS_WITHOUT.get(blocking_class.__name__, set())
    assert left_out <= {*dir(original_of(blocking_class))}
    assert left_out.isdisjoint(dir(blocking_class))


@pytest.mark.parametrize("blocking_class", CLASSES, ids=lambda each: each.__name__)
def test_every_method_has_the_parameters_of_the_asynchronous_one(blocking_class: type[BlockingObject]):
    for name, original, own in members(blocking_class):
        if name != "__exit__" and isinstance(original, FunctionType | classmethod):
            assert parameters(own) == parameters(original), name
            assert not inspect.iscoroutinefunction(own), name
    if "__init__" in vars(blocking_class):
        assert parameters(blocking_class) == parameters(original_of(blocking_class))


@pytest.mark.parametrize("blocking_class", CLASSES, ids=lambda each: each.__name__)
def test_the_documentation_is_that_of_the_asynchronous_class(blocking_class: type[BlockingObject]):
    assert documentation(blocking_class) == documentation(original_of(blocking_class))
    for name, original, own in members(blocking_class):
        if not name.startswith("__"):
            assert documentation(own) == documentation(original), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_the_parameters_of_the_asynchronous_one(name: str):
    own = getattr(blocking, name)
    [original] = {getattr(package, name) for package in PACKAGES if name in package.__all__}
    assert inspect.iscoroutinefunction(original)
    assert not inspect.iscoroutinefunction(own)
    assert parameters(own) == parameters(original)
    assert documentation(own) == documentation(original)


def documentation(value: Any) -> str:
    return inspect.cleandoc(blocking_words(value.__doc__ or ""))


def test_the_names_are_those_of_the_asynchronous_classes():
    assert [each.__name__ for each in CLASSES] == [original_of(each).__name__ for each in CLASSES]


def test_the_documentation_has_no_words_of_asynchronous_programs():
    text = "`async with informer`, or `await informer.run()`"
    assert blocking_words(text) == "`with informer`, or `informer.run()`"


@pytest.mark.parametrize("name", [each.name for each in generate_blocking.OUTPUTS])
def test_the_modules_are_what_the_generator_writes_now(name: str):
    path = generate_blocking.FOLDER / f"{name}.py"
    assert path.read_text() == generate_blocking.modules()[path], "run `make blocking`"


@pytest.mark.parametrize("name", ["ResourceClient", "WatchStream", "HandlerRegistration"])
def test_objects_that_others_return_are_not_created_directly(name: str):
    with pytest.raises(TypeError, match="not created directly; other objects return it"):
        getattr(blocking, name)()
