"""Matches regular expressions in linear time, with a limit on the work.

The expression is compiled to a program. All its threads run in parallel, one character of the text at a time. The set
of threads is a state; states and their transitions are cached, so that most characters take one lookup.
"""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.server.regexp.characters import contains, variants
from listwatch.server.regexp.parsing import Alternation, Assertion, Characters, Node, Repetition, Sequence

__all__ = ["Regexp", "TooMuchWorkError"]

MAX_STEPS = 1_000_000
"""The limit for the steps of all threads in one search."""

_MAX_TRANSITIONS = 2000

_JUMP, _SPLIT = "jump", "split"
Instruction = Characters | Assertion | tuple[str, tuple[int, ...]]

# What precedes or follows a place in the text.
_EDGE, _NEWLINE, _WORD, _OTHER = range(4)

_State = tuple[frozenset[int], int]
"""The threads before a character, and what precedes it."""


class TooMuchWorkError(Exception):
    """A search needs more than `MAX_STEPS` steps."""


class Regexp:
    """A compiled expression."""

    def __init__(self, node: Node) -> None:
        self._program: list[Instruction] = []
        self._emit(node)
        self._transitions: dict[tuple[_State, str], _State | None] = {}
        self.steps = 0
        """The steps of threads in the latest search."""

    def search(self, text: str) -> bool:
        """Whether a part of the text matches; raises TooMuchWorkError."""
        self.steps = 0
        state: _State = (frozenset(), _EDGE)
        transitions = self._transitions
        for character in text:
            try:
                following = transitions[state, character]
            except KeyError:
                following = self._add_transition(state, character)
            if following is None:
                return True
            state = following
        return self._threads(*state, _EDGE) is None

    def _add_transition(self, state: _State, character: str) -> _State | None:
        if len(self._transitions) >= _MAX_TRANSITIONS:
            self._transitions.clear()
        found = self._transitions[state, character] = self._next_state(state, character)
        return found

    def _next_state(self, state: _State, character: str) -> _State | None:
        """Return the state after a character; None if the expression matches before it."""
        kind = _kind(character)
        threads = self._threads(*state, kind)
        if threads is None:
            return None
        program = self._program
        return frozenset(at + 1 for at in threads if _accepts(program[at], character)), kind

    def _threads(self, begun: Iterable[int], before: int, after: int) -> list[int] | None:
        """Return the instructions that wait for a character at this place; None if a thread has reached the end."""
        program, end = self._program, len(self._program)
        # A match may begin anywhere.
        pending, seen, waiting = [0, *begun], set[int](), list[int]()
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            if at == end:
                return None
            match program[at]:
                case Characters():
                    waiting.append(at)
                case Assertion(kind):
                    if _holds(kind, before, after):
                        pending.append(at + 1)
                case (_, targets):
                    pending += targets
        self.steps += len(seen)
        if self.steps > MAX_STEPS:
            raise TooMuchWorkError
        return waiting

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Return where the leftmost match begins and ends, from a place on; raises TooMuchWorkError.

        Of several matches that begin there, it is the one that a backtracking search would find first.
        """
        self.steps = 0
        threads: list[tuple[int, int]] = []
        found: tuple[int, int] | None = None
        for place in range(start, len(text) + 1):
            before = _kind(text[place - 1]) if place else _EDGE
            after = _kind(text[place]) if place < len(text) else _EDGE
            if found is None:
                threads.append((0, place))
            waiting, ended = self._in_order(threads, before, after)
            if ended is not None:
                found = ended, place
            if place == len(text) or not waiting:
                if found:
                    return found
                threads = []
                continue
            threads = [(at + 1, begun) for at, begun in waiting if _accepts(self._program[at], text[place])]
        return found

    def _in_order(
        self, threads: list[tuple[int, int]], before: int, after: int
    ) -> tuple[list[tuple[int, int]], int | None]:
        """Return the threads that wait for a character, in order of preference, and where one that ended began.

        Threads that are less preferred than one that ended are dropped.
        """
        program, end = self._program, len(self._program)
        pending, seen, waiting = threads[::-1], set[int](), list[tuple[int, int]]()
        while pending:
            at, begun = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            if at == end:
                return waiting, begun
            match program[at]:
                case Characters():
                    waiting.append((at, begun))
                case Assertion(kind):
                    if _holds(kind, before, after):
                        pending.append((at + 1, begun))
                case (_, targets):
                    pending += [(target, begun) for target in reversed(targets)]
        self.steps += len(seen)
        if self.steps > MAX_STEPS:
            raise TooMuchWorkError
        return waiting, None

    # --- Compilation

    def _emit(self, node: Node) -> None:
        match node:
            case Characters() | Assertion():
                self._program.append(node)
            case Sequence(parts):
                for part in parts:
                    self._emit(part)
            case Alternation(parts):
                self._emit_alternatives(parts)
            case Repetition(part, least, most, is_lazy=is_lazy):
                self._emit_copies(part, least, most, is_lazy=is_lazy)

    def _emit_alternatives(self, parts: tuple[Node, ...]) -> None:
        program = self._program
        split = self._reserve()
        starts, jumps = [], []
        for part in parts:
            starts.append(len(program))
            self._emit(part)
            jumps.append(self._reserve())
        program[split] = _SPLIT, tuple(starts)
        for jump in jumps:
            program[jump] = _JUMP, (len(program),)

    def _emit_copies(self, part: Node, least: int, most: int | None, *, is_lazy: bool) -> None:
        program, order = self._program, -1 if is_lazy else 1
        for _ in range(least):
            self._emit(part)
        if most is None:
            split = self._reserve()
            self._emit(part)
            program.append((_JUMP, (split,)))
            program[split] = _SPLIT, (split + 1, len(program))[::order]
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._reserve())
            self._emit(part)
        for split in splits:
            program[split] = _SPLIT, (split + 1, len(program))[::order]

    def _reserve(self) -> int:
        self._program.append((_JUMP, ()))
        return len(self._program) - 1


def _kind(character: str) -> int:
    if character == "\n":
        return _NEWLINE
    return _WORD if character.isascii() and (character.isalnum() or character == "_") else _OTHER


def _holds(kind: str, before: int, after: int) -> bool:
    match kind:
        case "A":
            return before == _EDGE
        case "z":
            return after == _EDGE
        case "^":
            return before in (_EDGE, _NEWLINE)
        case "$":
            return after in (_EDGE, _NEWLINE)
        case _:
            return ((before == _WORD) != (after == _WORD)) == (kind == "b")


def _accepts(instruction: Instruction, character: str) -> bool:
    assert isinstance(instruction, Characters)
    tried = variants(character) if instruction.ignores_case else (character,)
    return any(contains(instruction.ranges, each) for each in tried) != instruction.is_negated
