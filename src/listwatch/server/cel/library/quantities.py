"""Quantities such as 500Mi, and semantic versions."""

from __future__ import annotations

import re

from listwatch.errors import QuantityError
from listwatch.quantity import Quantity
from listwatch.server.cel.declarations import Functions, function, method
from listwatch.server.cel.type_system import BOOL, DOUBLE, INT, STRING, opaque
from listwatch.server.cel.values import CELError, Opaque

__all__ = ["QUANTITIES"]

_MAX_DIGITS = 20
"""Of a number below 2^64."""

_QUANTITY, _SEMVER = opaque("kubernetes.Quantity"), opaque("kubernetes.Semver")
_PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
_INT64 = range(-(2**63), 2**63)


# --- Quantities -------------------------------------------------------------------------------------------------------


def _quantity(text: str) -> Opaque:
    try:
        return Opaque(_QUANTITY, Quantity(text))
    except QuantityError:
        raise CELError(f"quantities must match the regular expression '{_PATTERN}'") from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity(text)
    except QuantityError:
        return False
    return True


def _amount(quantity: Opaque) -> Quantity:
    assert isinstance(quantity.value, Quantity)
    return quantity.value


def _compared(left: Opaque, right: Opaque) -> int:
    one, other = _amount(left), _amount(right)
    return (one > other) - (one < other)


def _is_integer(quantity: Opaque) -> bool:
    amount = _amount(quantity).value
    return amount == int(amount) and int(amount) in _INT64


def _as_integer(quantity: Opaque) -> int:
    if not _is_integer(quantity):
        raise CELError("cannot convert value to integer")
    return int(_amount(quantity).value)


def _added(left: Opaque, right: Opaque | int) -> Opaque:
    return Opaque(_QUANTITY, _amount(left) + (_amount(right) if isinstance(right, Opaque) else Quantity(right)))


def _subtracted(left: Opaque, right: Opaque | int) -> Opaque:
    return Opaque(_QUANTITY, _amount(left) - (_amount(right) if isinstance(right, Opaque) else Quantity(right)))


def _sign(quantity: Opaque) -> int:
    amount = _amount(quantity).value
    return (amount > 0) - (amount < 0)


# --- Semantic versions ------------------------------------------------------------------------------------------------

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([^+]*))?(?:\+(.*))?", re.DOTALL)
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")
Precedence = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def _version(text: str, normalize: bool = False) -> Opaque:  # noqa: FBT001, FBT002  # as the function has it
    if normalize:
        text = _normalized(text)
    if not text:
        raise CELError("Version string empty")
    match = _VERSION.fullmatch(text)
    if not match:
        raise CELError(
            "No Major.Minor.Patch elements found"
            if text.count(".") < 2
            else f'Invalid character(s) found in major number "{text}"'
        )
    for name, number in zip(("Major", "Minor", "Patch"), match.groups(), strict=False):
        if len(number) > 1 and number.startswith("0"):
            raise CELError(f'{name} number must not contain leading zeroes "{number}"')
    identifiers = match[4].split(".") if match[4] is not None else []
    for identifier in identifiers:
        if not identifier:
            raise CELError("Prerelease is empty")
        if not _IDENTIFIER.fullmatch(identifier):
            raise CELError(f'Invalid character(s) found in prerelease "{identifier}"')
        if identifier.isdecimal() and len(identifier) > 1 and identifier.startswith("0"):
            raise CELError(f'Numeric PreRelease version must not contain leading zeroes "{identifier}"')
    for identifier in match[5].split(".") if match[5] is not None else []:
        if not _IDENTIFIER.fullmatch(identifier):
            raise CELError(f'Invalid character(s) found in build meta data "{identifier}"')
    for number in match[1], match[2], match[3], *(each for each in identifiers if each.isdecimal()):
        if len(number) > _MAX_DIGITS or int(number) >= 2**64:
            raise CELError(f'strconv.ParseUint: parsing "{number}": value out of range')
    order = tuple(
        (not each.isdecimal(), int(each) if each.isdecimal() else 0, "" if each.isdecimal() else each)
        for each in identifiers
    )
    value: Precedence = (int(match[1]), int(match[2]), int(match[3]), not identifiers, order)
    return Opaque(_SEMVER, value)


def _normalized(text: str) -> str:
    """Drop a leading `v` and leading zeros, and add missing numbers."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            part = part.lstrip("0")
            parts[index] = part if part and part[0].isdecimal() else f"0{part}"
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise CELError("Short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, *["0"] * (3 - len(parts))])


def _precedence(version: Opaque) -> Precedence:
    assert isinstance(version.value, tuple)
    return version.value


def _is_version(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002  # as the function has it
    try:
        _version(text, normalize)
    except CELError:
        return False
    return True


def _versions_compared(left: Opaque, right: Opaque) -> int:
    one, other = _precedence(left), _precedence(right)
    return (one > other) - (one < other)


QUANTITIES: Functions = {
    "quantity": (function("string_to_quantity", (STRING,), _QUANTITY, _quantity),),
    "isQuantity": (function("is_quantity_string", (STRING,), BOOL, _is_quantity),),
    "sign": (function("quantity_sign", (_QUANTITY,), INT, _sign),),
    "isGreaterThan": (
        method(
            "quantity_is_greater_than", (_QUANTITY, _QUANTITY), BOOL, lambda left, right: _compared(left, right) > 0
        ),
        method(
            "semver_is_greater_than", (_SEMVER, _SEMVER), BOOL, lambda left, right: _versions_compared(left, right) > 0
        ),
    ),
    "isLessThan": (
        method("quantity_is_less_than", (_QUANTITY, _QUANTITY), BOOL, lambda left, right: _compared(left, right) < 0),
        method(
            "semver_is_less_than", (_SEMVER, _SEMVER), BOOL, lambda left, right: _versions_compared(left, right) < 0
        ),
    ),
    "compareTo": (
        method("quantity_compare_to", (_QUANTITY, _QUANTITY), INT, _compared),
        method("semver_compare_to", (_SEMVER, _SEMVER), INT, _versions_compared),
    ),
    "asApproximateFloat": (
        method("quantity_get_float", (_QUANTITY,), DOUBLE, lambda each: float(_amount(each).value)),
    ),
    "asInteger": (method("quantity_get_int", (_QUANTITY,), INT, _as_integer),),
    "isInteger": (method("quantity_is_integer", (_QUANTITY,), BOOL, _is_integer),),
    "add": (
        method("quantity_add", (_QUANTITY, _QUANTITY), _QUANTITY, _added),
        method("quantity_add_int", (_QUANTITY, INT), _QUANTITY, _added),
    ),
    "sub": (
        method("quantity_sub", (_QUANTITY, _QUANTITY), _QUANTITY, _subtracted),
        method("quantity_sub_int", (_QUANTITY, INT), _QUANTITY, _subtracted),
    ),
    "semver": (
        function("string_to_semver", (STRING,), _SEMVER, _version),
        function("string_bool_to_semver", (STRING, BOOL), _SEMVER, _version),
    ),
    "isSemver": (
        function("is_semver_string", (STRING,), BOOL, _is_version),
        function("is_semver_string_bool", (STRING, BOOL), BOOL, _is_version),
    ),
    "major": (method("semver_major", (_SEMVER,), INT, lambda version: _precedence(version)[0]),),
    "minor": (method("semver_minor", (_SEMVER,), INT, lambda version: _precedence(version)[1]),),
    "patch": (method("semver_patch", (_SEMVER,), INT, lambda version: _precedence(version)[2]),),
}
