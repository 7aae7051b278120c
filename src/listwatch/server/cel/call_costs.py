"""What single calls cost, by the sizes of their arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from listwatch.server.cel.values import Opaque, Value, size_of

__all__ = ["CHEAP", "CHECK_COST", "SCANS", "call_cost", "pattern_cost", "scan_cost"]

STRING_FACTOR = 0.1
PATTERN_FACTOR = 0.25
CHECK_COST = 350_000
"""Of one authorization check: an expression may make two of them."""
CHEAP = frozenset(
    {
        *("serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"),
        *("allowed", "reason", "error", "errored"),
        *("masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
        *("isLinkLocalUnicast", "isGlobalUnicast", "format.named"),
        *("sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo"),
        *("add", "sub", "major", "minor", "patch"),
        *("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
    }
)
LIST_TRAVERSALS = frozenset({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"})
SCANS = frozenset(
    {
        *("url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"),
        *("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"),
    }
)
_SCAN_OVERLOADS = frozenset(
    {"starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote", "string_format"}
)
COMPARISONS = frozenset(
    {
        *(
            f"{name}_{type_}"
            for name in ("less", "less_equals", "greater", "greater_equals")
            for type_ in ("string", "bytes")
        ),
        *("equals", "not_equals"),
    }
)


def scan_cost(size: float) -> int:
    return math.ceil(size * STRING_FACTOR)


def pattern_cost(text_size: int, pattern_size: int) -> int:
    return scan_cost(1 + text_size) * math.ceil(pattern_size * PATTERN_FACTOR)


def call_cost(function: str, overload: str, arguments: Sequence[Value], result: Value) -> int:
    """Return the cost of a call that has been made."""
    if function in CHEAP or overload == "cidr_ip":
        return 1
    if function == "check":
        return CHECK_COST
    sizes = [size_of(each) for each in arguments]
    if function in LIST_TRAVERSALS:
        return _traversal(arguments[0])
    if function in SCANS or overload in _SCAN_OVERLOADS:
        return scan_cost(sizes[0])
    if overload in COMPARISONS:
        is_unit = isinstance(arguments[0], Opaque) and function == "_==_"
        return 1 if is_unit else scan_cost(min(sizes))
    match function:
        case "replace" | "split" | "ip.isCanonical":
            return scan_cost(2 * sizes[0])
        case "join":
            return scan_cost(2 * size_of(result))
        case "find" | "findAll":
            return pattern_cost(sizes[0], sizes[1])
        case "fieldSelector" | "labelSelector":
            return 10 + scan_cost(sizes[1]) + math.ceil(math.ceil(sizes[1] * 0.5) * 50)
        case "containsIP" | "containsCIDR":
            cost = scan_cost(2 * sizes[0]) + (scan_cost(sizes[0]) + 1 if function == "containsCIDR" else 0)
            return cost + (scan_cost(sizes[1]) if isinstance(arguments[1], str) else 0)
        case "validate":
            return pattern_cost(sizes[1], sizes[0])
    match function:
        case "slice" | "lists.range" | "reverse":
            return 11 + size_of(result)
        case "flatten":
            depth = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], int) else 1
            return 11 + sizes[0] * depth
        case "distinct" | "sort" | "@sortByAssociatedKeys":
            return 11 + 2 * sizes[-1] ** 2
        case "sets.contains" | "sets.intersects" | "sets.equivalent":
            return 1 + sizes[0] * sizes[1] * (2 if function == "sets.equivalent" else 1)
    match overload:
        case "in_list":
            return sizes[1]
        case "add_string" | "add_bytes":
            return scan_cost(sizes[0] + sizes[1])
        case "matches_string" | "matches":
            return pattern_cost(sizes[0], sizes[1])
        case "contains_string":
            return scan_cost(sizes[0]) * scan_cost(sizes[1])
    return 1


def _traversal(value: Value) -> int:
    match value:
        case str() | bytes():
            return int(len(value) * STRING_FACTOR)
        case list():
            return sum(map(_traversal, value))
        case dict():
            return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1
