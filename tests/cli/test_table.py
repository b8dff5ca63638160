"""Tables that a terminal has room for, and those that it has not."""

import sys

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st
from rich.text import Text

from inspector.app.draw.columns import TableLayout, _console, _wrapped, cells
from inspector.cli.table import say_table
from inspector.core.report import Table

WIDE = tuple(f"measure_number_{number}" for number in range(8))
VALUES = tuple(f"{number},000" for number in range(8))


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@given(st.lists(st.text("ab-", min_size=1, max_size=300), min_size=3, max_size=3))
def test_without_a_terminal_no_name_is_broken(names: list[str]) -> None:
    with CliRunner().isolation(env={"COLUMNS": "20"}) as (out, *_):
        say_table(Table("", ("a", "b", "c"), (tuple(names),)))
    assert out.getvalue().decode().splitlines()[-1].split() == names


@given(st.text("ab \n漢-", max_size=14), st.integers(1, 9))
def test_lines_that_fit_are_as_wrapping_would_leave_them(text: str, width: int) -> None:
    wrapped = Text(text).wrap(_console(), width, overflow="fold")
    assert "\n" not in text or _wrapped(text, width) == [line.plain.rstrip() for line in wrapped]


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    say_table(Table("", WIDE, (VALUES,), frozenset(range(8))))
    return capsys.readouterr().out.splitlines()


def test_what_is_too_wide_keeps_its_lines_where_no_terminal_cuts_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    header, _, row = shown(capsys)
    assert header.split() == list(WIDE)
    assert row.split() == list(VALUES)


def test_what_is_too_wide_for_a_terminal_is_printed_a_value_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = [line.split() for line in shown(capsys) if line.strip()]
    assert lines == [list(pair) for pair in zip(WIDE, VALUES, strict=True)]


_cell = st.text(alphabet="ab1 語é\n", max_size=60)
_rows = st.lists(st.tuples(_cell, _cell, _cell), max_size=5)


@given(_rows, st.integers(1, 120), st.frozensets(st.integers(0, 2)))
def test_a_table_keeps_to_its_width_and_loses_nothing(
    rows: list[tuple[str, str, str]], width: int, whole: frozenset[int]
) -> None:
    layout = TableLayout(Table("", ("a first", "b", "c"), tuple(rows), whole=whole))
    lines = list(layout.lines(width))
    assert all(cells(line) <= max(width, layout.least_width) for line in lines)
    del lines[: next(number for number, line in enumerate(lines, 1) if set(line) == {"─"})]
    assert sorted("".join("".join(lines).split())) == sorted("".join("".join(map("".join, rows)).split()))


@given(_rows)
def test_a_table_with_room_has_a_line_a_row_and_its_columns_in_line(rows: list[tuple[str, str, str]]) -> None:
    rows = [(first.replace("\n", ""), second.replace("\n", ""), "end") for first, second, _ in rows]
    _, _, *lines = TableLayout(Table("", ("a first", "b", "c"), tuple(rows))).lines(500)
    assert len(lines) == len(rows)
    assert len({cells(line) for line in lines}) <= 1
