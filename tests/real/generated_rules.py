"""Generates validation rules and objects for them: expressions of every type over one schema."""

from random import Random
from typing import Any

STRING = {"type": "string", "maxLength": 20}
SCHEMA: dict[str, Any] = {
    "i": {"type": "integer"},
    "j": {"type": "integer"},
    "d": {"type": "number"},
    "s": STRING,
    "t": STRING,
    "b": {"type": "boolean"},
    "li": {"type": "array", "maxItems": 10, "items": {"type": "integer"}},
    "ls": {"type": "array", "maxItems": 10, "items": STRING},
    "set": {"type": "array", "maxItems": 10, "items": STRING, "x-kubernetes-list-type": "set"},
    "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "integer"}},
    "o": {"type": "object", "properties": {"x": {"type": "integer"}, "y": STRING}},
    "lm": {
        "type": "array",
        "maxItems": 5,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": STRING, "value": {"type": "integer"}},
        },
    },
    "when": {"type": "string", "format": "date-time"},
    "dur": {"type": "string", "format": "duration"},
    "ios": {"x-kubernetes-int-or-string": True},
    "data": {"type": "string", "format": "byte", "maxLength": 20},
    "my-field": STRING,
    "namespace": STRING,
}
TEXTS = ["", "a", "abc", "A-b", "10.0.0.1", "1.2.3", "5Mi", "äö", "a,b,c", "https://x.y/z?q=1", "10.0.0.0/8", "x y"]

FIXED = r"""
self.i > 0 && self.j > 0
has(self.s) && self.s.startsWith('a')
!has(self.o) || self.o.x > self.i
self.my__dash__field == 'a'
self.__namespace__ != ''
size(self.s) < 5
self.s.size() + self.ls.size() < 10
self.s.matches('^[a-z]+$')
self.s.contains(self.t)
self.s.endsWith('c')
self.s + self.t == 'abc'
self.s.lowerAscii() == 'a-b'
self.s.upperAscii() == 'ABC'
self.s.trim() == self.s
self.s.replace('a', 'b') == 'bbc'
self.s.replace('a', 'b', 1) == 'bbc'
self.s.split(',').size() == 3
self.s.split(',', 2)[1] == 'b,c'
self.s.substring(1) == 'bc'
self.s.substring(1, 2) == 'b'
self.s.charAt(0) == 'a'
self.s.indexOf('b') == 1
self.s.indexOf('b', 1) == 1
self.s.lastIndexOf('b') >= 0
self.ls.join('-') == 'a-b'
self.ls.join() == ''
'%s %d'.format([self.s, self.i]) == 'a 1'
'%s'.format([self.s]) == 'a'
'%d'.format([self.i]) == '1'
'%s'.format([self.ls]) == '["a"]'
'%s'.format([self.li]) == '[1, 2]'
'%s'.format([self.d]) == '1.5'
'%.2f'.format([self.d]) == '1.50'
'%x'.format([self.i]) == 'a'
'%b %o'.format([self.i, self.j]) != ''
'%s'.format([self.m]) == '{"a":1}'
'%s'.format([self.when]) != ''
'%s'.format([self.dur]) != ''
'%d'.format([self.s]) == ''
strings.quote(self.s) == '"a"'
self.s.find('[0-9]+') == '10'
self.s.findAll('[a-z]') == ['a', 'b']
self.s.findAll('[a-z]', 1) == ['a']
self.s.findAll('a*') == ['a']
self.s.find('a.*?c') == 'abc'
self.li.isSorted()
self.li.sum() > 3
self.li.max() == 3
self.li.min() == 1
self.li.indexOf(2) == 1
self.ls.lastIndexOf('a') == 0
self.ls.isSorted()
self.ls.max() == 'b'
self.li.all(x, x > 0)
self.li.exists(x, x == self.i)
self.li.exists_one(x, x == 1)
self.li.map(x, x * 2).sum() == 6
self.li.map(x, x > 1, x + 1) == [3]
self.li.filter(x, x > 1).size() == 1
self.ls.all(x, self.ls.exists_one(y, x == y))
self.m.all(k, k.startsWith('a'))
self.m.exists(k, self.m[k] > 1)
self.m.all(k, v, v > 0)
self.li.all(i, v, v >= i)
self.li.exists(i, v, i == v)
self.li.existsOne(i, v, i == v)
self.li.transformList(i, v, i + v) == [1, 3]
self.li.transformList(i, v, i > 0, v) == [2]
self.m.transformMap(k, v, v + 1) == {'a': 2}
self.m.transformMap(k, v, v > 1, v) == {'b': 2}
self.m.transformMapEntry(k, v, {k + 'x': v}) == {'ax': 1}
self.m.transformList(k, v, v).sum() == 3
'a' in self.m
self.m['a'] == 1
self.m.a == 1
'a' in self.ls
self.i in self.li
self.i in [1, 2, 3]
self.li[0] == 1
self.li == [1, 2]
self.ls == ['b', 'a']
self.set == ['b', 'a']
self.set + ['a'] == self.set
self.lm == [{'name': 'a', 'value': 1}]
self.lm.exists(e, e.name == 'a' && e.value > 0)
self.lm.all(e, has(e.value))
self.lm.map(e, e.name) == ['a']
self.?o.?x.orValue(0) == 0
self.?o.hasValue()
self.o.?x.hasValue()
self.?m['a'].orValue(5) == 1
self.m[?'a'].orValue(5) == 1
self.li[?5].hasValue()
optional.of(self.i).value() == 1
optional.none().hasValue()
optional.ofNonZeroValue(self.i).hasValue()
self.?i.optMap(x, x + 1).orValue(0) == 2
self.?i.optFlatMap(x, optional.of(x + 1)).orValue(0) == 2
self.?i.or(self.?j).hasValue()
[?self.?i, 2].size() == 2
{?'a': self.?i}.size() == 1
type(self.i) == int
type(self.s) == string
type(self.ios) == int ? self.ios > 5 : self.ios.endsWith('%')
self.ios == 5
self.ios == '5%'
type(self.li) == list
type(self.m) == map
type(self.when) == google.protobuf.Timestamp
self.when > timestamp('2024-01-01T00:00:00Z')
self.when.getFullYear() == 2024
self.when.getMonth() == 0
self.when.getDayOfMonth() == 0
self.when.getDate() == 1
self.when.getDayOfWeek() == 1
self.when.getDayOfYear() == 0
self.when.getHours('America/New_York') == 19
self.when.getHours('+02:00') == 2
self.when.getMinutes() + self.when.getSeconds() + self.when.getMilliseconds() == 0
self.when + duration('1h') > self.when
self.when - self.when == duration('0')
string(self.when) == '2024-01-01T00:00:00Z'
int(self.when) > 0
self.dur > duration('1m')
self.dur.getSeconds() == 90
self.dur.getMinutes() == 1
self.dur.getHours() == 0
self.dur.getMilliseconds() == 90000
self.dur + duration('30s') == duration('2m')
string(self.dur) == '90s'
self.data == b'abc'
size(self.data) == 3
string(self.data) == 'abc'
int('12') == self.i
int(self.s) == 10
double(self.s) > 1.0
string(self.i) == '1'
string(self.d) == '1.5'
string(self.b) == 'true'
bool(self.s)
uint(self.i) == 1u
bytes(self.s) == b'abc'
int(self.d) == 1
double(self.i) == 1.0
self.d > 1.0
self.d > 1
self.i > 0.5
self.i == 1.0
self.d * 2.0 == 3.0
self.d / 0.0 > 1.0
self.i / self.j == 1
self.i % self.j == 0
self.i / 0 == 1
-self.i < 0
self.i - 9223372036854775807 < 0
self.i * 9223372036854775807 > 0
self.i + self.d == 2.0
self.b ? self.i > 0 : self.j > 0
!self.b
!!self.b
(self.i + self.j) * 2 == 4
self.i == 1 || self.nope == 2
self.i / 0 == 1 || true
true || self.i / 0 == 1
false && self.i / 0 == 1
self.li.all(x, 10 / x > 0)
self.li.exists(x, 10 / x > 5)
quantity(self.s).isGreaterThan(quantity('1Mi'))
isQuantity(self.s)
isQuantity(self.s) && quantity(self.s).add(quantity('1Mi')).compareTo(quantity('6Mi')) == 0
isQuantity(self.s) && quantity(self.s).sub(1).isLessThan(quantity('5Mi'))
isQuantity(self.s) && quantity(self.s).isInteger() && quantity(self.s).asInteger() > 0
isQuantity(self.s) && quantity(self.s).asApproximateFloat() > 1.0
isQuantity(self.s) && sign(quantity(self.s)) == 1
quantity('1.5').asInteger() == 1
quantity('5Mi') == quantity(self.s)
isIP(self.s)
isIP(self.s) && ip(self.s).family() == 4
isIP(self.s) && ip(self.s).isLoopback()
isIP(self.s) && ip(self.s).isGlobalUnicast()
isIP(self.s) && ip.isCanonical(self.s)
ip(self.s) == ip('10.0.0.1')
string(ip('::1')) == '::1'
ip('fe80::1').isLinkLocalUnicast() && ip('224.0.0.1').isLinkLocalMulticast() && ip('0.0.0.0').isUnspecified()
isCIDR(self.s)
isCIDR(self.s) && cidr(self.s).containsIP('10.1.2.3')
isCIDR(self.s) && cidr(self.s).containsCIDR('10.1.0.0/16')
isCIDR(self.s) && cidr(self.s).prefixLength() == 8
cidr(self.s).masked() == cidr('10.0.0.0/8')
cidr('10.1.2.3/8').ip() == ip('10.1.2.3')
cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')
cidr('10.0.0.0/8').containsIP(ip(self.s))
isURL(self.s)
isURL(self.s) && url(self.s).getHost() == 'x.y'
isURL(self.s) && url(self.s).getScheme() == 'https'
isURL(self.s) && url(self.s).getEscapedPath() == '/z'
isURL(self.s) && url(self.s).getQuery() == {'q': ['1']}
url('https://a.b:80/').getPort() == '80' && url('https://[::1]:80/').getHostname() == '::1'
url(self.s).getHostname() == 'x.y'
isSemver(self.s)
isSemver(self.s) && semver(self.s).isLessThan(semver('1.10.0'))
isSemver(self.s) && semver(self.s).major() + semver(self.s).minor() + semver(self.s).patch() == 6
semver('v1.2', true).compareTo(semver('1.2.0')) == 0
semver(self.s) == semver('1.2.3')
semver('1.2.3-alpha').isLessThan(semver('1.2.3'))
format.dns1123Label().validate(self.s).hasValue()
!format.dns1123Subdomain().validate(self.s).hasValue()
format.named('dns1035Label').hasValue()
format.named('nope').hasValue()
format.dns1035Label().validate(self.s).orValue([]) == []
format.qualifiedName().validate(self.s).hasValue()
format.labelValue().validate(self.s).hasValue()
format.uri().validate(self.s).hasValue()
format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()
format.byte().validate(self.s).hasValue()
format.date().validate(self.s).hasValue()
format.datetime().validate(self.s).hasValue()
format.dns1123LabelPrefix().validate('a-').hasValue()
sets.contains(self.ls, ['a'])
sets.equivalent(self.ls, ['b', 'a'])
sets.intersects(self.li, [1, 5])
has(self.li) && self.li.sort() == [1, 2, 3]
has(self.li) && self.li.sortBy(x, -x)[0] == 3
self.li.reverse()[0] == 3
self.li.slice(0, 1) == [1]
self.li.slice(1, 0) == [1]
has(self.li) && self.li.distinct().size() == self.li.size()
[self.li, [1]].flatten() == [1, 2, 1]
lists.range(3) == [0, 1, 2]
self.ls.map(x, x.size()).sum() > 0
self.nope == 1
self.s.nope == 1
self.i.foo()
self.s > 1
self.i == 'a'
self.li + self.ls == []
self.foo
self.i
'a'
1 +
self.i ==
self.i = 1
(self.i
self.i > 0 &&
a b
[1, 'a'] == []
{'a': 1, 'b': 'c'} == {}
nope(self.i)
self.s.nope()
has(self)
has(self.m.a)
self.li.all(1, x > 0)
self.s.all(x, true)
for > 1
self.if == 1
self.s.matches('[')
self.s.matches(self.t)
timestamp('nope') == self.when
duration('x') == self.dur
self.s == null
self.o == null
oldSelf.i == self.i
self.b == true && self.i != null
dyn(self.i) == 'a'
dyn(self.s) > 1
dyn([1, 'a']).size() == 2
self.i.size() == 1
self.li[self.i] == 2
self.ls[10] == 'a'
self.m['nope'] == 1
self.o.y == 'a'
self.o.z == 1
[1, 2, 3].exists(x, x == self.i) && [1.5].exists(x, x < self.d)
'\u00e4\u00f6' == self.s
r'\d' == self.s
'a' 'b' == 'ab'
\"\"\"a\"\"\" == self.s
b'\\xff' == self.data
0x10 == self.i
1e3 > self.d
.5 < self.d
9223372036854775808 > self.i
-9223372036854775808 < self.i
1u + 2u == 3u
1u - 2u == 3u
self.i < self.j ? self.s == 'a' : self.t == 'b' ? true : false
self.metadata.name == 'a'
""".replace('\\"', '"').strip().splitlines()  # fmt: skip


class RuleGenerator:
    """Generates expressions; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def rules(self, count: int) -> list[str]:
        return [self._bool(3) for _ in range(count)]

    def objects(self, count: int) -> list[dict[str, Any]]:
        return [self._object() for _ in range(count)]

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _bool(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(
                "self.b", "true", "has(self.s)", "has(self.o.x)", "self.i > 0", "'a' in self.ls", "self.s == 'a'"
            )
        one = depth - 1
        return self._random.choice(
            [
                lambda: f"{self._bool(one)} && {self._bool(one)}",
                lambda: f"({self._bool(one)} || {self._bool(one)})",
                lambda: f"!({self._bool(one)})",
                lambda: f"{self._int(one)} {self._pick('==', '!=', '<', '<=', '>', '>=')} {self._int(one)}",
                lambda: f"{self._double(one)} {self._pick('==', '<', '>')} {self._double(one)}",
                lambda: f"{self._int(one)} {self._pick('<', '>', '<=')} {self._double(one)}",
                lambda: f"{self._text(one)} {self._pick('==', '!=', '<', '>')} {self._text(one)}",
                lambda: f"{self._text(one)}.{self._pick('startsWith', 'endsWith', 'contains')}({self._text(one)})",
                lambda: f"{self._ints(one)}.{self._pick('all', 'exists', 'exists_one')}(x, x > {self._int(one)})",
                lambda: f"{self._texts(one)}.{self._pick('all', 'exists')}(x, x.size() < {self._int(one)})",
                lambda: f"{self._ints(one)} == {self._ints(one)}",
                lambda: f"{self._int(one)} in {self._ints(one)}",
                lambda: f"{self._texts(one)}.isSorted()",
                lambda: f"({self._bool(one)} ? {self._bool(one)} : {self._bool(one)})",
                lambda: f"{self._pick('isIP', 'isCIDR', 'isQuantity', 'isURL', 'isSemver')}({self._text(one)})",
                lambda: f"sets.{self._pick('contains', 'intersects')}({self._ints(one)}, {self._ints(one)})",
            ]
        )()  # fmt: skip

    def _int(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("self.i", "self.j", "self.o.x", "1", "0", "-3", "7", "self.m['a']", "self.m.size()")
        one = depth - 1
        return self._random.choice(
            [
                lambda: f"({self._int(one)} {self._pick('+', '-', '*', '/', '%')} {self._int(one)})",
                lambda: f"{self._text(one)}.size()",
                lambda: f"size({self._ints(one)})",
                lambda: f"{self._ints(one)}.{self._pick('sum', 'min', 'max')}()",
                lambda: f"{self._ints(one)}[{self._int(one)}]",
                lambda: f"int({self._pick(self._text(one), self._double(one))})",
                lambda: f"{self._text(one)}.indexOf({self._text(one)})",
                lambda: f"self.?o.?x.orValue({self._int(one)})",
                lambda: f"({self._bool(one)} ? {self._int(one)} : {self._int(one)})",
                lambda: "self.when.getHours()",
            ]
        )()

    def _double(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("self.d", "1.5", "-0.25", "1e3")
        return self._pick(
            f"({self._double(depth - 1)} {self._pick('+', '-', '*', '/')} {self._double(depth - 1)})",
            f"double({self._int(depth - 1)})",
        )

    def _text(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("self.s", "self.t", "self.o.y", "'a'", "''", "'abc'", "self.my__dash__field", "'äö'")
        one = depth - 1
        return self._random.choice(
            [
                lambda: f"({self._text(one)} + {self._text(one)})",
                lambda: f"{self._text(one)}.{self._pick('lowerAscii', 'upperAscii', 'trim')}()",
                lambda: f"{self._text(one)}.substring({self._int(one)})",
                lambda: f"string({self._pick(self._int(one), self._bool(one), self._double(one))})",
                lambda: f"{self._texts(one)}.join({self._text(0)})",
                lambda: f"{self._text(one)}.replace({self._text(0)}, {self._text(0)})",
                lambda: f"{self._text(one)}.find('[a-c]+')",
                lambda: f"'%s'.format([{self._pick(self._ints(one), self._texts(one), self._double(one))}])",
            ]
        )()

    def _ints(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("self.li", "[1, 2]", "[self.i]")
        one = depth - 1
        return self._random.choice(
            [
                lambda: f"{self._ints(one)}.map(y{depth}, y{depth} + {self._int(one)})",
                lambda: f"{self._ints(one)}.filter(z{depth}, {self._bool(one)})",
                lambda: f"({self._ints(one)} + {self._ints(one)})",
                lambda: f"{self._texts(one)}.map(w{depth}, w{depth}.size())",
                lambda: f"{self._ints(one)}.reverse()",
            ]
        )()

    def _texts(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("self.ls", "self.set", "['a', 'b']", "self.lm.map(e, e.name)")
        return self._pick(
            f"{self._texts(depth - 1)}.map(v{depth}, v{depth} + {self._text(depth - 1)})",
            f"{self._text(depth - 1)}.split(',')",
            f"{self._text(depth - 1)}.findAll('[a-z]')",
        )

    def _object(self) -> dict[str, Any]:
        number, text = lambda: self._random.choice([0, 1, 2, 3, 10, -4]), lambda: self._random.choice(TEXTS)
        spec: dict[str, Any] = {
            "i": number(),
            "j": number(),
            "d": self._random.choice([1.5, 0, -2.25, 1]),
            "s": text(),
            "t": text(),
            "b": self._random.random() < 0.5,
            "li": [number() for _ in range(self._random.randrange(4))],
            "ls": [text() for _ in range(self._random.randrange(4))],
            "set": sorted({text() for _ in range(self._random.randrange(4))}),
            "m": {key: number() for key in self._random.sample(["a", "b", "c"], self._random.randrange(4))},
            "o": self._random.choice([{}, {"x": number()}, {"x": number(), "y": text()}]),
            "lm": [{"name": name, "value": number()} for name in self._random.sample("abc", self._random.randrange(3))],
            "when": self._random.choice(["2024-01-01T00:00:00Z", "1999-12-31T23:59:59.5+01:00"]),
            "dur": self._random.choice(["90s", "1h0m0.5s", "0"]),
            "ios": self._random.choice([5, "5%", 10]),
            "data": self._random.choice(["YWJj", "/w=="]),
            "my-field": text(),
            "namespace": text(),
        }
        for name in self._random.sample(sorted(spec), self._random.randrange(5)):
            del spec[name]
        return spec
