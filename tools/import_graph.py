"""Prints figures of the source tree: `python -m tools.import_graph [--json] [--list] [FOLDER]`.

The folder is that of a package, `src/listwatch` by default. Files whose first lines contain "Do not edit" are
generated; they are left out of all figures, and so are their imports.

- Lines: all lines of a file. A function is measured from `def` to its last line, without decorators; nested functions
  and methods are functions.
- Importers: modules that import a module, at any level of indentation, also under TYPE_CHECKING. `from package import
  Name` counts as an import of the module from which the package's `__init__` takes the name. An `__init__` that
  passes on the names of its own package is not an importer: it would be one of every public module.
- Cycles: groups of modules that reach each other through imports, once with those that run (also inside functions) and
  once with those under TYPE_CHECKING as well. That an import of `a.b` runs `a/__init__.py` is left out.
- Longest chain: the number of modules on the longest path of imports that run; a cycle counts with all its modules.
- Modules per folder: without `__init__.py`.
- `Any`: the name in code, without strings and comments; once without import statements and once with them.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "listwatch"
SMALL = 60
"""A module with fewer lines is small."""
CROWDED = 15
"""A folder with more modules is crowded."""
GENERATED = "do not edit"
"""What the first lines of a generated file contain, in lower or upper case."""
INIT = "__init__"

Graph = dict[str, set[str]]
"""For each module, the modules that it imports."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name, dotted from the root: `listwatch.meta.ObjectKey`."""

    name: str
    runs: bool  # not only read by type checkers


@dataclass(frozen=True, slots=True)
class Module:
    """What the figures need of one file. Its name is dotted; that of a package ends with `__init__`."""

    name: str
    lines: int
    functions: list[int]
    imports: list[Import]
    exports: dict[str, str]
    any_names: int
    any_imports: int

    @property
    def package(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def is_init(self) -> bool:
        return self.name.endswith(f".{INIT}")


Tree = dict[str, Module]


# --- Reading


def read_tree(root: Path) -> Tree:
    """All modules of the package in the folder that are not generated."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join([root.name, *path.relative_to(root).with_suffix("").parts])
        text = path.read_text(encoding="utf-8")
        if GENERATED not in text[:600].lower():
            modules[name] = read_module(name, text)
    return modules


def read_module(name: str, text: str) -> Module:
    """One module from its source."""
    source = ast.parse(text)
    nodes = list(ast.walk(source))
    typing_only = set(_typing_only(nodes))
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    on_import_lines, elsewhere = _count_any(text, statements)
    return Module(
        name=name,
        lines=len(text.splitlines()),
        functions=[(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions],
        imports=[
            Import(imported, node not in typing_only)
            for node in statements
            for _, imported in _imported_names(node, name)
        ],
        exports=dict(_definitions(source, name))
        | {local: imported for node in statements for local, imported in _imported_names(node, name)},
        any_names=elsewhere,
        any_imports=on_import_lines,
    )


def _typing_only(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Everything inside `if TYPE_CHECKING:`."""
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for statement in node.body:
                yield from ast.walk(statement)


def _definitions(source: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """Each function, class and variable of a module, and its dotted name."""
    for node in source.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, f"{module}.{name}"
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, f"{module}.{name}"


def _imported_names(node: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, str]]:
    """Each local name of an import statement, and the dotted name that it refers to."""
    if isinstance(node, ast.Import):
        yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        return
    origin = module.split(".")[: -node.level] if node.level else []
    origin += [node.module] if node.module else []
    yield from ((alias.asname or alias.name, ".".join([*origin, alias.name])) for alias in node.names)


def _count_any(text: str, statements: Sequence[ast.Import | ast.ImportFrom]) -> tuple[int, int]:
    """The number of occurrences of `Any` in import statements, and elsewhere."""
    import_lines = {line for node in statements for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = [token.start[0] for token in tokens if token.type == tokenize.NAME and token.string == "Any"]
    on_import_lines = sum(line in import_lines for line in lines)
    return on_import_lines, len(lines) - on_import_lines


# --- The graph


def import_graph(tree: Tree, *, typing: bool) -> Graph:
    """The imports between modules, with or without those under TYPE_CHECKING."""
    graph: Graph = {}
    for module in tree.values():
        names = [each.name for each in module.imports if each.runs or typing]
        graph[module.name] = {home for name in names for home in _homes(tree, name)} - {module.name}
    return graph


def _homes(tree: Tree, name: str) -> Iterator[str]:
    """The modules that an imported name comes from: its package, and the module that the package takes it from."""
    seen = set()
    while name not in seen:
        seen.add(name)
        if name in tree:
            yield name
            return
        if f"{name}.{INIT}" in tree:
            yield f"{name}.{INIT}"
            return
        parent, _, attribute = name.rpartition(".")
        if parent in tree:
            yield parent
            return
        package = tree.get(f"{parent}.{INIT}")
        if package is None or attribute not in package.exports:
            return  # a generated module, which is not in the tree
        yield package.name
        name = package.exports[attribute]


def importers(tree: Tree) -> dict[str, set[str]]:
    """The importers of each module, without the `__init__` of packages around it."""
    found: dict[str, set[str]] = {name: set() for name, module in tree.items() if not module.is_init}
    for importer, targets in import_graph(tree, typing=True).items():
        module = tree[importer]
        for target in targets & found.keys():
            if not (module.is_init and target.startswith(f"{module.package}.")):
                found[target].add(importer)
    return found


def cycles(graph: Graph) -> list[list[str]]:
    """The groups of modules that reach each other, the largest first."""
    groups = {frozenset(group) for group in _components(graph).values() if len(group) > 1}
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))


def longest_chain(graph: Graph) -> list[str]:
    """The modules on the longest path, importers first."""
    component = _components(graph)
    below: dict[str, set[str]] = {}
    for module, targets in graph.items():
        here = component[module][0]
        below.setdefault(here, set()).update(
            component[target][0] for target in targets if target not in component[module]
        )
    chains: dict[str, list[str]] = {}
    for first in TopologicalSorter(below).static_order():
        rest = max((chains[other] for other in sorted(below[first])), key=len, default=[])
        chains[first] = [*component[first], *rest]
    return max(chains.values(), key=len, default=[])


def _components(graph: Graph) -> dict[str, list[str]]:
    """For each module, the sorted group of modules that it reaches and that reach it, with itself."""
    reached = {module: _reached(graph, module) for module in graph}
    return {
        module: sorted({module, *(other for other in others if module in reached[other])})
        for module, others in reached.items()
    }


def _reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        new = graph[pending.pop()] - found
        found |= new
        pending.extend(new)
    return found


# --- Figures


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of some lengths."""

    median: int
    p90: int
    max: int

    @classmethod
    def of(cls, values: Sequence[int]) -> Spread:
        if not values:
            return cls(0, 0, 0)
        ordered = sorted(values)
        return cls(int(statistics.median(ordered)), ordered[(len(ordered) * 9) // 10], ordered[-1])

    def __str__(self) -> str:
        return f"median {self.median}, p90 {self.p90}, max {self.max}"


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that is printed."""

    modules: int
    lines: int
    single_importer: list[str]
    small: list[str]
    small_with_single_importer: list[str]
    folders: dict[str, int]
    crowded_folders: dict[str, int]
    runtime_cycles: list[list[str]]
    typing_cycles: list[list[str]]
    longest_chain: list[str]
    any: int
    any_with_imports: int
    function_lines: Spread
    module_lines: Spread


def measure(tree: Tree) -> Figures:
    """All figures of a tree."""
    runtime = import_graph(tree, typing=False)
    modules = list(tree.values())
    single = [name for name, found in importers(tree).items() if len(found) == 1]
    small = [module.name for module in modules if module.lines < SMALL and not module.is_init]
    folders = _by_size(Counter(module.package for module in modules if not module.is_init))
    return Figures(
        modules=len(modules),
        lines=sum(module.lines for module in modules),
        single_importer=single,
        small=small,
        small_with_single_importer=sorted(set(small) & set(single)),
        folders=folders,
        crowded_folders={folder: size for folder, size in folders.items() if size > CROWDED},
        runtime_cycles=cycles(runtime),
        typing_cycles=cycles(import_graph(tree, typing=True)),
        longest_chain=longest_chain(runtime),
        any=sum(module.any_names for module in modules),
        any_with_imports=sum(module.any_names + module.any_imports for module in modules),
        function_lines=Spread.of([lines for module in modules for lines in module.functions]),
        module_lines=Spread.of([module.lines for module in modules]),
    )


def _by_size(folders: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(folders.items(), key=lambda item: (-item[1], item[0])))


def report(figures: Figures, *, each: bool = False) -> Iterator[str]:
    """The figures as lines of text; with `each`, also the modules behind them."""
    yield f"modules: {figures.modules}, lines: {figures.lines} (generated files are left out)"
    yield f"modules with exactly one importer: {len(figures.single_importer)}"
    yield from _listed(figures.single_importer if each else [])
    yield f"modules under {SMALL} lines: {len(figures.small)}"
    yield from _listed(figures.small if each else [])
    yield f"modules under {SMALL} lines with exactly one importer: {len(figures.small_with_single_importer)}"
    yield from _listed(figures.small_with_single_importer if each else [])
    yield f"modules per folder: max {max(figures.folders.values(), default=0)}"
    yield f"folders with more than {CROWDED} modules: {len(figures.crowded_folders)}"
    yield from _listed([f"{folder}: {size}" for folder, size in figures.crowded_folders.items()])
    yield f"import cycles: {_cycle_figures(figures.runtime_cycles)}"
    yield from _listed([", ".join(cycle) for cycle in figures.runtime_cycles])
    yield f"import cycles including TYPE_CHECKING: {_cycle_figures(figures.typing_cycles)}"
    yield from _listed([", ".join(cycle) for cycle in figures.typing_cycles] if each else [])
    yield f"longest import chain: {len(figures.longest_chain)} modules"
    yield from _listed(figures.longest_chain if each else [])
    yield f"Any: {figures.any}, including imports: {figures.any_with_imports}"
    yield f"function lines: {figures.function_lines}"
    yield f"module lines: {figures.module_lines}"


def _cycle_figures(found: Sequence[Sequence[str]]) -> str:
    return f"{len(found)}, of {' + '.join(str(len(cycle)) for cycle in found)} modules" if found else "0"


def _listed(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"  {line}" for line in lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure the folder and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.import_graph", description=__doc__.partition(":")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--list", action="store_true", help="also print the modules behind the figures")
    options = parser.parse_args(arguments)
    figures = measure(read_tree(options.folder.resolve()))
    if options.json:
        print(json.dumps(asdict(figures), indent=2))
        return
    print("\n".join(report(figures, each=options.list)))


if __name__ == "__main__":
    main()
