"""Quantities: every legal form is read exactly, written canonically, and compared by its amount."""

import contextlib
import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import QuantityError
from listwatch.quantity import Quantity, QuantityFormat, format_quantity, parse_quantity

DECIMAL_SI, BINARY_SI, DECIMAL_EXPONENT = QuantityFormat

# --- Reading and writing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "canonical"),
    [
        ("0", "0", "0"),
        ("-0", "0", "0"),
        ("0Ki", "0", "0"),
        ("0e6", "0", "0"),
        ("500m", "0.5", "500m"),
        ("0.5", "0.5", "500m"),
        (".5", "0.5", "500m"),
        ("5.", "5", "5"),
        ("+5", "5", "5"),
        ("-1.5", "-1.5", "-1500m"),
        ("1.500", "1.5", "1500m"),
        ("0001", "1", "1"),
        ("100", "100", "100"),
        ("1000", "1000", "1k"),
        ("1500", "1500", "1500"),
        ("1e3", "1000", "1e3"),
        ("1E3", "1000", "1e3"),
        ("1e+3", "1000", "1e3"),
        ("1e2", "100", "100"),
        ("12e6", "12000000", "12e6"),
        ("1.2e4", "12000", "12e3"),
        ("1e-1", "0.1", "100e-3"),
        ("1E", "1000000000000000000", "1E"),
        ("1000E", "1000000000000000000000", "1e21"),
        ("1n", "0.000000001", "1n"),
        ("1000n", "0.000001", "1u"),
        ("1000u", "0.001", "1m"),
        ("1000m", "1", "1"),
        ("0.1m", "0.0001", "100u"),
        ("1k", "1000", "1k"),
        ("1M", "1000000", "1M"),
        ("1G", "1000000000", "1G"),
        ("1T", "1000000000000", "1T"),
        ("1P", "1000000000000000", "1P"),
        ("1Ki", "1024", "1Ki"),
        ("1Mi", "1048576", "1Mi"),
        ("1Gi", "1073741824", "1Gi"),
        ("1Ti", "1099511627776", "1Ti"),
        ("1Pi", "1125899906842624", "1Pi"),
        ("1Ei", "1152921504606846976", "1Ei"),
        ("1024Ki", "1048576", "1Mi"),
        ("2000Ki", "2048000", "2000Ki"),
        ("1.5Gi", "1610612736", "1536Mi"),
        ("-1.5Gi", "-1610612736", "-1536Mi"),
        ("0.5Ki", "512", "512"),
        ("1.1Ki", "1126.4", "1126400m"),
        ("2048Ei", "2361183241434822606848", "2048Ei"),
        ("8Ei", "9223372036854775808", "8Ei"),
        ("18446744073709551616", "18446744073709551616", "18446744073709551616"),
    ],
)
def test_a_quantity_is_read_exactly_and_written_canonically(text: str, value: str, canonical: str):
    quantity = Quantity(text)
    assert quantity.value == Decimal(value)
    assert parse_quantity(text) == Decimal(value)
    assert str(quantity) == canonical
    assert str(Quantity(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"), [("0.9n", "1n"), ("-0.1n", "-1n"), ("1.0000000001", "1000000001n"), ("1e-999999999", "1e-9")]
)
def test_fractions_below_a_billionth_are_rounded_away_from_zero(text: str, canonical: str):
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize(
    ("text", "format"),
    [("1", DECIMAL_SI), ("1k", DECIMAL_SI), ("1Ki", BINARY_SI), ("1e3", DECIMAL_EXPONENT), ("0.0001Ki", DECIMAL_SI)],
)
def test_a_quantity_remembers_the_kind_of_its_suffix(text: str, format: QuantityFormat):
    assert Quantity(text).format is format


@pytest.mark.parametrize(
    ("value", "format", "text"),
    [
        (1024, None, "1024"),
        (1024, BINARY_SI, "1Ki"),
        (1023, BINARY_SI, "1023"),
        (1000, BINARY_SI, "1k"),
        (Decimal("0.5"), None, "500m"),
        (Decimal("1024.5"), BINARY_SI, "1024500m"),
        (3000, DECIMAL_EXPONENT, "3e3"),
        ("1Gi", None, "1Gi"),
        ("1Gi", DECIMAL_SI, "1073741824"),
        (Quantity("1k"), DECIMAL_EXPONENT, "1e3"),
    ],
)
def test_an_amount_is_written_in_the_requested_format(value, format: QuantityFormat | None, text: str):
    assert format_quantity(value, format=format) == text


def test_the_value_of_a_quantity_is_a_plain_decimal():
    assert repr(parse_quantity("500m")) == "Decimal('0.5')"
    assert repr(parse_quantity("1k")) == "Decimal('1000')"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it does not start with a number"),
        ("Ki", "it does not start with a number"),
        (".", "it does not start with a number"),
        ("+", "it does not start with a number"),
        ("--1", "it does not start with a number"),
        (" 1", "it does not start with a number"),
        ("NaN", "it does not start with a number"),
        ("Infinity", "it does not start with a number"),
        ("١", "it does not start with a number"),
        ("\ud800", "it does not start with a number"),
        ("5K", "'K' is not a suffix; valid are n u m k M G T P E Ki Mi Gi Ti Pi Ei"),
        ("1gb", "'gb' is not a suffix"),
        ("1 Gi", "' Gi' is not a suffix"),
        ("1Gi ", "'Gi ' is not a suffix"),
        ("1e", "'e' is not a suffix"),
        ("1e1.5", "'e1.5' is not a suffix"),
        ("1..5", "'.5' is not a suffix"),
        ("1_000", "'_000' is not a suffix"),
        ("1ki", "'ki' is not a suffix"),
        ("1e9999999999", "is not a suffix"),
        ("9" * 1001, "it has 1001 characters"),
    ],
)
def test_a_text_that_is_no_quantity_is_named_with_the_reason(text: str, reason: str):
    with pytest.raises(QuantityError) as caught:
        Quantity(text)
    assert repr(text)[:40] in str(caught.value)
    assert reason in str(caught.value)
    assert caught.value.text == text


@pytest.mark.parametrize("value", [1.5, None, b"1", Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")])
def test_an_inexact_or_infinite_number_is_rejected(value):
    with pytest.raises(QuantityError):
        Quantity(value)


@pytest.mark.parametrize("value", ["1e1000", "-1e999999999", 10**1000, Decimal("1e1000")])
def test_a_number_that_would_fill_the_memory_is_refused(value):
    with pytest.raises(QuantityError, match="too large: a quantity must be below 1e1000"):
        Quantity(value)


def test_a_result_that_would_fill_the_memory_is_refused():
    with pytest.raises(QuantityError, match="the result is too large"):
        Quantity("9e999") * 1_000_000


def test_an_unknown_format_is_refused():
    with pytest.raises(QuantityError, match="expected DecimalSI, BinarySI, DecimalExponent"):
        QuantityFormat("binary")


# --- Comparing and counting ------------------------------------------------------------------------------------------


def test_equal_amounts_are_equal_whatever_their_suffix():
    for other in (Quantity("1000m"), Quantity("1e0"), "1", "1000m", 1, Decimal(1)):
        assert Quantity("1") == other
        assert other == Quantity("1")
    assert len({Quantity("1Ki"), Quantity("1024"), Quantity(1024), 1024, Decimal(1024)}) == 1
    assert Quantity("1Gi") != Quantity("1G")
    assert Quantity("1") != "one"
    assert Quantity("1") != None  # noqa: E711  # asks for the operator
    assert Quantity("1n") != Decimal("1e-10")


def test_quantities_are_ordered_by_amount():
    assert Quantity("500m") < 1 < Quantity("1001m") < "1Ki" < Quantity("1.1k")
    assert sorted(map(Quantity, ["1Gi", "1G", "-1", "100m"])) == ["-1", "100m", "1G", "1Gi"]
    assert max(Quantity("1Gi"), Quantity("1G")) >= "1Gi"


def test_ordering_with_another_type_is_rejected():
    with pytest.raises(TypeError):
        Quantity(1) < 1.5  # type: ignore[operator]  # noqa: B015  # that it is refused is the point
    with pytest.raises(QuantityError):
        Quantity(1) < "many"  # noqa: B015  # that it is refused is the point


def test_arithmetic_keeps_the_format_of_the_first_that_is_not_zero():
    assert str(Quantity("1Gi") + "512Mi") == "1536Mi"
    assert str(Quantity("1Gi") - "1G") == "73741824"
    assert str(sum([Quantity("1Gi"), Quantity("1Gi")])) == "2Gi"
    assert str(3 * Quantity("500m")) == "1500m"
    assert str(2 - Quantity("500m")) == "1500m"
    assert str(-Quantity("1Ki")) == "-1Ki"
    assert str(abs(Quantity("-1Ki"))) == "1Ki"
    assert not Quantity("1Ki") - 1024


@pytest.mark.parametrize("other", [1.5, None])
def test_arithmetic_with_inexact_numbers_is_rejected(other):
    for operation in (Quantity.__add__, Quantity.__sub__, Quantity.__mul__):
        assert operation(Quantity(1), other) is NotImplemented


def test_a_quantity_cannot_be_changed():
    with pytest.raises(AttributeError):
        Quantity(1).value = Decimal(2)  # type: ignore[misc]  # that it is refused is the point


def test_a_quantity_survives_copying_and_pickling():
    quantity = Quantity("1.5Gi")
    for twin in (copy.deepcopy(quantity), pickle.loads(pickle.dumps(quantity))):
        assert (twin, twin.format) == (quantity, BINARY_SI)
    assert repr(quantity) == "Quantity('1536Mi')"


# --- Anything at all -------------------------------------------------------------------------------------------------

FACTORS = {suffix: Fraction(1000) ** power for power, suffix in enumerate(["n", "u", "m", "", *"kMGTPE"], -3)}
FACTORS |= {f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)}
FACTORS |= {f"e{power}": Fraction(10) ** power for power in range(-12, 25)}
NUMBERS = st.from_regex(r"[-+]?([0-9]{1,20}\.?[0-9]{0,12}|\.[0-9]{1,12})", fullmatch=True)
FORMS = st.tuples(NUMBERS, st.sampled_from(sorted(FACTORS)))
QUANTITIES = FORMS.map(lambda form: Quantity("".join(form)))


@given(FORMS)
def test_a_quantity_is_its_number_times_its_suffix_rounded_up_to_nano(form: tuple[str, str]):
    number, suffix = form
    nanos = Fraction(Decimal(number)) * FACTORS[suffix] * 10**9
    rounded = -(-abs(nanos) // 1)
    assert abs(Fraction(parse_quantity(number + suffix))) * 10**9 == rounded
    assert (parse_quantity(number + suffix) < 0) is (nanos < 0)


@given(QUANTITIES)
def test_writing_a_quantity_keeps_its_amount_and_format(quantity: Quantity):
    again = Quantity(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(st.decimals(-(10**30), 10**30), st.sampled_from(QuantityFormat))
def test_writing_a_decimal_keeps_it_down_to_nano(value: Decimal, format: QuantityFormat):
    written = parse_quantity(format_quantity(value, format=format))
    assert 0 <= abs(Fraction(written)) - abs(Fraction(value)) < Fraction(1, 10**9)


@given(QUANTITIES, QUANTITIES)
def test_quantities_are_ordered_and_added_as_decimals_are(left: Quantity, right: Quantity):
    assert (left < right) is (left.value < right.value)
    assert (left == right) is (left.value == right.value)
    assert (left >= right) is (left.value >= right.value)
    assert Fraction((left + right).value) == Fraction(left.value) + Fraction(right.value)
    assert Fraction((left - right).value) == Fraction(left.value) - Fraction(right.value)
    assert (left != right) or hash(left) == hash(right)


@given(st.one_of(st.text(), st.text("0123456789.+-eEinumkKMGTP")))
def test_a_text_is_a_quantity_or_a_quantity_error(text: str):
    with contextlib.suppress(QuantityError):
        quantity = Quantity(text)
        assert Quantity(str(quantity)) == quantity
