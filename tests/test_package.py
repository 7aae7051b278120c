"""The names and the cost of `import listwatch`, in a separate interpreter."""

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

import listwatch

MODULES = sorted(module.name for module in pkgutil.walk_packages(listwatch.__path__, "listwatch."))


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


def test_no_public_name_brings_a_model_with_it():
    loaded = in_a_new_interpreter(
        "import listwatch\nfor name in listwatch.__all__: getattr(listwatch, name)\nresult = list(sys.modules)"
    )
    assert not [name for name in loaded if name.startswith("listwatch.models.")]


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
        from listwatch import Pood  # noqa: F401 - it is the import that is tested


def test_every_module_can_be_imported_first():
    # The models, many and all alike, are not worth a fresh start each.
    program = f"""
result = {{}}
for name in {MODULES!r}:
    if not name.startswith("listwatch.models."):
        for loaded in [loaded for loaded in sys.modules if loaded.startswith("listwatch")]:
            del sys.modules[loaded]
    try:
        __import__(name)
    except Exception as error:
        result[name] = repr(error)
"""
    assert in_a_new_interpreter(program) == {}
