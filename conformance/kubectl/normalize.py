"""Replaces what differs between any two runs: ages, times, uids, versions, addresses, random names."""

from __future__ import annotations

import json
import re
from contextlib import suppress

__all__ = ["normalized"]

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"https?://127\.0\.0\.1:\d+", "SERVER"),
        (r"127\.0\.0\.1:\d+", "SERVER"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?Z| ?[+-]\d{4}| ?[+-]\d\d:\d\d)?", "TIME"),
        (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
        (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "TIME"),
        (r"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----(\\n|\n)?", "CERTIFICATE"),
        # Each server has checks and pages about its process of its own.
        (r'^ *"/((healthz|livez|readyz)/[^"]*|flagz|statusz|metrics/slis)",?\n', ""),
        # Kubernetes describes some objects in its own words.
        (r"(kubernetes\.io/description\W+)\w[^\"\n]*", r"\1DESCRIPTION"),
        (r"([rR]esource ?[vV]ersion)(\W+)\d+", r"\1\2N"),
        (r"^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "LOG "),
        (r"\bv?1\.3\d\.\d+[-\w.+]*", "VERSION"),
        (r"\beyJ[\w.-]+", "TOKEN"),
        (r"/tmp/(LIVE|MERGED)-\d+", r"\1"),
        (r"/tmp/kubectl-edit-\d+\.yaml", "EDITED"),
        (r"\b10\.\d+\.\d+\.\d+\b", "ADDRESS"),
        (r"(nodePort\W+|:)3\d{4}\b", r"\1PORT"),
        (r"(?<![\w.-])(\d+h)?(\d+m)?\d+(\.\d+)?s(?![\w-])", "AGE"),
        (r"(?<=\w)-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-RANDOM"),
        (r"(?<=\S)[ \t]{2,}", "  "),
        (r"[ \t]+$", ""),
        (r"^-{3,}$", "---"),
    )
)


def normalized(text: str, folder: str) -> str:
    """`text` with placeholders; JSON is indented, so that a difference is one of lines."""
    with suppress(ValueError):
        text = json.dumps(json.loads(text), indent=1, sort_keys=True)
    text = text.replace(folder, "FOLDER")
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
