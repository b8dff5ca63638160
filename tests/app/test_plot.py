"""The plot: curves on a canvas, with an axis each."""

from hypothesis import given, strategies as st

from inspector.app.draw.plot import Axis, Curve, plot


def _lines(values: list[float | None], width: int = 20, height: int = 4) -> list[str]:
    text = plot([Curve("F", values, "red")], Axis(0.0, 1.0, {}), width, height)
    return str(text).split("\n")


def test_a_curve_that_rises_ends_in_the_first_line_and_begins_in_the_last() -> None:
    drawn = _lines([0.0, 1.0])
    assert drawn[0].endswith("F")
    assert drawn[0][4] == " "
    assert drawn[3][4] != " "
    assert "0.0" in drawn[-1]
    assert "1.0" in drawn[-1]


def test_a_gap_is_not_drawn() -> None:
    assert set("".join(_lines([None, None])[:4])) <= set(" .0159┤│")


@given(st.lists(st.none() | st.floats(-1, 2), max_size=50), st.integers(0, 120), st.integers(1, 20))
def test_a_plot_always_has_its_size(values: list[float | None], width: int, height: int) -> None:
    drawn = _lines(values, width, height)
    assert len(drawn) == height + 3
    assert max(map(len, drawn)) <= max(width, 8)
