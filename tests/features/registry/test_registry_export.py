"""A registry as a file: the same registry again, and what is wrong with a line."""

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ConfigError
from inspector.core.redaction import SECRETS
from inspector.core.tool import Annotations, Tool
from inspector.features.registry.acceptance import SyncReport
from inspector.features.registry.export import is_export, read_export, write_export
from inspector.features.registry.sqlite import SqliteRegistry
from tests.support.registry import names, tool

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
schemas = st.dictionaries(st.text(max_size=4), json_values, max_size=3)
claims = st.none() | st.booleans()
any_tools = st.builds(
    Tool,
    names,
    names,
    st.text(max_size=9),
    schemas,
    st.builds(Annotations, claims, claims, claims, claims),
    st.none() | schemas,
    st.text(max_size=3),
    st.lists(st.text(max_size=3), max_size=2).map(tuple),
)
# What each of some origins had, one time after the other.
histories = st.lists(st.tuples(names, st.lists(any_tools, max_size=4)), max_size=4)


def test_what_was_kept_before_it_was_known_to_be_secret_is_not_exported(tmp_path: Path) -> None:
    registry, file = SqliteRegistry(tmp_path / "a.db"), tmp_path / "export.jsonl"
    registry.sync("shop", [tool("shop", "list", "Lists for wsp-93fA71cd.")], at=1.0)
    SECRETS.learn({"shop.REF": "wsp-93fA71cd"})
    write_export(file, registry.history())
    registry.close()
    assert [one.tool.description for one in read_export(file)] == ["Lists for [redacted]."]


@pytest.mark.slow
@given(histories)
def test_an_import_of_an_export_is_the_same_registry(history: list[tuple[str, list[Tool]]]) -> None:
    with TemporaryDirectory() as folder:
        first, second = (SqliteRegistry(Path(folder) / name) for name in ("a.db", "b.db"))
        file = Path(folder) / "export.jsonl"
        for at, (origin, tools) in enumerate(history):
            first.sync(origin, tools, at=at + 0.25)
        whole = list(first.history())
        assert write_export(file, first.history()) == len(whole)
        assert second.restore(read_export(file)) == SyncReport(added=first.count())
        assert list(second.history()) == whole
        assert (second.origins(), second.servers()) == (first.origins(), first.servers())
        assert list(second.tools()) == list(first.tools())
        assert second.restore(read_export(file)) == SyncReport(unchanged=first.count())
        assert list(second.history()) == whole
        first.close()
        second.close()


@pytest.fixture
def lines(tmp_path: Path) -> list[str]:
    """Three good lines."""
    registry, file = SqliteRegistry(tmp_path / "a.db"), tmp_path / "good.jsonl"
    registry.sync("o", [tool("s", name, "Text.") for name in "abc"], at=1.0)
    write_export(file, registry.history())
    registry.close()
    return file.read_text().splitlines()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"server": "s"}', "is missing"),
        ("[" * 100_000, "is nested too deeply"),
        ({"at": math.nan}, "at must be a finite number, not nan"),
        ({"at": math.inf}, "at must be a finite number, not inf"),
        ({"at": 1e300}, "at must be less than or equal to 253402300799, not 1e+300"),
        ({"version": 2**31}, "version must be less than or equal to 2147483647"),
        ({"version": 10**30}, "version must be less than or equal to 2147483647"),
        ({"origin": "o" * 600}, "the origin o"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_kept(
    tmp_path: Path, lines: list[str], wrong: str | dict[str, object], told: str
) -> None:
    file, registry = tmp_path / "bad.jsonl", SqliteRegistry(tmp_path / "b.db")
    bad = wrong if isinstance(wrong, str) else json.dumps(json.loads(lines[1]) | wrong)
    file.write_text("\n".join([lines[0], "", bad, lines[2]]))
    with pytest.raises(ConfigError) as failure:
        registry.restore(read_export(file))
    assert failure.value.message.startswith(f"{file}:3")
    assert told in failure.value.message
    assert failure.value.hint
    assert "default" not in failure.value.hint
    assert registry.count() == 0
    registry.close()


def test_a_definition_that_was_edited_is_told_by_its_hash(tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "edited.jsonl"
    file.write_text(json.dumps(json.loads(lines[0]) | {"description": "Other."}))
    with pytest.raises(ConfigError, match=r":1: hash does not match the definition"):
        list(read_export(file))


def test_a_version_that_stands_twice_is_refused(tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "twice.jsonl"
    file.write_text("\n".join([*lines, lines[1]]))
    with pytest.raises(ConfigError, match=r":4 repeats version 1 of s:b from line 2"):
        list(read_export(file))


def test_an_export_is_told_from_other_files(tmp_path: Path, lines: list[str]) -> None:
    good, other = tmp_path / "good.jsonl", tmp_path / "tools.json"
    other.write_text('{"tools": []}')
    good.write_text(lines[0])
    assert is_export(good)
    assert not is_export(other)
    assert not is_export(tmp_path / "missing")
    assert not is_export(tmp_path)


def test_a_file_that_cannot_be_written_is_told_and_the_old_one_stays(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        write_export(tmp_path / "no" / "file.jsonl", [])
