"""JSONPath templates as `kubectl -o jsonpath=` reads them.

{.metadata.name}{"\n"}                              paths and quoted text in braces, other text as it is
{range .items[*]}{.metadata.name}{"\n"}{end}        a part for each value
.metadata.name                                      a bare path
"""

from __future__ import annotations

import re

import msgspec

from listwatch.api.json_path import JSONPath
from listwatch.errors import MalformedError
from listwatch.json_value import JSON

__all__ = ["render"]

_PART = re.compile(r"\{((?:[^{}'\"]|'[^']*'|\"(?:\\.|[^\"\\])*\")*)\}")

Part = tuple[str, str]


def render(template: str, tree: JSON) -> str:
    """Fill in a template; MalformedError if it cannot be read."""
    if "{" not in template:
        template = f"{{{template}}}"
    return _render(_parse(template), 0, tree)[0]


def _parse(template: str) -> list[Part]:
    """Return the parts of a template: (text, …), (path, …), (range, path) and (end, "")."""
    parts: list[Part] = []
    position = 0
    for found in _PART.finditer(template):
        parts.append(("text", _literal(template[position : found.start()], template)))
        inner, position = found[1].strip(), found.end()
        if inner[:1] in ("'", '"'):
            parts.append(("text", inner[1:-1].replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')))
        elif inner == "end":
            parts.append(("end", ""))
        elif inner.startswith("range "):
            parts.append(("range", inner.removeprefix("range ").strip()))
        else:
            parts.append(("path", inner))
    parts.append(("text", _literal(template[position:], template)))
    return parts


def _literal(text: str, template: str) -> str:
    if "{" in text or "}" in text:
        raise MalformedError(f"cannot read the template {template!r}: a brace is not closed", text=template)
    return text


def _render(parts: list[Part], position: int, tree: JSON, *, in_range: bool = False) -> tuple[str, int]:
    """Render parts up to the end of a range, or to the end; return the text and the position after it."""
    texts: list[str] = []
    while position < len(parts):
        kind, content = parts[position]
        position += 1
        match kind:
            case "text":
                texts.append(content)
            case "path":
                texts.append(" ".join(map(_text, JSONPath(content).find(tree))))
            case "range":
                after = position
                found = JSONPath(content).find(tree)
                for each in found or [None]:
                    text, after = _render(parts, position, each, in_range=True)
                    texts.append(text if found else "")
                position = after
            case "end" if in_range:
                return "".join(texts), position
            case _:
                raise MalformedError("the template has {end} without {range}", text="{end}")
    if in_range:
        raise MalformedError("the template has {range} without {end}", text="{range}")
    return "".join(texts), position


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
