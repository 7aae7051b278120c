"""The grammar of a CronJob's schedule: five fields, or a word such as `@daily`. `workloads` asks here."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["cron_schedule"]

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAYS = "sun mon tue wed thu fri sat"
# The lowest and highest number of each field, and the words for some of them.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {word: number for number, word in enumerate(_MONTHS.split(), start=1)}),
    (0, 6, {word: number for number, word in enumerate(_DAYS.split())}),
)
_WORDS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


class _Wrong(Exception):  # noqa: N818  # a verdict that never leaves this module
    """What the schedule does wrong."""


def cron_schedule(text: str) -> Iterator[str]:
    """Says what is wrong with a schedule."""
    if "TZ" in text:
        yield "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        return
    try:
        _check(text)
    except _Wrong as wrong:
        yield str(wrong)


def _check(text: str) -> None:
    if text.startswith("@"):
        if text not in _WORDS and not text.startswith("@every "):
            raise _Wrong(f"unrecognized descriptor: {text}")
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise _Wrong(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, (low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            _check_range(part, low, high, words)


def _check_range(part: str, low: int, high: int, words: dict[str, int]) -> None:
    """One of `*`, `5`, `1-5`, `*/2`, `1-5/2`, `mon-fri`."""
    span, *steps = part.split("/")
    first, *last = span.split("-")
    if len(last) > 1:
        raise _Wrong(f"too many hyphens: {part}")
    if len(steps) > 1:
        raise _Wrong(f"too many slashes: {part}")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, words)
        end = _number(last[0], words) if last else high if steps else start
    step = _number(steps[0], {}) if steps else 1
    if start < low:
        raise _Wrong(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise _Wrong(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise _Wrong(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise _Wrong(f"step of range should be a positive number: {part}")


def _number(text: str, words: dict[str, int]) -> int:
    if text.lower() in words:
        return words[text.lower()]
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _Wrong(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
