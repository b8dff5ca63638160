"""Problems of the settings are seen where a person looks: header, session, servers and profile page."""

import pytest
from textual.widgets import Static

from inspector.app.dialogs.settings import knob_detail, setting_rows
from inspector.app.draw.header import header
from inspector.app.draw.line import problem_line
from inspector.app.place import Where
from inspector.config.configuration import Configuration
from inspector.config.setting import find_knob, with_values
from inspector.core.error import SettingProblem, Severity
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState
from inspector.core.settings import Settings
from inspector.features.chat.page import welcome
from tests.support.app import app_rig, session_of
from tests.support.hostile import with_hostile_text
from tests.support.workbench import configured, shop_and_weather
from tests.widgets.hostile import dangerous

TYPO = SettingProblem(
    "access.preconditions",
    "shop:refnd",
    "matches no tool on shop",
    "Did you mean `shop:refund_order`?",
    Severity.ERROR,
    "shop",
)
AWAY = SettingProblem("guard.exempt", "mail:*", "cannot be checked", severity=Severity.UNCHECKED)
READY = {"shop": ServerState("shop", ServerPhase.READY, "shop")}


def state(*problems: SettingProblem) -> SessionState:
    return SessionState(servers=READY, problems=problems)


@pytest.mark.parametrize("width", [80, 120])
def test_the_header_counts_what_a_person_can_act_on(width: int) -> None:
    told = header(state(TYPO, AWAY), Where(), width).plain
    assert ("✕ 1 problem" if width < 100 else "✕ 1 setting problem") in told
    assert max(map(len, told.splitlines())) <= width - 2
    assert "1/1 up" in header(state(TYPO), Where(), width).plain
    assert "problem" not in header(state(AWAY), Where(), width).plain
    assert "problem" not in header(state(), Where(), width).plain


def test_an_empty_conversation_says_that_no_message_will_be_answered_and_why() -> None:
    text = welcome(state(TYPO), ()).plain
    assert "Messages get no answer until the settings are fixed" in text
    assert TYPO.sentence in text
    assert TYPO.hint in text


def test_where_no_server_will_be_started_nothing_is_waited_for() -> None:
    text = welcome(SessionState(problems=(TYPO,)), ()).plain
    assert text.startswith("Messages get no answer")
    assert "Connecting" not in text
    assert "Connecting" in welcome(SessionState(problems=(AWAY,)), ()).plain


def test_a_setting_with_a_problem_is_marked_and_says_what_is_wrong() -> None:
    settings = with_values(Settings(), {"access.preconditions": {"shop:refnd": ("x()",)}})
    session = session_of(settings, problems=(TYPO,))
    marks = {row.key: str(row.cells[1]) for row in setting_rows(session, every=True)}
    assert marks["access.preconditions"] == "✕"
    assert marks["access.scopes"] == " "
    assert TYPO.sentence in knob_detail(session, find_knob("access.preconditions")).plain


@with_hostile_text
def test_hostile_text_in_a_problem_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    assert not dangerous(problem_line(SettingProblem("guard.exempt", evil, "matches no tool", evil)).plain)


async def test_a_typo_in_the_file_is_seen_before_the_first_message() -> None:
    configuration = configured(shop_and_weather())
    configuration = Configuration(
        configuration.source,
        configuration.servers,
        values={"access.preconditions": {"shop:refnd": ("milestone_reached('x')",)}},
    )
    async with app_rig(at_home=True, configuration=configuration) as (pilot, _):
        text = str(pilot.app.screen.query_one("#conversation-empty", Static).render())
        assert "Messages get no answer" in text
        assert "shop:refund_order" in text
