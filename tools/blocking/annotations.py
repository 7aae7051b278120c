"""Converts the annotations of asynchronous signatures to those of blocking ones."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

__all__ = ["PROTOCOLS", "blocking_annotation", "mentions", "needs_unwrapping", "without_none"]

# Parameters of these types accept blocking objects, or user-defined objects that implement the protocol.
PROTOCOLS = {
    "ListerWatcher": "Source[{0}] | ListerWatcher[{0}]",
    "Watchable": "Source[{0}] | Watchable[{0}]",
    "SourceMaker": "BaseClient",
    "EventSink": "ResourceClient[Any]",
    "_RESTClient": "RESTClient",
}
_ITERATORS = {"AsyncIterator", "AsyncGenerator", "AsyncIterable"}


def blocking_annotation(annotation: ast.expr) -> ast.expr:
    """Return the type in a blocking signature."""
    replaced = _Replaced().visit(copy.deepcopy(annotation))
    assert isinstance(replaced, ast.expr)
    return replaced


def mentions(annotation: ast.expr | None, names: Collection[str]) -> bool:
    """Whether one of the names is part of a type."""
    nodes = () if annotation is None else ast.walk(annotation)
    return any(isinstance(each, ast.Name) and each.id in names for each in nodes)


def needs_unwrapping(annotation: ast.expr, names: Collection[str]) -> bool:
    """Whether a value of this type may be, or contain, a blocking object; parameters of callbacks do not count."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Callable":
        return False
    if isinstance(annotation, ast.BinOp):
        return needs_unwrapping(annotation.left, names) or needs_unwrapping(annotation.right, names)
    return ast.unparse(annotation) in ("Any", "Sequence[Any]") or mentions(annotation, names)


def without_none(annotation: ast.expr | None) -> ast.expr | None:
    """`X` for `X | None`."""
    is_optional = isinstance(annotation, ast.BinOp) and ast.unparse(annotation.right) == "None"
    return annotation.left if is_optional else annotation  # type: ignore[union-attr]  # it is a BinOp then


class _Replaced(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return node.left if ast.unparse(node.left) == ast.unparse(node.right) else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _parsed(PROTOCOLS[node.id]) if node.id in PROTOCOLS else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name = ast.unparse(node.value)
        if name in PROTOCOLS:
            return _parsed(PROTOCOLS[name].format(ast.unparse(node.slice)))
        node.slice = self.visit(node.slice)
        if name == "Awaitable":
            return node.slice
        if name in _ITERATORS:
            item = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            return ast.Subscript(ast.Name("Iterator"), item)
        if name == "AbstractAsyncContextManager":
            return ast.Subscript(ast.Name("AbstractContextManager"), node.slice)
        return node


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
