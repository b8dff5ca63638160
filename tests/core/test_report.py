"""Reports: what people and what programs read of the same objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from inspector.core.report import COUNT, NAME, Column, Table, selected


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
