"""Formats of names and other strings: `format.dns1123Label().validate(name)`."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime

from listwatch.server.cel.declarations import Functions, function, method
from listwatch.server.cel.library.networks import url_problem
from listwatch.server.cel.type_system import STRING, list_of, opaque, optional_of
from listwatch.server.cel.values import NO_VALUE, Opaque, OptionalValue
from listwatch.server.rules.checks import dns_1035_label, dns_label, dns_subdomain, label_value, qualified_name

__all__ = ["FORMATS"]

_FORMAT = opaque("kubernetes.NamedFormat")
_UUID = re.compile(r"[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}")
_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ].*")


def _prefix(problems: Callable[[str], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    """A prefix of a name may end with a dash."""
    return lambda text: problems(re.sub(r"-$", "a", text) if len(text) > 1 else text)


def _uuid(text: str) -> Iterable[str]:
    return () if _UUID.fullmatch(text) else ("does not match the UUID format",)


def _byte(text: str) -> Iterable[str]:
    try:
        valid = bool(text) and base64.b64decode(text, validate=True) is not None
    except ValueError:
        valid = False
    return () if valid else ("invalid base64",)


def _date(text: str) -> Iterable[str]:
    try:
        date.fromisoformat(text if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else "")
    except ValueError:
        return ("invalid date",)
    return ()


def _datetime(text: str) -> Iterable[str]:
    try:
        datetime.fromisoformat(text if _DATE_TIME.fullmatch(text) else "")
    except ValueError:
        return ("invalid datetime",)
    return ()


def _uri(text: str) -> Iterable[str]:
    problem = url_problem(text)
    return (problem,) if problem else ()


_VALIDATIONS: Mapping[str, tuple[int, Callable[[str], Iterable[str]]]] = {
    "dns1123Label": (30, dns_label),
    "dns1123Subdomain": (60, dns_subdomain),
    "dns1035Label": (30, dns_1035_label),
    "qualifiedName": (60, qualified_name),
    "dns1123LabelPrefix": (30, _prefix(dns_label)),
    "dns1123SubdomainPrefix": (60, _prefix(dns_subdomain)),
    "dns1035LabelPrefix": (30, _prefix(dns_1035_label)),
    "labelValue": (40, label_value),
    "uri": (1103, _uri),
    "uuid": (36, _uuid),
    "byte": (84, _byte),
    "date": (84, _date),
    "datetime": (84, _datetime),
}
"""The length of the pattern, which determines the cost, and the problems of a string."""


def _format(name: str) -> Opaque:
    return Opaque(_FORMAT, name, _VALIDATIONS[name][0])


def _constant(name: str) -> Callable[[], Opaque]:
    return lambda: _format(name)


def _named(name: str) -> OptionalValue:
    return OptionalValue(_format(name)) if name in _VALIDATIONS else NO_VALUE


def _validate(format_: Opaque, text: str) -> OptionalValue:
    assert isinstance(format_.value, str)
    problems = [*_VALIDATIONS[format_.value][1](text)]
    return OptionalValue(problems) if problems else NO_VALUE


FORMATS: Functions = {
    "format.named": (function("format-named", (STRING,), optional_of(_FORMAT), _named),),
    "validate": (method("format-validate", (_FORMAT, STRING), optional_of(list_of(STRING)), _validate),),
    **{f"format.{name}": (function(f"format.{name}", (), _FORMAT, _constant(name)),) for name in _VALIDATIONS},
}
