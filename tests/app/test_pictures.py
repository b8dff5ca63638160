"""How the session, the pages and the dialogs look; the pictures are compared."""

import pytest

from inspector.adapters.memory.fakes import MemoryServer
from inspector.domain.error import ConnectError, ModelError
from inspector.domain.tool import Tool
from tests.support.picture import Shown, SnapCompare, after, still
from tests.support.told_model import Step, calls, says, searches
from tests.support.workbench import shop_and_weather

__all__ = ["still"]

SEARCH = searches(query="forecast for a city")
CALL = calls(("weather__get_forecast", {"city": "Oslo"}))
TALK: tuple[Step, ...] = (SEARCH, CALL, says("Sunny in Oslo."))
LOOP: tuple[Step, ...] = (SEARCH, CALL, CALL, CALL, says("It does not change."))
REFUND: tuple[Step, ...] = (
    searches(tool_names=["refund_order"]),
    calls(("shop__refund_order", {"order": 7, "reason": "late"})),
)
NO_KEY = ModelError("no key for openai/x", hint="Set OPENAI_API_KEY, or take demo/planner.")
ASK = (*"forecast", "enter")


def one_fails() -> dict[str, MemoryServer]:
    fault = ConnectError(
        "The command no-such is not on PATH", hint="Install it.", stderr_tail="boom: no TOKEN"
    )
    return {**shop_and_weather(), "broken": MemoryServer([Tool("broken", "x")], fault=fault)}


@pytest.mark.parametrize("size", [(80, 24), (120, 32), (200, 60)])
def test_a_conversation_looks_the_same(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(Shown(*TALK), terminal_size=size, run_before=after(*ASK))


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
def test_an_empty_session_looks_the_same(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(Shown(), terminal_size=size, run_before=after())


def test_a_session_in_light_looks_the_same(snap_compare: SnapCompare) -> None:
    assert snap_compare(Shown(*TALK), terminal_size=(120, 32), run_before=after(*ASK, light=True))


def test_an_eviction_looks_the_same(snap_compare: SnapCompare) -> None:
    assert snap_compare(Shown(*LOOP), terminal_size=(200, 60), run_before=after(*ASK))


def test_a_model_error_beside_a_failed_server_looks_the_same(snap_compare: SnapCompare) -> None:
    app = Shown(NO_KEY, servers=one_fails())
    assert snap_compare(app, terminal_size=(120, 32), run_before=after(*ASK))


@pytest.mark.parametrize("key", ["f2", "f3", "f5", "f6", "f1", "ctrl+t", "ctrl+o"])
@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
def test_a_page_looks_the_same(snap_compare: SnapCompare, key: str, size: tuple[int, int]) -> None:
    app = Shown(servers=one_fails())
    assert snap_compare(app, terminal_size=size, run_before=after(key, "end"))


def test_the_question_before_a_change_looks_the_same(snap_compare: SnapCompare) -> None:
    assert snap_compare(Shown(*REFUND), terminal_size=(120, 32), run_before=after(*ASK))
