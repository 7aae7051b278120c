"""Names of fields as identifiers of expressions: `my-field` is `my__dash__field`."""

from __future__ import annotations

import re

__all__ = ["RESERVED", "escaped"]

RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9]|_(?!_))*")
_ALLOWED = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
_EXPANDED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def escaped(name: str) -> str | None:
    """Return the identifier for a field; None if the name cannot be one."""
    if name in RESERVED:
        return f"__{name}__"
    if _PLAIN.fullmatch(name) and not name.startswith("__"):
        return name
    if not _ALLOWED.fullmatch(name):
        return None
    return re.sub(r"__|[./-]", lambda match: _EXPANDED[match.group()], name)
