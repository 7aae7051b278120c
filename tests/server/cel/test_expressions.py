"""Expressions; `tests/real/test_generated_rules.py` compares them with those of a real server."""

import pytest

from listwatch.server.cel.cost_estimation import UNLIMITED, estimated_cost
from listwatch.server.cel.declarations import Declarations
from listwatch.server.cel.environment import FUNCTIONS, CompileError, compile_expression
from listwatch.server.cel.escaping import escaped
from listwatch.server.cel.schema_types import declared_type, object_types, size_limits
from listwatch.server.cel.type_system import DYN, INT, STRING, list_of
from listwatch.server.cel.values import CELError, CostLimitError

DECLARED = Declarations(FUNCTIONS, {"self": DYN, "text": STRING, "numbers": list_of(INT)})
VALUES = {"self": {"spec": {"replicas": 3, "name": "web"}, "empty": {}}, "text": "abcab", "numbers": [3, 1, 2]}


def evaluate(text: str) -> object:
    return compile_expression(text, DECLARED).evaluate(VALUES)[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.spec.replicas <= 5 && self.spec.name.startsWith('w')", True),
        ("has(self.spec.color)", False),
        ("self.?empty.?color.orValue('none')", "none"),
        ("numbers.map(x, x * 2).filter(x, x > 2)", [6, 4]),
        ("numbers.all(i, v, v >= 0 && i < 3)", True),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("numbers.sum() + numbers.max() - numbers.min()", 8),
        ("numbers.sortBy(x, -x)", [3, 2, 1]),
        ("text.findAll('a.*?b')", ["ab", "ab"]),
        ("text.find('a.*b')", "abcab"),
        ("'%s has %d, %.2f'.format([text, 3, 1.5])", "abcab has 3, 1.50"),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 == dyn(1.0)", True),
        ("1/0 == 1 || true", True),
        ("[0, 1].exists(x, 1/x == 1)", True),
        ("type(text) == string && type(numbers) == list", True),
        ("quantity('1Gi').add(quantity('1Mi')).isGreaterThan(quantity('1024Mi'))", True),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && ip('::1').isLoopback()", True),
        ("url('https://host:80/path?a=1').getPort()", "80"),
        ("semver('v1.2', true).isLessThan(semver('1.10.0'))", True),
        ("format.dns1123Label().validate('web').hasValue()", False),
        ("sets.equivalent([1, 2, 2], [2, 1])", True),
        ("timestamp('2024-02-29T12:00:00Z').getDayOfYear() + duration('90m').getHours()", 60),
        ("string(duration('90m')) + string(timestamp('2024-01-01T00:00:00Z'))", "5400s2024-01-01T00:00:00Z"),
        (r"b'\xff'.size() + size('ä')", 2),
    ],
)
def test_an_expression_has_its_value(text: str, value: object):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("self.spec.color", "no such key: color"),
        ("numbers[7]", "index out of bounds: 7"),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + numbers[0]", "integer overflow"),
        ("self.spec.name + 1", "no such overload"),
        ("[].max()", "max called on empty list"),
        ("text.substring(9)", "index out of range: 9"),
        ("optional.none().value()", r"optional.none\(\) dereference"),
        ("dyn(null).name", "no such key: name"),
        (f"duration(text + '{'9' * 5000}s')", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        (f"semver('{'9' * 21}.0.0')", f'strconv.ParseUint: parsing "{"9" * 21}": value out of range'),
        (f"semver('1.0.0-{'9' * 5000}')", f'strconv.ParseUint: parsing "{"9" * 5000}": value out of range'),
        (
            "ip('999.1.1.1')",
            r'IP Address "999.1.1.1" parse error .*ParseAddr\("999.1.1.1"\): IPv4 field has value >255',
        ),
        ("cidr('1.2.3.4/99')", r'.*netip.ParsePrefix\("1.2.3.4/99"\): prefix length out of range'),
    ],
)
def test_an_evaluation_fails_with_the_reason(text: str, problem: str):
    with pytest.raises(CELError, match=f"^{problem}$"):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nope > 1", "1:1: undeclared reference to 'nope' (in container '')\n | nope > 1\n | ^"),
        ("text.nope", "1:5: type 'string' does not support field selection\n | text.nope\n | ....^"),
        ("1 + text", "1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + text\n | ..^"),
        ("text.size(1)", "1:10: found no matching overload for 'size' applied to 'string.(int)'"),
        ("[1, 'a']", "1:5: expected type 'int' but found 'string'"),
        ("text.matches('[')", "1:14: invalid matches argument"),
        ("true &&\n  nope", "2:3: undeclared reference to 'nope' (in container '')\n |   nope\n | ..^"),
        ("for == 1", "1:1: reserved identifier: for"),
        ("1 +", "1:4: Syntax error: mismatched input '<EOF>' expecting"),
        ("'a", "1:1: Syntax error: token recognition error"),
        ("(" * 300 + "1" + ")" * 300, "expression recursion limit exceeded"),
    ],
)
def test_the_error_shows_the_part_that_does_not_compile(text: str, problem: str):
    with pytest.raises(CompileError) as caught:
        compile_expression(text, DECLARED)
    assert problem in str(caught.value)


def test_an_evaluation_that_costs_too_much_is_stopped():
    program = compile_expression("lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))", DECLARED)
    with pytest.raises(CostLimitError):
        program.evaluate({})


def test_the_estimated_cost_follows_from_the_limits_of_the_schema():
    def cost(**limits: int) -> int:
        schema = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}, **limits}}}
        declared = declared_type(schema, name="object")
        assert declared
        declarations = Declarations(FUNCTIONS, {"self": declared.type}, object_types(declared).get)
        program = compile_expression("self.names.all(x, self.names.all(y, x == y))", declarations)
        return estimated_cost(program.root, size_limits(declared)).most

    assert cost(maxItems=10) < 100_000_000 < cost() <= UNLIMITED


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("a", "a"), ("my-field", "my__dash__field"), ("a__b", "a__underscores__b"), ("if", "__if__"), ("9", None)],
)
def test_names_of_fields_become_identifiers(name: str, identifier: str | None):
    assert escaped(name) == identifier
