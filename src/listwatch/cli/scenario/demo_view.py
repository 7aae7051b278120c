"""Draws the demo: the story, the pipeline from the server to the handlers, the cache, and the stream of changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.align import Align
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from listwatch.cli.scenario.observer import Observer, SeenChange, status_of
from listwatch.cli.scenario.story import BY_OWNER, Stage, Summary
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.objects.object import Object

__all__ = ["DemoView", "summary_lines", "summary_panel"]

_ACCENT = "cyan"
_SPARKS = "▁▂▃▄▅▆▇█"
_STATE_STYLES = {"watching": "green", "streaming": "yellow", "listing": "yellow", "connecting": "yellow"}
_VERBS = {"ADDED": ("+", "green"), "MODIFIED": ("~", "yellow"), "DELETED": ("−", "red")}
_RATIOS = {"Handlers": 7, "Reflector": 5}
_NARROW = 90
_LOW = 30


class DemoView:
    """The whole screen, drawn from the current state of a stage each time it is rendered."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, options.height or console.height
        observer = self._stage.observer
        is_low, is_narrow = height < _LOW, width < _NARROW
        story = _current_act(observer) if is_low else _story(observer)
        pipeline = self._pipeline_rows() if is_narrow else self._pipeline_boxes()
        layout = Layout()
        layout.split_column(
            Layout(self._header(), size=1),
            Layout(story, size=4 if is_low else len(observer.acts) + 2),
            Layout(pipeline, size=7 if is_narrow else 6),
            Layout(_rates(observer, width), size=1),
            Layout(name="bottom"),
        )
        changes = Layout(_Changes(observer.changes), ratio=3)
        if is_narrow:
            layout["bottom"].update(changes)
        else:
            layout["bottom"].split_row(Layout(self._cache(), ratio=2), changes)
        yield layout

    # --- header ------------------------------------------------------------------------------------------------------

    def _header(self) -> RenderableType:
        grid = Table.grid(expand=True)
        grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_column(justify="right", no_wrap=True)
        title = Text.assemble((" listwatch ", f"bold black on {_ACCENT}"), " informers on the embedded API server ")
        where = Text.assemble((self._stage.server.url, "dim"), f"  {self._stage.observer.seconds:4.1f} s ")
        grid.add_row(title, where)
        return grid

    # --- the pipeline ------------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[tuple[str, str, list[Text]]]:
        """The title, the colour and the lines of each step of the pipeline."""
        server, pods = self._stage.server.statistics(), self._stage.pods.statistics()
        source = pods.sources[0]
        yield (
            "API server",
            "blue",
            [_line(f"revision {server.revision}"), _line(f"{server.watches} watches"), _line("")],
        )
        style = _STATE_STYLES.get(source.state, "red")
        yield (
            "Reflector",
            style,
            [
                Text(f"● {source.state}", style=f"bold {style}"),
                _line(f"version {source.resource_version or '–'}"),
                _line(f"{source.events} events"),
                _line(f"synced {source.syncs}× by {source.synced_by or '…'}"),
            ],
        )
        yield "DeltaFIFO", _ACCENT, [_line(f"{pods.queued} queued"), _bar(pods.queued, 10, _ACCENT)]
        yield (
            "Indexer",
            "green" if pods.has_synced else "yellow",
            [
                Text("synced" if pods.has_synced else "not synced", style="bold"),
                _line(f"{pods.objects} pods"),
                _line(f"version {pods.resource_version or '–'}"),
            ],
        )
        yield "Handlers", "magenta", [*_handlers(pods)]

    def _pipeline_boxes(self) -> RenderableType:
        grid = Table.grid(expand=True)
        steps = list(self._steps())
        cells: list[RenderableType] = []
        for number, (title, style, lines) in enumerate(steps):
            if number:
                grid.add_column(width=3, vertical="middle", justify="center")
                cells.append(Text("─▶", style="dim"))
            grid.add_column(ratio=_RATIOS.get(title, 4))
            panel = Panel(Group(*lines), title=title, border_style=style, box=box.ROUNDED, height=6, padding=(0, 1))
            cells.append(panel)
        grid.add_row(*cells)
        return grid

    def _pipeline_rows(self) -> RenderableType:
        grid = Table.grid(padding=(0, 1))
        for title, style, lines in self._steps():
            shown = lines[-3:] if title == "Handlers" else lines
            text = Text(" · ").join(line for line in shown if line.plain.strip())
            text.no_wrap, text.overflow = True, "ellipsis"
            grid.add_row(Text(title, style=f"bold {style}"), text)
        return Panel(grid, title="the pipeline of pods", border_style="dim", box=box.ROUNDED)

    # --- the cache ---------------------------------------------------------------------------------------------------

    def _cache(self) -> RenderableType:
        return Panel(Group(*self._tree()), title="the cache", border_style="dim", box=box.ROUNDED, padding=(0, 1))

    def _tree(self) -> Iterator[Text]:
        """Deployments, their ReplicaSets and pods, read from the stores by the index of owners."""
        stage = self._stage
        for deployment in stage.deployments.indexer:
            yield _object_line("", deployment)
            for replica_set in stage.replica_sets.indexer.by_index(BY_OWNER, deployment.uid):
                yield _object_line("└ ", replica_set)
                pods = stage.pods.indexer.by_index(BY_OWNER, replica_set.uid)
                for pod in pods:
                    yield _object_line("  └ " if pod is pods[-1] else "  ├ ", pod)
        for pod in stage.pods.indexer:
            if not pod.metadata.owner_references:
                yield _object_line("", pod)


def _line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _bar(value: int, full: int, style: str, *, width: int = 10) -> Text:
    filled = min(width, -(-value * width // full)) if value > 0 else 0
    return Text.assemble(("█" * filled, style), ("░" * (width - filled), "dim"))


def _handlers(statistics: InformerStatistics) -> Iterator[Text]:
    for each in statistics.handlers:
        name = _handler_name(each.name)
        style = "red" if each.pending > 50 else "magenta"
        bar = _bar(each.pending, 160, style, width=8)
        yield Text.assemble(f"{name:<12}", bar, f" {each.pending:>3}", no_wrap=True, overflow="ellipsis")
    handled, pending = (sum(getattr(each, name) for each in statistics.handlers) for name in ("handled", "pending"))
    yield Text(f"{handled} notified, {pending} pending", style="dim", no_wrap=True, overflow="ellipsis")


def _handler_name(name: str) -> str:
    return "change log" if name == Observer.__name__ else name


def _rates(observer: Observer, width: int) -> Text:
    shown = list(observer.rates)[-max(width - 34, 10) :]
    top = max(*shown, 10.0)
    sparks = "".join(_SPARKS[min(int(rate / top * (len(_SPARKS) - 1) + 0.5), len(_SPARKS) - 1)] for rate in shown)
    recent = shown[-8:]
    return Text.assemble(
        (" events ", "bold"), (sparks, _ACCENT), f" {sum(recent) / len(recent):6.0f}/s, peak {top:.0f}"
    )


def _story(observer: Observer) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(no_wrap=True, min_width=max(len(act.title) for act in observer.acts) + 1)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    for number, act in enumerate(observer.acts):
        if number < observer.current:
            grid.add_row(Text("✓", style="green"), Text(act.title, style="dim"), Text(act.text, style="dim"))
        elif number == observer.current:
            grid.add_row(
                Text("▶", style=_ACCENT), Text(act.title, style=f"bold {_ACCENT}"), Text(act.text, style="bold")
            )
        else:
            grid.add_row("", Text(act.title, style="dim"), "")
    return Panel(grid, border_style=_ACCENT, box=box.ROUNDED, padding=(0, 1))


def _current_act(observer: Observer) -> RenderableType:
    act = observer.acts[max(observer.current, 0)]
    text = Text.assemble((f"{act.title}. ", f"bold {_ACCENT}"), (act.text, "bold"))
    return Panel(text, border_style=_ACCENT, box=box.ROUNDED, padding=(0, 1))


_DOTS = {"Running": ("●", "green"), "ContainerCreating": ("◐", "yellow"), "Scheduled": ("◔", "yellow")}


def _object_line(prefix: str, item: Object) -> Text:
    status = status_of(item)
    dot, style = _DOTS.get(status, ("○", "yellow")) if item.kind == "Pod" else ("■", "blue")
    node = getattr(getattr(item, "spec", None), "node_name", None) or ""
    line = Text(no_wrap=True, overflow="ellipsis")
    return (
        line.append(prefix, "dim").append(f"{dot} ", style).append(f"{item.name}  ").append(f"{status} {node}", "dim")
    )


class _Changes:
    """The latest changes, as many as fit, the newest last."""

    def __init__(self, changes: Sequence[SeenChange]) -> None:
        self._changes = changes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = (options.height or console.height) - 2
        shown = list(self._changes)[-max(height, 1) :]
        lines = Group(*(_change_line(each) for each in shown))
        yield Panel(
            Align(lines, vertical="bottom", height=max(height, 1)),
            title="changes, as the handlers see them",
            border_style="dim",
            box=box.ROUNDED,
            padding=(0, 1),
        )


def _change_line(change: SeenChange) -> Text:
    sign, style = _VERBS[change.verb]
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{change.seconds:5.2f} ", "dim").append(f"{sign} {change.verb:<8} ", style)
    return line.append(f"{change.kind} ", "dim").append(f"{change.name} ").append(change.detail, f"dim {style}")


# --- the end ----------------------------------------------------------------------------------------------------------


def summary_lines(summary: Summary) -> list[tuple[str, str]]:
    """What was seen, as pairs of a subject and a sentence."""
    relists = len(summary.relist_reasons)
    notified = ", ".join(f"{_handler_name(name)} {count}" for name, count in summary.notifications)
    reason = f"; the reason: {summary.relist_reasons[-1]}" if relists else ""
    interrupted = ", ".join(sorted({type(each).__name__ for each in summary.interruptions}))
    equal = "equal to the server, object by object" if not summary.differences else "DIFFERENT from the server: "
    return [
        ("events", f"{summary.events} received in {summary.seconds:.1f} s over {summary.watches} watches"),
        ("lists", f"{summary.lists} by stream, {relists} of them a relist{reason}"),
        ("reconnects", f"{len(summary.interruptions)} failed attempts ({interrupted or 'none'}), each retried"),
        ("handlers", f"notified: {notified}; largest backlog {summary.peak_backlog}"),
        ("stores", f"{summary.objects} objects, {equal}{', '.join(summary.differences)}"),
    ]


def summary_panel(summary: Summary) -> RenderableType:
    """The summary for a terminal."""
    grid = Table.grid(padding=(0, 2))
    for subject, sentence in summary_lines(summary):
        is_bad = subject == "stores" and summary.differences
        grid.add_row(Text("✗" if is_bad else "✓", style="red" if is_bad else "green"), Text(subject, "bold"), sentence)
    return Panel(grid, title="what was seen", border_style=_ACCENT, box=box.ROUNDED, padding=(1, 2), expand=False)
