"""The names and the cost of `import listwatch`, in a separate interpreter."""

import json
import subprocess
import sys
from collections.abc import Iterable
from graphlib import TopologicalSorter
from importlib import import_module
from typing import Any

import pytest
from tests.test_architecture import SOURCE, import_graph, read_tree

import listwatch


def in_a_new_interpreter(program: str) -> Any:
    """The value of `result` after the program."""
    program = f"import json, sys\n{program}\nprint(json.dumps(result))"
    return json.loads(
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    )


def test_importing_the_package_loads_no_other_module():
    loaded = in_a_new_interpreter("import listwatch\nresult = list(sys.modules)")
    assert "listwatch" in loaded
    assert {name for name in loaded if name.startswith("listwatch.")} == {"listwatch._exports", "listwatch._version"}
    assert not [name for name in loaded if name.startswith(("aiohttp", "msgspec", "yaml", "asyncio"))]


def test_no_public_name_brings_a_model_or_an_extra_with_it():
    loaded = in_a_new_interpreter(
        "import listwatch\nfor name in listwatch.__all__: getattr(listwatch, name)\nresult = list(sys.modules)"
    )
    assert not [name for name in loaded if name.startswith(("listwatch.models.", "opentelemetry", "prometheus_client"))]


def test_only_public_names_are_listed():
    assert {"__version__", *listwatch._HOMES} == set(listwatch.__all__) == set(dir(listwatch))


@pytest.mark.parametrize("name", listwatch.__all__)
def test_a_public_name_is_the_same_wherever_it_is_found(name: str):
    value = getattr(listwatch, name)
    if name in listwatch._HOMES:
        home = import_module(listwatch._HOMES[name])
        assert value is (home if listwatch._HOMES[name] == f"listwatch.{name}" else getattr(home, name))


def test_everything_public_can_be_imported_at_once():
    assert set(in_a_new_interpreter("from listwatch import *\nresult = list(globals())")).issuperset(listwatch.__all__)


def test_a_missing_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="module 'listwatch' has no attribute 'Pood'"):
        _ = listwatch.Pood
    with pytest.raises(ImportError, match="cannot import name 'Pood'"):
        from listwatch import Pood  # noqa: F401  # the import is tested


# Imports each module into an interpreter with no other module of the package, those without imports first. A module
# that was imported before is not executed again: it is put back, with all that it has imported.
IMPORT_EACH_FIRST = """
from importlib.machinery import ModuleSpec
executed, imported, result = {}, {}, {}

def loaded():
    return [name for name in sys.modules if name.partition(".")[0] == "listwatch"]

def put_back(name):
    for each in imported[name]:
        sys.modules[each] = executed[each]
        parent, _, child = each.rpartition(".")
        if parent:
            setattr(executed[parent], child, executed[each])

class Executed:
    def find_spec(self, name, path=None, target=None):
        if name in executed:
            put_back(name)
            return ModuleSpec(name, self, is_package=hasattr(executed[name], "__path__"))
    def create_module(self, spec):
        return executed[spec.name]
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Executed())
for name in MODULES:
    for other in sorted(loaded(), reverse=True):
        module = sys.modules.pop(other)
        parent, _, child = other.rpartition(".")
        if parent and vars(executed[parent]).get(child) is module:
            delattr(executed[parent], child)
    try:
        __import__(name)
    except Exception as error:
        result[name] = repr(error)
    else:
        found = loaded()
        for each in found:
            executed[each] = sys.modules[each]
            imported.setdefault(each, found)
"""


def in_import_order() -> Iterable[str]:
    # The models, many and all alike, are not worth a fresh start each.
    tree = read_tree(SOURCE, without="models")
    graph = {module_of(name): {*map(module_of, names)} for name, names in import_graph(tree).items()}
    for module, names in graph.items():
        package = module.rpartition(".")[0]
        # Importing a module imports its package, unless the package imports the module, or a module below it.
        if package and not any(f"{each}.".startswith(f"{module}.") for each in graph[package]):
            names.add(package)
    return TopologicalSorter(graph).static_order()


def module_of(name: str) -> str:
    return f"listwatch.{name}".removesuffix(".__init__")


def test_every_module_can_be_imported_first():
    assert in_a_new_interpreter(f"MODULES = {[*in_import_order()]!r}\n{IMPORT_EACH_FIRST}") == {}
