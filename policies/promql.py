"""A reader for PromQL: which series a query asks for, and how many it returns.

It reads the expressions that scalers use (selectors, functions, aggregations, operators, subqueries) and refuses what
it does not know, so that a rule says "not decided" rather than something wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
  | (?P<number>0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<duration>(?:\d+(?:ms|[smhdwy]))+)
  | (?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
  | (?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],@:])
    """,
    re.VERBOSE,
)
_AGGREGATIONS = frozenset(
    {"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values", "bottomk", "topk", "quantile"}
    | {"limitk", "limit_ratio"}
)
_PRECEDENCE = {
    **dict.fromkeys(["or"], 1),
    **dict.fromkeys(["and", "unless"], 2),
    **dict.fromkeys(["==", "!=", "<=", "<", ">=", ">"], 3),
    **dict.fromkeys(["+", "-"], 4),
    **dict.fromkeys(["*", "/", "%", "atan2"], 5),
    **dict.fromkeys(["^"], 6),
}
_MATCH_OPERATORS = ("=", "!=", "=~", "!~")
_MAX_DEPTH = 60


class PromqlError(ValueError):
    """The text is no PromQL that this reader understands."""


@dataclass(frozen=True)
class Matcher:
    """One ``label="value"`` of a selector."""

    label: str
    operator: Literal["=", "!=", "=~", "!~"]
    value: str

    def accepts(self, value: str) -> bool | None:
        """Whether a label value passes; None where Prometheus' regular expression can't be tried here."""
        if self.operator in ("=", "!="):
            return (value == self.value) == (self.operator == "=")
        try:
            return (re.fullmatch(self.value, value) is not None) == (self.operator == "=~")
        except re.error:
            return None


@dataclass(frozen=True)
class Number:
    """A number or a string: one value without labels."""

    value: float | None


@dataclass(frozen=True)
class Selector:
    """A metric with its matchers; ``name`` is empty where ``__name__`` is matched otherwise."""

    name: str
    matchers: tuple[Matcher, ...]


@dataclass(frozen=True)
class Call:
    """A function call."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Aggregation:
    """``sum by (a, b) (…)``. ``labels`` is None without ``by`` and ``without``; ``parameter`` is the k of topk."""

    operator: str
    mode: Literal["by", "without"] | None
    labels: frozenset[str]
    parameter: Expression | None
    operand: Expression


@dataclass(frozen=True)
class Binary:
    """Two sides and an operator; ``on``: the labels of ``on (…)``, ``grouped``: the side of ``group_left`` or right."""

    operator: str
    left: Expression
    right: Expression
    on: frozenset[str] | None
    grouped: Literal["left", "right"] | None


Expression = Number | Selector | Call | Aggregation | Binary


@lru_cache(maxsize=2048)
def parse(query: str) -> Expression:
    """The expression that ``query`` states.

    Raises:
        PromqlError: not readable (also a template that is not rendered).
    """
    reader = _Reader(list(_tokens(query)))
    expression = reader.expression()
    if reader.peek()[0] != "end":
        raise PromqlError(f"unexpected {reader.peek()[1]!r}")
    return expression


def _tokens(query: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise PromqlError(f"unexpected {query[position : position + 10]!r}")
        position = match.end()
        if match.lastgroup != "space":
            yield str(match.lastgroup), match.group()
    yield "end", ""


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position]

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.position += token[0] != "end"
        return token

    def accept(self, text: str) -> bool:
        if self.peek()[1].lower() == text and self.peek()[0] in ("sign", "name"):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise PromqlError(f"expected {text!r}, found {self.peek()[1]!r}")

    def expression(self, lowest: int = 1) -> Expression:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise PromqlError("nested too deeply")
        left = self.unary()
        while True:
            kind, text = self.peek()
            precedence = _PRECEDENCE.get(text.lower()) if kind in ("sign", "name") else None
            if precedence is None or precedence < lowest:
                self.depth -= 1
                return left
            self.take()
            self.accept("bool")
            on, grouped = self.matching()
            right = self.expression(precedence if text == "^" else precedence + 1)
            left = Binary(text.lower(), left, right, on, grouped)

    def matching(self) -> tuple[frozenset[str] | None, Literal["left", "right"] | None]:
        on: frozenset[str] | None = None
        grouped: Literal["left", "right"] | None = None
        if self.accept("on"):
            on = self.labels()
        elif self.accept("ignoring"):
            self.labels()
        for side in ("left", "right"):
            if self.accept(f"group_{side}"):
                grouped = "left" if side == "left" else "right"
                if self.peek()[1] == "(":
                    self.labels()
        return on, grouped

    def labels(self) -> frozenset[str]:
        self.expect("(")
        names = set()
        while not self.accept(")"):
            kind, text = self.take()
            if kind not in ("name", "string"):
                raise PromqlError(f"expected a label, found {text!r}")
            names.add(text.strip("\"'`"))
            self.accept(",")
        return frozenset(names)

    def unary(self) -> Expression:
        if self.accept("-") or self.accept("+"):
            return Binary("*", Number(None), self.unary(), None, None)
        return self.postfix(self.primary())

    def postfix(self, expression: Expression) -> Expression:
        """Ranges, offsets and @ don't change which series are meant."""
        while True:
            if self.accept("["):
                while not self.accept("]"):
                    if self.take()[0] == "end":
                        raise PromqlError("a range without its end")
            elif self.accept("offset"):
                self.accept("-")
                self.take()
            elif self.accept("@"):
                if self.take()[0] == "name":
                    self.expect("(")
                    self.expect(")")
            else:
                return expression

    def primary(self) -> Expression:
        kind, text = self.take()
        if kind in ("number", "duration", "string"):
            return Number(_float(text))
        if text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if text == "{" and kind == "sign":
            return self.selector("")
        if kind != "name":
            raise PromqlError(f"unexpected {text!r}" if text else "the query ends early")
        if text.lower() in _AGGREGATIONS and self.peek()[1].lower() in ("(", "by", "without"):
            return self.aggregation(text.lower())
        if self.accept("("):
            return Call(text, self.arguments())
        if self.accept("{"):
            return self.selector(text)
        return Number(None) if text.lower() in ("inf", "nan") else Selector(text, ())

    def arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self.accept(")"):
            found.append(self.expression())
            if not self.accept(",") and self.peek()[1] != ")":
                raise PromqlError(f"expected ',' or ')', found {self.peek()[1]!r}")
        return tuple(found)

    def aggregation(self, operator: str) -> Expression:
        mode, labels = self.grouping()
        self.expect("(")
        arguments = self.arguments()
        if mode is None:
            mode, labels = self.grouping()
        if not arguments:
            raise PromqlError(f"{operator} of nothing")
        return Aggregation(operator, mode, labels, arguments[0] if len(arguments) > 1 else None, arguments[-1])

    def grouping(self) -> tuple[Literal["by", "without"] | None, frozenset[str]]:
        if self.accept("by"):
            return "by", self.labels()
        if self.accept("without"):
            return "without", self.labels()
        return None, frozenset()

    def selector(self, name: str) -> Selector:
        matchers = []
        while not self.accept("}"):
            kind, label = self.take()
            if kind not in ("name", "string"):
                raise PromqlError(f"expected a label, found {label!r}")
            operator = self.peek()[1]
            if kind == "string" and operator not in _MATCH_OPERATORS:
                name = label[1:-1]
            elif operator not in _MATCH_OPERATORS:
                raise PromqlError(f"expected = after {label!r}")
            else:
                self.take()
                kind, value = self.take()
                if kind != "string":
                    raise PromqlError(f"the value of {label!r} has no quotes")
                matchers.append(_matcher(label.strip("\"'`"), operator, value))
            self.accept(",")
        for matcher in matchers:
            if matcher.label == "__name__" and matcher.operator == "=":
                name = matcher.value
        return Selector(name, tuple(matcher for matcher in matchers if matcher.label != "__name__"))


def _matcher(label: str, operator: str, quoted: str) -> Matcher:
    value = quoted[1:-1] if quoted[0] == "`" else re.sub(r"\\(.)", r"\1", quoted[1:-1])
    assert operator in ("=", "!=", "=~", "!~")
    return Matcher(label, operator, value)  # type: ignore[arg-type]  # one of the four, by the line above


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def selectors(expression: Expression) -> Iterator[Selector]:
    """Every selector of an expression, from left to right."""
    if isinstance(expression, Selector):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from selectors(argument)
    elif isinstance(expression, Aggregation):
        yield from selectors(expression.operand)
    elif isinstance(expression, Binary):
        yield from selectors(expression.left)
        yield from selectors(expression.right)


# How many series come back -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Varying:
    """The labels in which the series of a result may differ: ``labels``, or all but ``labels`` where ``all_but``.

    No label at all means that at most one series comes back.
    """

    labels: frozenset[str]
    all_but: bool = False

    @property
    def is_one(self) -> bool:
        """Whether at most one series comes back."""
        return not self.all_but and not self.labels

    def only(self, labels: frozenset[str]) -> Varying:
        """What is left when only ``labels`` are kept."""
        return Varying(labels - self.labels if self.all_but else self.labels & labels)

    def without(self, labels: frozenset[str]) -> Varying:
        """What is left when ``labels`` are dropped or fixed."""
        return Varying(self.labels | labels, True) if self.all_but else Varying(self.labels - labels)


_ONE = Varying(frozenset())
_ONE_VALUE_FUNCTIONS = frozenset({"scalar", "vector", "time", "pi", "absent", "absent_over_time"})
_FIRST_ONLY = frozenset({"topk", "bottomk", "limitk"})


def varying(expression: Expression) -> Varying:
    """In which labels the series of a result may differ."""
    if isinstance(expression, Number):
        return _ONE
    if isinstance(expression, Selector):
        fixed = frozenset(matcher.label for matcher in expression.matchers if matcher.operator == "=")
        return Varying(fixed, all_but=True)
    if isinstance(expression, Call):
        return _varying_of_call(expression)
    if isinstance(expression, Aggregation):
        return _varying_of_aggregation(expression)
    return _varying_of_binary(expression)


def _varying_of_call(call: Call) -> Varying:
    if call.function in _ONE_VALUE_FUNCTIONS:
        return _ONE
    vectors = [varying(argument) for argument in call.arguments if not isinstance(argument, Number)]
    result = vectors[0] if vectors else _ONE
    return result.without(frozenset({"le"})) if call.function.startswith("histogram_") else result


def _varying_of_aggregation(aggregation: Aggregation) -> Varying:
    operand = varying(aggregation.operand)
    if aggregation.operator == "count_values":
        return Varying(frozenset(), all_but=True)
    if aggregation.operator in _FIRST_ONLY and not (
        isinstance(aggregation.parameter, Number) and aggregation.parameter.value == 1
    ):
        return operand
    if aggregation.operator == "limit_ratio":
        return operand
    if aggregation.mode == "without":
        return operand.without(aggregation.labels)
    return operand.only(aggregation.labels)


def _varying_of_binary(binary: Binary) -> Varying:
    left, right = varying(binary.left), varying(binary.right)
    if binary.operator == "or":
        return left if right.is_one and left.is_one else (left if right.is_one else right)
    if binary.operator in ("and", "unless"):
        return left
    if _is_scalar(binary.left):
        return right
    if _is_scalar(binary.right):
        return left
    if binary.grouped == "right":
        return right
    if binary.grouped == "left":
        return left
    if binary.on is not None:
        return left.only(binary.on)
    # One to one: both sides must carry the same labels, so the side with fewer decides.
    return right if right.is_one else left


def _is_scalar(expression: Expression) -> bool:
    if isinstance(expression, Binary):
        return _is_scalar(expression.left) and _is_scalar(expression.right)
    return isinstance(expression, Number) or (
        isinstance(expression, Call) and expression.function in ("scalar", "time", "pi")
    )
