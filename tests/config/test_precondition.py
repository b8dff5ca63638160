"""Predicates: what can be written, what cannot, and what the built-in ones say."""

import pytest
from hypothesis import given, strategies as st

from inspector.config.predicate import BUILT_IN, MAX_LENGTH, Facts, parse_predicate
from inspector.core.error import ConfigError

words = st.text("ab:*_", max_size=4)
facts = st.builds(
    Facts,
    st.frozensets(words, max_size=4),
    st.frozensets(words, max_size=4),
    st.frozensets(words, max_size=4),
)
calls = st.text(alphabet="not f(\"'),=*[]{}.-+1:\\\n\0\ud800é", max_size=40)


def holds(text: str, known: Facts) -> bool:
    predicate = parse_predicate(text)
    answer = BUILT_IN[predicate.name](known, *predicate.args, **predicate.kwargs)
    return answer is not predicate.negated


def test_the_three_predicates_of_the_paper_are_read_as_they_are_written() -> None:
    scope = parse_predicate('is_authenticated(scope="github:write")')
    assert (scope.name, scope.args, scope.kwargs) == ("is_authenticated", (), {"scope": "github:write"})
    assert parse_predicate('has_prior_tool_output("search_")').args == ("search_",)
    assert parse_predicate(" milestone_reached('plan_confirmed') ").text == (
        "milestone_reached('plan_confirmed')"
    )


def test_a_predicate_may_be_negated_once() -> None:
    assert parse_predicate("not milestone_reached('done')").negated
    assert not parse_predicate("milestone_reached('done')").negated
    with pytest.raises(ConfigError):
        parse_predicate("not not milestone_reached('done')")


def test_arguments_are_literals_and_lists_of_them() -> None:
    predicate = parse_predicate("own('a', -1, 2.5, True, None, ['x', ('y',)], flag=False)")
    assert predicate.args == ("a", -1, 2.5, True, None, ("x", ("y",)))
    assert predicate.kwargs == {"flag": False}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "a.b()",
        "a()()",
        "f(g())",
        "f(x)",
        "f(*['a'])",
        "f(**{})",
        "f(1 + 1)",
        "f(-True)",
        "f(f'{1}')",
        "f(b'x')",
        "f(...)",
        "f(lambda: 1)",
        "f(x for x in y)",
        "f(a=1, a=2)",
        "f() and g()",
        "f() == 1",
        "f(",
        "f()\ng()",
        "f(\n'a')",
        "f('\0')",
        "f('\ud800')",
        "f('" + "a" * MAX_LENGTH + "')",
        "f(" + "[" * 240 + "]" * 240 + ")",
        "f(" + "-" * 480 + "1)",
        "not " * 120 + "f()",
        "__import__('os').system('true')",
    ],
)
def test_whatever_is_no_plain_call_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_predicate(text)
    assert refused.value.hint
    assert len(refused.value.message) < 2 * MAX_LENGTH


@given(st.one_of(st.text(), calls, calls.map("f({})".format)))
def test_no_text_raises_anything_but_a_config_error(text: str) -> None:
    try:
        predicate = parse_predicate(text)
    except ConfigError:
        return
    assert predicate.text == text.strip()


def test_a_scope_is_held_itself_or_by_a_wider_one() -> None:
    known = Facts(scopes=frozenset({"github:*", "mail:read"}))
    assert holds("is_authenticated('github:write')", known)
    assert holds("is_authenticated(scope='mail:read')", known)
    assert not holds("is_authenticated('mail:write')", known)
    assert not holds("is_authenticated('gitlab:write')", known)
    assert not holds("is_authenticated('mail:*')", known)


def test_an_output_counts_by_the_tools_id_or_its_plain_name() -> None:
    known = Facts(outputs=frozenset({"web:search_pages"}))
    assert holds("has_prior_tool_output('search_')", known)
    assert holds("has_prior_tool_output('web:')", known)
    assert not holds("has_prior_tool_output('pages')", known)
    assert not holds("has_prior_tool_output('search_')", Facts(scopes=frozenset({"search_"})))


def test_a_milestone_counts_by_its_exact_name() -> None:
    known = Facts(milestones=frozenset({"plan_confirmed"}))
    assert holds("milestone_reached('plan_confirmed')", known)
    assert not holds("not milestone_reached('plan_confirmed')", known)
    assert not holds("milestone_reached('plan')", known)


@given(st.sampled_from(sorted(BUILT_IN)), words, facts, facts)
def test_more_facts_never_close_what_was_open(name: str, argument: str, some: Facts, more: Facts) -> None:
    both = Facts(some.scopes | more.scopes, some.outputs | more.outputs, some.milestones | more.milestones)
    text = f"{name}({argument!r})"
    assert holds(text, both) or not holds(text, some)
    assert not holds(f"not {text}", both) or holds(f"not {text}", some)
