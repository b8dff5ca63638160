"""Reports: what people and what programs read of the same objects."""

from dataclasses import dataclass

from inspector.core.report import COUNT, NAME, Column, Table


@dataclass(frozen=True)
class Owner:
    name: str


@dataclass(frozen=True)
class Item:
    name: str
    owner: Owner | None = None
    size: int = 0


def test_a_table_of_objects_shows_each_value_as_its_kind() -> None:
    columns = (Column("item", "name", NAME), Column("size", kind=COUNT), Column("owner", "owner.name"))
    table = Table.of(columns, [Item("a", Owner("ada"), 1234), Item("b")])
    assert table.rows == (("a", "1,234", "ada"), ("b", "0", "–"))
    assert table.headers == ("item", "size", "owner")
    assert (table.right, table.whole) == (frozenset({1}), frozenset({0}))
