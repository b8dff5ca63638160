"""Predicates: what can be written, what they say, and that exactly the approved bytes are executed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.cli.consent import require_consent
from inspector.config.configuration import Configuration
from inspector.config.predicate import (
    BUILT_IN,
    MAX_BYTES,
    MAX_LENGTH,
    Facts,
    digest,
    load_predicates,
    parse_predicate,
)
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.store.server_memory import MemoryServerMemory

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
    assert predicate.args == ("a", -1, 2.5, True, None, ["x", ("y",)])
    assert predicate.kwargs == {"flag": False}


@pytest.mark.parametrize(
    "text",
    [
        *("", "name", "a.b()", "a()()", "f(g())", "f(x)", "f(*['a'])", "f(**{})", "f(1 + 1)", "f(-True)"),
        *("f(f'{1}')", "f(lambda: 1)", "f(x for x in y)", "f(a=1, a=2)", "f() and g()"),
        *("f() == 1", "f(", "f()\ng()", "f(\n'a')", "f('\0')", "f('\ud800')", f"f('{'a' * MAX_LENGTH}')"),
        *(f"f({'[' * 240}{']' * 240})", f"f({'-' * 480}1)", f"{'not ' * 120}f()"),
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


Written = Callable[[str | bytes], Path]

# Of the same configuration, before a configuration could have predicates.
GOOD = """
from __future__ import annotations
from functools import cache
from os.path import join

@dataclass
class Limit:
    least: int

def _hidden(facts):
    return True

def other(name):
    return True

def holds(facts, *scopes, least=1):
    return len(facts.scopes.intersection(scopes)) >= Limit(least).least

@cache
def remembered(facts, name):
    return name in facts.milestones

short = lambda facts: True
"""


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "predicates.py"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_a_file_that_changed_since_it_was_approved_is_not_executed(written: Written, tmp_path: Path) -> None:
    approved = digest(written(GOOD))
    trace = tmp_path / "trace"
    path = written(f"{GOOD}open({str(trace)!r}, 'w')\n")
    with pytest.raises(ConfigError, match="changed since it was approved"):
        load_predicates(path, approved)
    with pytest.raises(ConfigError, match="changed since it was approved"):
        load_predicates(path, "")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("content", "place", "what"),
    [
        ("x = 1\ndef f(facts:\n", "", "never closed"),
        ("x = 1\nraise ValueError('no')\n", ":2", "ValueError: no"),
        ("def g():\n    raise SystemExit(3)\ng()\n", ":2", "SystemExit: 3"),
        ("import no_such_module\n", ":1", "ModuleNotFoundError"),
        ("def f(): return f()\nf()\n", ":1", "RecursionError"),
        (b"x = '\xff'\n", "", "utf-8"),
        (b"x = '\0'\n", "", "null bytes"),
        ("", "", "has no predicates"),
        ("def f(name): return True\n", "", "has no predicates"),
        ("\ndef is_authenticated(facts, scope): return True\n", "", "built-in"),
        ("x = " + "(" * 5000 + ")" * 5000, "", "too many nested"),
        ("#" * (MAX_BYTES + 1), "", "larger than 1 MB"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(
    written: Written, content: str | bytes, place: str, what: str
) -> None:
    path = written(content)
    with pytest.raises(ConfigError) as refused:
        load_predicates(path, digest(path))
    assert f"{path}{place}" in refused.value.message
    assert what in refused.value.message
    assert refused.value.hint
    assert len(refused.value.message) < len(str(path)) + 300


def test_ctrl_c_still_ends_the_program(written: Written) -> None:
    path = written("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_predicates(path, digest(path))


def test_a_built_in_predicate_may_be_imported_and_used(written: Written) -> None:
    path = written(
        "from inspector.config.predicate import is_authenticated\n"
        "def may_write(facts): return is_authenticated(facts, 'github:write')\n"
    )
    found = load_predicates(path, digest(path))
    assert list(found) == ["may_write"]
    assert found["may_write"](Facts(frozenset({"github:*"}))) is True


def configuration(path: Path) -> Configuration:
    servers = (ServerSpec("notes", "notes-server"),)
    return Configuration("mcp.json", servers, predicates=str(path), predicates_digest=digest(path))


def test_one_changed_byte_voids_the_consent(written: Written) -> None:
    memory = MemoryServerMemory()
    require_consent(configuration(written(GOOD)), memory, approve=True)
    require_consent(configuration(written(GOOD)), memory, approve=False)
    with pytest.raises(ConfigError, match="has not been approved"):
        require_consent(configuration(written(GOOD + " ")), memory, approve=False)
