"""The names of a list stay different at any width, and say as much of themselves as they can."""

from hypothesis import example, given, strategies as st
from rich.cells import cell_len

from widgets import shortened, visible

parts = st.text("ab_é漢", max_size=12)
ids = st.builds("{}:{}".format, parts, parts) | parts
lists = st.lists(ids, unique=True, max_size=30)
LIGHTS = ["home-automation:get_lights", "home-automation:set_lights"]
DOORS = ["home-automation:lock_door", "home-automation:unlock_door"]


@given(lists, st.integers(0, 40))
def test_a_shortened_name_fits(names: list[str], width: int) -> None:
    shown = shortened(names, width)
    assert set(shown) == set(names)
    assert all(cell_len(text) <= width for text in shown.values())


@given(lists, st.integers(4, 40))
@example([f"{'a' * 20}{number}{'b' * 20}" for number in range(99)], 4)
@example([*LIGHTS, *DOORS], 4)
def test_two_rows_are_never_shortened_to_the_same_text(names: list[str], width: int) -> None:
    assert len(set(shortened(names, width).values())) == len(names)


@given(st.lists(st.text("abc_", min_size=1, max_size=12), unique=True), parts, st.integers(1, 40))
def test_the_server_gives_way_before_the_tool(tools: list[str], server: str, width: int) -> None:
    for name, text in shortened([f"{server}:{tool}" for tool in tools], width).items():
        tool = name.partition(":")[2]
        assert len(tool) > width or text.endswith(tool)


@given(lists, st.integers(0, 40))
def test_what_fits_loses_nothing_but_a_server_that_all_share(names: list[str], width: int) -> None:
    fitting = {name: text for name, text in shortened(names, width).items() if cell_len(name) <= width}
    assert all(text in (name, name.partition(":")[2]) for name, text in fitting.items())


def test_tools_of_one_server_are_shown_without_it_where_any_does_not_fit() -> None:
    bare = ["get_lights", "set_lights", "lock_door", "unlock_door"]
    assert list(shortened([*LIGHTS, *DOORS], 18).values()) == bare
    assert list(shortened(["a:b", *LIGHTS], 18).values())[1:] == ["home-a…:get_lights", "home-a…:set_lights"]
    assert list(shortened(LIGHTS, 11).values()) == ["get_lights", "set_lights"]
    assert list(shortened(LIGHTS, 8).values()) == ["get_…hts", "set_…hts"]


def test_a_name_is_cut_between_visible_letters() -> None:
    (text,) = shortened([visible("server:\x1b[31mred_and_long", newlines=False)], 12).values()
    assert text.isprintable()
