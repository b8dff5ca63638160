"""Reports: real data stands first, and what was generated or built in says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from inspector.core.report import (
    COUNT,
    NAME,
    Column,
    Origin,
    Report,
    Section,
    Table,
    markdown,
    real_first,
    selected,
)

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


def test_a_table_whose_numbers_were_built_in_says_so_and_why() -> None:
    text = markdown(Report("R", (), (section(table("sizes", Origin.CALIBRATION, "They were fitted.")),)))
    assert "### Calibration: sizes\n" in text
    assert "\n- They were fitted.\n" in text


def test_a_section_points_to_what_recorded_runs_show() -> None:
    text = markdown(Report("R", (), (section(table("a"), recorded="tokens: `toolsight bench runs`"),)))
    assert "Recorded runs of real agents: tokens: `toolsight bench runs`.\n" in text


@dataclass(frozen=True)
class Owner:
    name: str
    secret: str = "hidden"


@dataclass(frozen=True)
class Item:
    name: str
    owner: Owner | None = None
    size: int = 0
    parts: tuple["Item", ...] = ()
    sold: Mapping[str, Owner] = field(default_factory=dict)


def test_programs_read_the_keys_that_are_selected_and_no_others() -> None:
    item = Item("a", Owner("ada"), 3, (Item("b"),), {"May": Owner("bob")})
    keys = "id:name size owner{name} by:owner.name parts{name parts{name}} sold{name}"
    assert selected(item, keys) == {
        "id": "a",
        "size": 3,
        "owner": {"name": "ada"},
        "by": "ada",
        "parts": [{"name": "b", "parts": []}],
        "sold": {"May": {"name": "bob"}},
    }
    assert selected([item], "name") == [{"name": "a"}]


def test_what_is_not_there_is_none_and_an_unknown_key_is_an_error() -> None:
    assert selected(Item("a"), "owner{name} by:owner.name") == {"owner": None, "by": None}
    assert selected(None, "name") is None
    with pytest.raises(AttributeError):
        selected(Item("a"), "nmae")


def test_a_table_of_objects_shows_each_value_as_its_kind() -> None:
    columns = (Column("item", "name", NAME), Column("size", kind=COUNT), Column("owner", "owner.name"))
    table = Table.of(columns, [Item("a", Owner("ada"), 1234), Item("b")])
    assert table.rows == (("a", "1,234", "ada"), ("b", "0", "–"))
    assert table.headers == ("item", "size", "owner")
    assert (table.right, table.whole) == (frozenset({1}), frozenset({0}))
