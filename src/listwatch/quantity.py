"""Kubernetes quantities, exact: `500m`, `1Gi`, `12e6`. Errors are `QuantityError`s.

    <number><suffix>    number   5  5.  .5  0.5  with an optional sign
                        suffix   n u m "" k M G T P E    Ki Mi Gi Ti Pi Ei    e3 E-3

Quantities are formatted canonically: without a fraction, with the largest suffix that is exact, in the format that they
were parsed from. Amounts finer than 1n are rounded away from zero, as in Kubernetes. Large amounts stay exact, also
binary ones above 2⁶³-1, at which the API server caps them.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal
from enum import StrEnum
from functools import total_ordering

from listwatch.errors import QuantityError


class QuantityFormat(StrEnum):
    """The kind of suffix of a quantity."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"

    @classmethod
    def _missing_(cls, value: object) -> QuantityFormat:
        raise QuantityError(f"{value!r} is not a quantity format: expected {', '.join(cls)}")


_NANO = 10**9
_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_FACTORS = {suffix: 1024**power for power, suffix in enumerate(_BINARY_SUFFIXES) if suffix}

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_EXPONENT = re.compile(r"[eE][-+]?0*[0-9]{1,9}")

# Far above any real amount; they bound the memory that a hostile string can use.
_MAX_LENGTH = 1000
_MAX_DIGITS = 1000
_EXACT = Context(prec=3 * _MAX_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_UP)


@total_ordering
class Quantity:
    """An exact amount with a suffix format; immutable.

    It compares with quantities, integers, Decimals, and strings that are quantities. Equal amounts have equal hashes
    whatever their suffixes. Strings hash differently, so do not mix quantities and strings in a set.
    """

    __slots__ = ("_format", "_nanos")

    _nanos: int
    _format: QuantityFormat

    def __init__(self, value: QuantityLike = 0, *, format: QuantityFormat | None = None) -> None:
        match value:
            case Quantity():
                nanos, found = value._nanos, value._format
            case str():
                nanos, found = _parse(value)
            case int() | Decimal():
                nanos, found = _to_nanos(Decimal(value)), QuantityFormat.DECIMAL_SI
            case _:
                raise QuantityError(f"a quantity must be a string, an int or a Decimal, not {value!r}")
        self._nanos = nanos
        self._format = found if format is None else QuantityFormat(format)

    @property
    def value(self) -> Decimal:
        """The amount, without trailing zeros after the point."""
        whole, rest = divmod(self._nanos, _NANO)
        return _EXACT.normalize(_EXACT.scaleb(Decimal(self._nanos), -9)) if rest else Decimal(whole)

    @property
    def format(self) -> QuantityFormat:
        return self._format

    def __str__(self) -> str:
        whole, rest = divmod(self._nanos, _NANO)
        # Below 1Ki, or with a fraction, a binary suffix would not be exact.
        if self._format is QuantityFormat.BINARY_SI and not rest and abs(whole) >= 1024:
            return _binary_text(whole)
        return _decimal_text(self._nanos, with_suffix=self._format is not QuantityFormat.DECIMAL_EXPONENT)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return self._nanos != 0

    def __eq__(self, other: object) -> bool:
        try:
            return self.value == _amount_of(other)
        except QuantityError:
            return False

    def __lt__(self, other: QuantityLike) -> bool:
        amount = _amount_of(other)
        if amount is None:
            return NotImplemented
        return self.value < amount

    def __add__(self, other: QuantityLike) -> Quantity:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        added = Quantity(other)
        return self._with(self._nanos + added._nanos, self._format if self else added._format)

    __radd__ = __add__

    def __sub__(self, other: QuantityLike) -> Quantity:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        return self + -Quantity(other)

    def __rsub__(self, other: QuantityLike) -> Quantity:
        return -self + other

    def __mul__(self, factor: int) -> Quantity:
        if not isinstance(factor, int):
            return NotImplemented
        return self._with(self._nanos * factor, self._format)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return self._with(-self._nanos, self._format)

    def __abs__(self) -> Quantity:
        return -self if self._nanos < 0 else self

    @staticmethod
    def _with(nanos: int, format: QuantityFormat) -> Quantity:
        result = Quantity(format=format)
        result._nanos = _bounded(nanos)
        return result


QuantityLike = Quantity | str | int | Decimal
_OPERANDS = (Quantity, str, int, Decimal)


def parse_quantity(text: str) -> Decimal:
    """The amount of a quantity: `500m` is 0.5, `1Gi` is 1073741824."""
    return Quantity(text).value


def format_quantity(value: QuantityLike, *, format: QuantityFormat | None = None) -> str:
    """The canonical form of an amount, in its own format unless `format` is given: with `BINARY_SI`, 2048 is `2Ki`."""
    return str(Quantity(value, format=format))


def _amount_of(value: object) -> Decimal | None:
    """The amount to compare with, not rounded; None if it cannot be compared."""
    match value:
        case Quantity():
            return value.value
        case str():
            return parse_quantity(value)
        case int() | Decimal():
            return Decimal(value)
    return None


def _parse(text: str) -> tuple[int, QuantityFormat]:
    number = _NUMBER.match(text)
    if len(text) > _MAX_LENGTH:
        raise _bad(text, f"it has {len(text)} characters; the limit is {_MAX_LENGTH}")
    if number is None:
        raise _bad(text, "it does not start with a number")
    amount, suffix = Decimal(number[0]), text[number.end() :]
    if suffix in _DECIMAL_EXPONENTS:
        return _to_nanos(_EXACT.scaleb(amount, _DECIMAL_EXPONENTS[suffix])), QuantityFormat.DECIMAL_SI
    if suffix in _BINARY_FACTORS:
        nanos = _to_nanos(_EXACT.multiply(amount, Decimal(_BINARY_FACTORS[suffix])))
        return nanos, QuantityFormat.DECIMAL_SI if 0 < abs(nanos) < _NANO else QuantityFormat.BINARY_SI
    if _EXPONENT.fullmatch(suffix):
        return _to_nanos(_EXACT.scaleb(amount, int(suffix[1:]))), QuantityFormat.DECIMAL_EXPONENT
    known = " ".join(filter(None, (*_DECIMAL_EXPONENTS, *_BINARY_FACTORS)))
    raise _bad(text, f"{suffix[:40]!r} is not a suffix; valid are {known}, and exponents such as e3")


def _bad(text: str, reason: str) -> QuantityError:
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return QuantityError(f"{shown!r} is not a quantity: {reason}", text=text)


def _to_nanos(amount: Decimal) -> int:
    if not amount.is_finite():
        raise QuantityError(f"a quantity must be a finite number, not {amount}")
    if not amount:
        return 0
    if amount.adjusted() >= _MAX_DIGITS:
        raise QuantityError(f"{amount:.3E} is too large: a quantity must be below 1e{_MAX_DIGITS}")
    return int(_EXACT.scaleb(amount, 9).to_integral_value(ROUND_UP))


def _bounded(nanos: int) -> int:
    if abs(nanos) >= _NANO * 10**_MAX_DIGITS:
        raise QuantityError(f"the result is too large: a quantity must be below 1e{_MAX_DIGITS}")
    return nanos


def _decimal_text(nanos: int, *, with_suffix: bool) -> str:
    mantissa, exponent = nanos, -9 if nanos else 0
    while mantissa and mantissa % 1000 == 0:
        mantissa, exponent = mantissa // 1000, exponent + 3
    # There is no decimal suffix above E, and 1 needs none.
    if (with_suffix and exponent in _DECIMAL_SUFFIXES) or exponent == 0:
        return f"{mantissa}{_DECIMAL_SUFFIXES[exponent]}"
    return f"{mantissa}e{exponent}"


def _binary_text(whole: int) -> str:
    power = 0
    while whole % 1024 == 0 and power < len(_BINARY_SUFFIXES) - 1:
        whole, power = whole // 1024, power + 1
    return f"{whole}{_BINARY_SUFFIXES[power]}"
