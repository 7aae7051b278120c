"""The formats of `-o`: tables, JSON, YAML, names and JSONPath templates. Plain text without colours, also in pipes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import click
import msgspec

from listwatch.cli.templates import render
from listwatch.errors import MalformedError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource

__all__ = [
    "OutputFormat",
    "age_of",
    "format_objects",
    "format_size",
    "format_table",
    "object_name",
    "output_option",
    "write",
    "write_line",
]

_NAMES = ("table", "wide", "json", "yaml", "name")
_GAP = "   "
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class OutputFormat(NamedTuple):
    """A format of `-o`; `template` is that of `jsonpath`."""

    name: str = "table"
    template: str = ""

    @property
    def is_table(self) -> bool:
        return self.name in ("table", "wide")


def output_option() -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Return a decorator that adds `-o`."""
    return click.option(
        "-o",
        "--output",
        default="table",
        metavar="FORMAT",
        callback=_parse_format,
        shell_complete=_complete_formats,
        help="table, wide, json, yaml, name or jsonpath=TEMPLATE. [default: table]",
    )


def _parse_format(ctx: click.Context, param: click.Parameter, value: str) -> OutputFormat:
    name, equals, template = value.partition("=")
    if name == "jsonpath" and equals:
        try:
            render(template, {})
        except MalformedError as error:
            raise click.BadParameter(str(error), ctx, param) from None
        return OutputFormat(name, template)
    if value not in _NAMES:
        raise click.BadParameter(f"{value!r} is none of {', '.join(_NAMES)}, jsonpath=TEMPLATE", ctx, param)
    return OutputFormat(value)


def _complete_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*_NAMES, "jsonpath=") if name.startswith(incomplete)]


# --- Writing ----------------------------------------------------------------------------------------------------------


def write(text: str) -> None:
    """Write to stdout at once, so that a reader of the pipe gets it without delay."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_line(text: str) -> None:
    """Write a line to stdout."""
    write(f"{text}\n")


# --- Tables -----------------------------------------------------------------------------------------------------------


def format_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    show_headers: bool = True,
    widths: list[int] | None = None,
) -> str:
    """Return aligned columns. `widths` are the least widths; they are updated, so that later rows are aligned too."""
    lines = [[_cell(each) for each in row] for row in rows]
    if show_headers:
        lines.insert(0, [each.upper() for each in headers])
    widths = [] if widths is None else widths
    for line in lines:
        widths += [0] * (len(line) - len(widths))
        for position, cell in enumerate(line):
            widths[position] = max(widths[position], len(cell))
    return "".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip() + "\n"


def _cell(value: object) -> str:
    """Return the text of a cell on one line; control characters could change the terminal."""
    if value is None:
        return "<none>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    first, newline, _ = text.partition("\n")
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", first) + ("..." if newline else "")


def age_of(timestamp: str | None, now: datetime) -> str:
    """Return the time since a timestamp of the API, as kubectl writes it: 45s, 3m20s, 5h, 12d."""
    if not timestamp:
        return "<unknown>"
    try:
        since = now - datetime.fromisoformat(timestamp)
    except (ValueError, TypeError):
        return "<invalid>"
    return _duration(since)


def format_size(size: int) -> str:
    """A number of bytes: 812 B, 4.3 KB, 1.2 GB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def _duration(elapsed: timedelta) -> str:
    seconds = max(int(elapsed.total_seconds()), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    return f"{days // 365}y{days % 365}d" if days < 8 * 365 else f"{days // 365}y"


# --- Objects ----------------------------------------------------------------------------------------------------------


def object_name(resource: Resource, tree: JSONObject | None = None) -> str:
    """Return `pod/web-0` or `deployment.apps/web`, which commands accept; without an object, `pod/`."""
    group = f".{resource.group}" if resource.group else ""
    metadata = tree.get("metadata") if tree else None
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return f"{resource.singular or resource.kind.lower()}{group}/{name}"


def format_objects(trees: Sequence[JSONObject], output: OutputFormat, *, as_list: bool) -> str:
    """Return objects as JSON, YAML or by a JSONPath template: as a List, or the only one."""
    tree: JSONObject = {"apiVersion": "v1", "kind": "List", "items": [*trees]} if as_list else trees[0]
    match output.name:
        case "json":
            return msgspec.json.format(msgspec.json.encode(tree), indent=4).decode() + "\n"
        case "yaml":
            # Imported here: PyYAML is slow to import.
            from listwatch.objects.yaml.manifests import write as write_yaml

            return write_yaml(tree)
        case _:
            return render(output.template, tree)
