"""Problems of the settings are seen where a person looks: header, session, servers and profile page."""

import pytest

from inspector.app.dialogs.settings import knob_detail, setting_rows
from inspector.app.draw.header import header
from inspector.app.draw.line import problem_line
from inspector.app.place import Where
from inspector.config.setting import find_knob, with_values
from inspector.core.error import SettingProblem, Severity
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState
from inspector.core.settings import Settings
from inspector.features.chat.page import welcome
from tests.support.app import session_of
from tests.support.hostile import with_hostile_text
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
