"""Definitions are fetched when needed, stay the same while their tool does, and few are kept."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, strategies as st

from inspector.core.tool import Tool, definition
from inspector.tokens.delivery import DefinitionLoader
from inspector.tokens.manifest import Catalog

TOOLS = tuple(Tool("s", name, f"Does {name}.") for name in "abcdef")


class Shelf:
    """A loader over a catalog that can change."""

    def __init__(self, capacity: int = 8) -> None:
        self.catalog, self.capacity = Catalog(TOOLS), capacity
        self.loader = DefinitionLoader(self.catalog, self.capacity)

    def change(self, name: str, description: str) -> None:
        tools = (replace(t, description=description) if t.name == name else t for t in self.catalog.tools)
        self.catalog = Catalog(tuple(tools))

    def load(self, names: Sequence[str]) -> list[dict[str, Any]]:
        self.loader.use(self.catalog, self.capacity)
        return self.loader.definitions([f"s:{name}" for name in names])


def test_a_definition_is_the_same_object_while_its_tool_is_unchanged() -> None:
    shelf = Shelf()
    (first,) = shelf.load("a")
    shelf.change("b", "new")
    assert shelf.load("ba")[1] is first


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.lists(st.sampled_from("abcdefz"), max_size=6), st.booleans()), max_size=12),
)
def test_definitions_are_current_and_no_more_than_the_capacity_or_one_request_is_kept(
    capacity: int, steps: list[tuple[list[str], bool]]
) -> None:
    shelf = Shelf(capacity)
    for number, (names, changes) in enumerate(steps):
        for name in names[:1] if changes else ():
            shelf.change(name, f"version {number}")
        known = [tool for name in names if (tool := shelf.catalog.get(f"s:{name}"))]
        assert shelf.load(names) == [definition(tool) for tool in known]
        assert len(shelf.loader) <= max(capacity, len(known))


def test_the_definitions_that_were_used_last_are_kept() -> None:
    shelf = Shelf(capacity=2)
    (a,) = shelf.load("a")
    for names in ("b", "a", "c"):
        shelf.load(names)
    assert shelf.load("a")[0] is a


def test_a_stale_id_resolves_to_the_only_tool_of_its_name() -> None:
    shelf = Shelf()
    assert shelf.loader.resolve("s:a") is TOOLS[0]
    assert shelf.loader.resolve("before:a") is TOOLS[0]
    shelf.loader.use(Catalog((*TOOLS, Tool("other", "a"))), shelf.capacity)
    assert shelf.loader.resolve("before:a") is None
    assert shelf.loader.resolve("s:a") is TOOLS[0]
