"""The file of predicates: exactly the approved bytes are executed, and no file breaks the program."""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.consent import consent_text, require_consent
from inspector.config.configuration import Configuration
from inspector.config.consent import describe
from inspector.config.predicate import MAX_BYTES, Facts, digest, load_predicates
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.store.memory import MemoryServerMemory

Written = Callable[[str | bytes], Path]

# Of the same configuration, before a configuration could have predicates.
GOOD = """
from __future__ import annotations
from dataclasses import dataclass
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


def test_public_functions_of_facts_are_the_predicates(written: Written) -> None:
    path = written(GOOD)
    found = load_predicates(path, digest(path))
    assert sorted(found) == ["holds", "remembered", "short"]
    assert found["holds"](Facts(frozenset({"a"})), "a", "b")
    assert found["remembered"](Facts(), "plan") is False


def test_every_load_starts_from_nothing(written: Written) -> None:
    path = written("seen = []\ndef first(facts):\n    seen.append(1)\n    return len(seen) == 1\n")
    assert [load_predicates(path, digest(path))["first"](Facts()) for _ in range(2)] == [True, True]


def test_the_digest_is_that_of_the_bytes(written: Written) -> None:
    assert digest(written(GOOD)) == hashlib.sha256(GOOD.encode()).hexdigest()


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
        ("x = 1\ndef f(facts:\n", ":2", "never closed"),
        ("x = 1\nraise ValueError('no')\n", ":2", "ValueError: no"),
        ("def g():\n    raise SystemExit(3)\ng()\n", ":2", "SystemExit: 3"),
        ("import no_such_module\n", ":1", "ModuleNotFoundError"),
        ("import asyncio\nraise asyncio.CancelledError\n", ":2", "CancelledError"),
        ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n", ":3", "E"),
        ("def f(): return f()\nf()\n", ":1", "RecursionError"),
        (b"x = '\xff'\n", "", "utf-8"),
        (b"x = '\0'\n", "", "null bytes"),
        ("", "", "has no predicates"),
        ("def f(name): return True\n", "", "has no predicates"),
        ("def f(*, facts): return True\n", "", "has no predicates"),
        ("class f:\n    def __init__(self, facts): pass\n", "", "has no predicates"),
        ("\ndef is_authenticated(facts, scope): return True\n", ":2", "built-in"),
        ("\ndef is_authenticated(scope): return True\n", ":2", "built-in"),
        ("milestone_reached = 1\n", "", "built-in"),
        ("\nasync def f(facts): return True\n", ":2", "async or a generator"),
        ("\ndef f(facts): yield True\n", ":2", "async or a generator"),
        ("x = " + "(" * 5000 + ")" * 5000, "", "too many nested"),
        ("x = " + "-" * 300_000 + "1", "", ""),
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


def test_a_file_that_fails_leaves_no_module_behind(written: Written) -> None:
    path = written("raise ValueError\n")
    with pytest.raises(ConfigError):
        load_predicates(path, digest(path))
    assert not [name for name in sys.modules if digest(path) in name]


def test_a_built_in_predicate_may_be_imported_and_used(written: Written) -> None:
    path = written(
        "from inspector.config.predicate import is_authenticated\n"
        "def may_write(facts): return is_authenticated(facts, 'github:write')\n"
    )
    found = load_predicates(path, digest(path))
    assert list(found) == ["may_write"]
    assert found["may_write"](Facts(frozenset({"github:*"}))) is True


@pytest.mark.parametrize("name", ["missing.py", ".", "nul\0"])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        digest(tmp_path / name)
    assert refused.value.hint


def configuration(path: Path) -> Configuration:
    servers = (ServerSpec("notes", "notes-server"),)
    return Configuration("mcp.json", servers, predicates=str(path), predicates_digest=digest(path))


def test_one_changed_byte_voids_the_consent(written: Written) -> None:
    memory = MemoryServerMemory()
    require_consent(configuration(written(GOOD)), memory, approve=True)
    require_consent(configuration(written(GOOD)), memory, approve=False)
    with pytest.raises(ConfigError, match="has not been approved"):
        require_consent(configuration(written(GOOD + " ")), memory, approve=False)


def test_a_consent_without_predicates_is_none_for_predicates(written: Written) -> None:
    plain = Configuration("mcp.json", (ServerSpec("notes", "notes-server"),))
    assert set(plain.consent_items()) < set(configuration(written(GOOD)).consent_items())


def test_the_terminal_shows_what_would_be_executed(written: Written) -> None:
    path = written(GOOD)
    text = "\n".join(map(consent_text, describe(configuration(path))))
    assert f"executes {path}" in text
    assert digest(path)[:12] in text
    assert "command  notes-server" in text
    assert text.count("command") == 1
