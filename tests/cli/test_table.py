"""Tables that a terminal has room for, and those that it has not."""

import pytest

from inspector.cli.render import say_table

WIDE = tuple(f"measure_number_{number}" for number in range(8))
VALUES = tuple(f"{number},000" for number in range(8))


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    say_table(WIDE, [VALUES], right=frozenset(range(8)))
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
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = [line.split() for line in shown(capsys) if line.strip()]
    assert lines == [list(pair) for pair in zip(WIDE, VALUES, strict=True)]
