import json
from pathlib import Path
from textwrap import dedent

import pytest

from tools.import_graph import Figures, Spread, cycles, import_graph, importers, main, measure, read_tree, report

SHOP = {
    "__init__": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from shop.orders import Order as Order
    """,
    "orders": """
        from shop import prices
        from shop.stock.store import RecordStore
    """,
    "prices": """
        def price():
            from shop.orders import Order
    """,
    "basket": """
        from shop import Order
        from shop.stock import RecordStore
    """,
    "stock.__init__": """
        from shop.stock.store import RecordStore as RecordStore
    """,
    "stock.store": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from ..basket import Basket
    """,
    "stock.labels": """
        # Generated. DO NOT EDIT.
        from shop import basket, prices
    """,
}


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "shop" / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return root / "shop"


def figures_of(root: Path, text: str) -> Figures:
    return measure(read_tree(written(root, {"only": text})))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return written(tmp_path, SHOP)


def test_generated_files_are_left_out(shop: Path):
    tree = read_tree(shop)
    assert "shop.stock.labels" not in tree
    assert measure(tree).modules == 6


def test_an_import_of_a_generated_module_is_no_import_of_its_package(tmp_path: Path):
    files = {
        "__init__": "from shop.orders import Order\n",
        "orders": "from shop import labels\n",
        "labels": "# Generated. Do not edit.\n",
    }
    assert import_graph(read_tree(written(tmp_path, files)), typing=True)["shop.orders"] == set()


def test_a_name_that_a_package_defines_leads_to_the_package(tmp_path: Path):
    files = {"__init__": "VERSION = '1'\n", "orders": "from shop import VERSION\n"}
    assert import_graph(read_tree(written(tmp_path, files)), typing=True)["shop.orders"] == {"shop.__init__"}


def test_an_import_inside_a_function_makes_a_cycle(shop: Path):
    assert cycles(import_graph(read_tree(shop), typing=False)) == [["shop.orders", "shop.prices"]]


def test_imports_under_type_checking_make_cycles_of_their_own_figure(shop: Path):
    found = cycles(import_graph(read_tree(shop), typing=True))
    assert found == [
        ["shop.__init__", "shop.basket", "shop.orders", "shop.prices", "shop.stock.__init__", "shop.stock.store"]
    ]


def test_a_name_imported_from_a_package_leads_to_the_module_that_defines_it(shop: Path):
    graph = import_graph(read_tree(shop), typing=False)
    assert graph["shop.basket"] == {"shop.__init__", "shop.orders", "shop.stock.__init__", "shop.stock.store"}


def test_the_init_of_a_package_is_not_an_importer_of_its_modules(shop: Path):
    assert importers(read_tree(shop)) == {
        "shop.orders": {"shop.prices", "shop.basket"},
        "shop.prices": {"shop.orders"},
        "shop.basket": {"shop.stock.store"},
        "shop.stock.store": {"shop.orders", "shop.basket"},
    }


def test_the_longest_chain_counts_all_modules_of_a_cycle(shop: Path):
    assert measure(read_tree(shop)).longest_chain == ["shop.basket", "shop.orders", "shop.prices", "shop.stock.store"]


def test_only_names_in_code_count_as_any(tmp_path: Path):
    text = (
        'from typing import Any\nimport typing\ndef f(x: Any) -> typing.Any:\n    """Any."""\n    return "Any"  # Any\n'
    )
    figures = figures_of(tmp_path, text)
    assert (figures.any, figures.any_with_imports) == (2, 3)


def test_a_function_is_measured_without_its_decorators(tmp_path: Path):
    figures = figures_of(tmp_path, "@str\n@str\ndef f():\n    a = 1\n    return a\n")
    assert figures.function_lines == Spread(3, 3, 3)
    assert figures.module_lines == Spread(5, 5, 5)


def test_a_folder_is_crowded_from_sixteen_modules_on(tmp_path: Path):
    fifteen = {f"m{number}": "" for number in range(15)}
    assert measure(read_tree(written(tmp_path, fifteen | {"__init__": ""}))).crowded_folders == {}
    assert measure(read_tree(written(tmp_path, {"m15": ""}))).crowded_folders == {"shop": 16}


def test_the_report_lists_the_modules_on_request(shop: Path):
    figures = measure(read_tree(shop))
    assert "  shop.prices" not in list(report(figures))
    assert "  shop.prices" in list(report(figures, each=True))


def test_the_command_measures_listwatch(capsys: pytest.CaptureFixture[str]):
    main(["--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["runtime_cycles"] == []
    assert figures["modules"] > len(figures["single_importer"]) > 0
    assert figures["module_lines"]["median"] < figures["module_lines"]["p90"] < figures["module_lines"]["max"]
