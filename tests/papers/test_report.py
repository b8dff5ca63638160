"""Reports of measurements: real data stands first, and what was generated or built in says so."""

from hypothesis import given, strategies as st

from docs.papers.report import Origin, Section, Table, real_first

ROW = (("a", "1"),)


def table(title: str, origin: Origin = Origin.REAL, why: str = "") -> Table:
    return Table(title, ("what", "much"), ROW, origin=origin, why=why)


def section(*tables: Table, recorded: str = "") -> Section:
    return Section("x", "X", "a paper", "this", tables, recorded=recorded)


@given(st.lists(st.sampled_from(list(Origin)), max_size=12))
def test_tables_of_real_data_stand_before_generated_ones_and_these_before_calibration(
    origins: list[Origin],
) -> None:
    mixed = section(*(table(f"{number}", origin) for number, origin in enumerate(origins)))
    ordered = real_first(mixed).tables
    places = [list(Origin).index(one.origin) for one in ordered]
    assert places == sorted(places)
    for origin in Origin:
        alike = [int(one.title) for one in ordered if one.origin is origin]
        assert alike == sorted(alike)
    assert len(ordered) == len(origins)
