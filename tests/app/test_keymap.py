"""A person's own keys."""

import re

import pytest
from hypothesis import given, strategies as st

from inspector.app.app import ToolsightApp
from inspector.app.command import bound_keys, checked
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.opening import Opened
from tests.support.app import RigApp, ready, until
from tests.support.workbench import opened
from tests.widgets.hostile import dangerous

IDS = [bound.id for bound in bound_keys(ToolsightApp)]


@pytest.mark.parametrize(
    ("letter", "meaning"),
    [
        ("s", "score"),
        ("t", "group"),
        ("d", "defer/bind"),
        ("p", "pick .*"),
        ("x", "export"),
        ("r", "race|run|again|call again|reload|reconnect|measure"),
    ],
)
def test_a_letter_means_the_same_on_every_page(letter: str, meaning: str) -> None:
    titles = {bound.title for bound in bound_keys(ToolsightApp) if letter in bound.keys.split(",")}
    assert titles
    assert [title for title in titles if not re.fullmatch(meaning, title)] == []


def test_an_id_that_nothing_has_is_named_with_the_closest_ones() -> None:
    keymap, problems = checked({"place.fnd": "f"}, ToolsightApp)
    assert keymap == {}
    assert "place.find" in problems[0]


def test_a_key_of_several_pages_that_means_two_things_on_any_of_them_is_told() -> None:
    _, problems = checked({"tool.why": "c"}, ToolsightApp)
    assert problems == (
        "c is bound to both access.compare and tool.why (access).",
        "c is bound to both find.rankers and tool.why (search).",
        "c is bound to both budget.cache and tool.why (budget).",
    )


@given(st.dictionaries(st.one_of(st.sampled_from(IDS), st.text()), st.one_of(st.text(), st.integers())))
def test_whatever_stands_in_the_file_is_used_or_told(wanted: dict[str, object]) -> None:
    keymap, problems = checked(wanted, ToolsightApp)
    assert set(keymap) <= set(IDS) & set(wanted)
    assert len(wanted) - len(keymap) <= len(problems)
    assert not dangerous("".join(problems))


async def test_an_own_key_goes_to_its_place_and_a_mistake_is_told() -> None:
    approver = ModalApprover()
    async with opened(approver=approver) as rig:

        async def start() -> Opened:
            return Opened(rig.bench, rig.memory, approver)

        app: ToolsightApp = RigApp(start, lambda: {"place.trace": "z", "nonsense": "x"})
        async with app.run_test() as pilot:
            await ready(pilot, rig)
            await until(pilot, lambda: bool(app._notifications))
            assert "Unknown action 'nonsense'" in next(iter(app._notifications)).message
            await pilot.press("5")
            assert app.page == "session"
            await pilot.press("z")
            await until(pilot, lambda: app.page == "timeline")
