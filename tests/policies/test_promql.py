"""The PromQL reader: what it reads, what it refuses, and that no text makes it crash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import promql


def names(query: str) -> list[str]:
    return [selector.name for selector in promql.selectors(promql.parse(query))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("vllm:num_requests_waiting", ["vllm:num_requests_waiting"]),
        ("sum(a) / count(b) > bool 0.5", ["a", "b"]),
        ("rate(a[5m:30s] offset 1h) or on (pod) group_left (node) b", ["a", "b"]),
        ("sum BY (pod) (a) # the rest\n", ["a"]),
        ("max_over_time(a[1h30m] @ end())", ["a"]),
        ("-a ^ 2 % 3", ["a"]),
        ('{"vllm:a", pod="x"}', ["vllm:a"]),
        ('label_replace(a, "to", "$1", "from", "(.*)")', ["a"]),
        ("clamp_max(scalar(a), Inf)", ["a"]),
        ("vector(1)", []),
    ],
)
def test_names_of_series(query: str, expected: list[str]) -> None:
    assert names(query) == expected


def test_matchers() -> None:
    (selector,) = promql.selectors(promql.parse("""a{x="1", y!='2', z=~`b|c`, w!~"\\\\d+",}"""))
    assert [(m.label, m.operator, m.value) for m in selector.matchers] == [
        ("x", "=", "1"),
        ("y", "!=", "2"),
        ("z", "=~", "b|c"),
        ("w", "!~", "\\d+"),
    ]


@pytest.mark.parametrize(
    ("operator", "value", "tried", "accepted"),
    [
        ("=", "a", "a", True),
        ("=", "a", "ab", False),
        ("!=", "a", "a", False),
        ("=~", "a.*", "ab", True),
        ("=~", "a", "ab", False),  # Prometheus anchors
        ("!~", "a|b", "b", False),
        ("=~", "(", "b", None),
    ],
)
def test_what_a_matcher_accepts(operator: str, value: str, tried: str, accepted: bool | None) -> None:
    assert promql.Matcher("x", operator, value).accepts(tried) is accepted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query", ["", "sum(", "a{b=c}", "a{b}", "a b", "$a", "{{ a }}", "sum()", "a[", "a{", "(" * 200]
)
def test_what_it_refuses(query: str) -> None:
    with pytest.raises(promql.PromqlError):
        promql.parse(query)


@given(st.text(alphabet="abn:_(){}[]\"'=~!,+-*/^ 0159smhby\n", max_size=60))
def test_any_text_is_read_or_refused(query: str) -> None:
    try:
        expression = promql.parse(query)
    except promql.PromqlError:
        return
    assert isinstance(promql.varying(expression), promql.Varying)


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", 'a{x="1"}', "1", "vector(0)"]),
    lambda inner: st.one_of(
        st.builds("sum({})".format, inner),
        st.builds("max by (pod) ({})".format, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("rate({}[5m])".format, inner),
        st.builds("({} or {})".format, inner, inner),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_an_aggregation_without_by_gives_one_series_of_anything(query: str) -> None:
    assert promql.varying(promql.parse(f"sum({query})")).is_one
    assert promql.varying(promql.parse(f"scalar({query})")).is_one


@given(EXPRESSIONS)
def test_brackets_change_nothing(query: str) -> None:
    assert promql.parse(f"(({query}))") == promql.parse(query)
