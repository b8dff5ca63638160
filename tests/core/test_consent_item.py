"""Files are compared with what a person approved: what changed, by how much, and whether it asks again."""

import zlib

import pytest
from hypothesis import given, strategies as st

from inspector.core.server import ChangedFile, RunFile, asking_files, changed_files

lines = st.lists(st.text(max_size=4), max_size=8)


def script(*text: str, path: str = "/srv/a.py", asks: bool = False) -> RunFile:
    return RunFile(path, repr(text), tuple(zlib.crc32(line.encode()) for line in text), asks)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [("ab", "abc", 1), ("abc", "a", 2), ("abc", "axy", 2), ("abc", "cba", 1), ("", "abc", 3)],
)
def test_it_is_told_how_many_lines_changed(before: str, after: str, changed: int) -> None:
    (found,) = changed_files([script(*after)], [script(*before)])
    assert found == ChangedFile("/srv/a.py", changed)
    assert f"{changed} line" in found.text


def test_another_binary_is_changed_by_no_number_of_lines() -> None:
    (found,) = changed_files([RunFile("/srv/a", "2")], [RunFile("/srv/a", "1")])
    assert found.text == "/srv/a: changed since you approved it"


def test_a_file_that_was_not_there_is_new_and_one_that_is_gone_is_nothing() -> None:
    (found,) = changed_files([script("a", path="/srv/new.py")], [script("a")])
    assert found.brief == "new: new.py"


@given(lines, lines)
def test_only_what_changed_is_told_and_asks_only_where_it_may(before: list[str], after: list[str]) -> None:
    old, new = [script(*before)], [script(*after, asks=True)]
    assert bool(changed_files(new, old)) is (before != after) is bool(asking_files(new, old))
    assert not asking_files([script(*after)], old)
    assert all(1 <= found.lines <= max(len(before), len(after)) for found in changed_files(new, old))
