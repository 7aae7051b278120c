"""Parses expressions: tokens → syntax tree, with macros expanded."""

from __future__ import annotations

from listwatch.server.cel.lexing import CELSyntaxError, Token, tokens_of, unquoted
from listwatch.server.cel.macros import expand
from listwatch.server.cel.syntax import Call, Expression, Ident, ListLiteral, Literal, MapLiteral, Select, Struct
from listwatch.server.cel.values import UInt

__all__ = ["parse"]

_RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"),
        *("package", "namespace", "return", "var", "void", "while"),
    }
)
_KEYWORDS = {"true": True, "false": False, "null": None}
_RELATIONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_LEVELS = (("+", "-"), ("*", "/", "%"))
_MAX_DEPTH = 100
_INT64 = range(-(2**63), 2**63)
_START = (
    "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}"
)


def parse(text: str) -> Expression:
    """Raises CELSyntaxError."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        self._index = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def parse(self) -> Expression:
        found = self._expression()
        if self._next.kind != "end":
            raise CELSyntaxError(
                self._next.position, f"Syntax error: extraneous input '{self._next.text}' expecting <EOF>"
            )
        return found

    def _take(self) -> Token:
        token = self._next
        self._index += 1
        return token

    def _is(self, *texts: str) -> bool:
        return self._next.text in texts and self._next.kind in ("operator", "ident")

    def _accept(self, text: str) -> Token | None:
        return self._take() if self._is(text) else None

    def _expect(self, text: str) -> Token:
        token = self._accept(text)
        if token is None:
            raise self._unexpected(f"expecting '{text}'")
        return token

    def _unexpected(self, expecting: str) -> CELSyntaxError:
        token = self._next
        return CELSyntaxError(token.position, f"Syntax error: mismatched input '{token.text}' {expecting}")

    # --- Operators

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise CELSyntaxError(self._next.position, f"expression recursion limit exceeded: {_MAX_DEPTH}")
        condition = self._or()
        if question := self._accept("?"):
            first = self._or()
            self._expect(":")
            condition = Call(question.position, "_?_:_", [condition, first, self._expression()])
        self._depth -= 1
        return condition

    def _or(self) -> Expression:
        left = self._and()
        while token := self._accept("||"):
            left = Call(token.position, "_||_", [left, self._and()])
        return left

    def _and(self) -> Expression:
        left = self._relation()
        while token := self._accept("&&"):
            left = Call(token.position, "_&&_", [left, self._relation()])
        return left

    def _relation(self) -> Expression:
        left = self._calculation(0)
        while self._is(*_RELATIONS):
            token = self._take()
            name = "@in" if token.text == "in" else f"_{token.text}_"
            left = Call(token.position, name, [left, self._calculation(0)])
        return left

    def _calculation(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._calculation(level + 1)
        while self._is(*_LEVELS[level]):
            token = self._take()
            left = Call(token.position, f"_{token.text}_", [left, self._calculation(level + 1)])
        return left

    def _unary(self) -> Expression:
        if not self._is("!", "-"):
            return self._member(self._primary())
        token = self._take()
        count = 1
        if token.text == "-" and self._next.kind in ("int", "double"):
            return self._member(self._number(self._take(), token))
        while self._accept(token.text):
            count += 1
        operand = self._member(self._primary())
        return Call(token.position, f"{token.text}_", [operand]) if count % 2 else operand

    # --- Members

    def _member(self, operand: Expression) -> Expression:
        while True:
            if dot := self._accept("."):
                operand = self._select(operand, dot)
            elif bracket := self._accept("["):
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = self._expression()
                self._expect("]")
                operand = Call(bracket.position, function, [operand, index])
            elif self._is("{") and (name := _qualified_name(operand)):
                operand = self._struct(name)
            else:
                return operand

    def _select(self, operand: Expression, dot: Token) -> Expression:
        optional = self._accept("?")
        if self._next.kind != "ident" or self._next.text in ("in", *_KEYWORDS):
            raise self._unexpected("expecting IDENTIFIER")
        name = self._take()
        if optional:
            return Call(dot.position, "_?._", [operand, Literal(name.position, name.text)])
        if paren := self._accept("("):
            return expand(Call(paren.position, name.text, self._arguments(")"), operand))
        return Select(dot.position, operand, name.text)

    def _arguments(self, end: str) -> list[Expression]:
        found: list[Expression] = []
        while not self._is(end):
            found.append(self._expression())
            if not self._accept(","):
                break
        self._expect(end)
        return found

    # --- Primary expressions

    def _primary(self) -> Expression:
        token = self._next
        match token.kind:
            case "string":
                self._take()
                return Literal(token.position, unquoted(token))
            case "int" | "uint" | "double":
                return self._number(self._take())
            case "ident":
                return self._identifier()
        if self._accept("("):
            inner = self._expression()
            self._expect(")")
            return inner
        if self._accept("["):
            return self._list(token)
        if self._accept("{"):
            return self._map(token)
        if self._accept(".") and self._next.kind == "ident":
            return self._identifier()
        raise self._unexpected(_START)

    def _identifier(self) -> Expression:
        token = self._take()
        if token.text in _KEYWORDS:
            return Literal(token.position, _KEYWORDS[token.text])
        if token.text == "in":
            self._index -= 1
            raise self._unexpected(_START)
        if token.text in _RESERVED:
            raise CELSyntaxError(token.position, f"reserved identifier: {token.text}")
        if paren := self._accept("("):
            return expand(Call(paren.position, token.text, self._arguments(")")))
        return Ident(token.position, token.text)

    def _number(self, token: Token, sign: Token | None = None) -> Literal:
        text = ("-" if sign else "") + token.text
        position = sign.position if sign else token.position
        if token.kind == "double":
            return Literal(position, float(text))
        number = int(text.rstrip("uU"), 16 if "x" in text else 10)
        if token.kind == "uint":
            if number >= 2**64:
                raise CELSyntaxError(position, "invalid uint literal")
            return Literal(position, UInt(number))
        if number not in _INT64:
            raise CELSyntaxError(position, "invalid int literal")
        return Literal(position, number)

    def _list(self, bracket: Token) -> Expression:
        elements: list[Expression] = []
        optional: set[int] = set()
        while not self._is("]"):
            if self._accept("?"):
                optional.add(len(elements))
            elements.append(self._expression())
            if not self._accept(","):
                break
        self._expect("]")
        return ListLiteral(bracket.position, elements, frozenset(optional))

    def _map(self, brace: Token) -> Expression:
        entries: list[tuple[Expression, Expression, bool]] = []
        while not self._is("}"):
            optional = bool(self._accept("?"))
            key = self._expression()
            self._expect(":")
            entries.append((key, self._expression(), optional))
            if not self._accept(","):
                break
        self._expect("}")
        return MapLiteral(brace.position, entries)

    def _struct(self, name: str) -> Expression:
        brace = self._expect("{")
        fields: list[tuple[str, Expression, bool]] = []
        while not self._is("}"):
            optional = bool(self._accept("?"))
            if self._next.kind != "ident":
                raise self._unexpected("expecting IDENTIFIER")
            field_name = self._take().text
            self._expect(":")
            fields.append((field_name, self._expression(), optional))
            if not self._accept(","):
                break
        self._expect("}")
        return Struct(brace.position, name, fields)


def _qualified_name(operand: Expression) -> str:
    match operand:
        case Ident(name=name):
            return name
        case Select(operand=inner, field_name=name, is_test=False):
            outer = _qualified_name(inner)
            return f"{outer}.{name}" if outer else ""
    return ""
