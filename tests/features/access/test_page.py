"""The access page, and seeing as somebody else, by what a person does and reads."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app.app import ToolsightApp
from inspector.app.dialogs.choice import SeeAsDialog, viewer_rows, viewers_of
from inspector.core.access import AccessPolicy, Grant, Scope, Sight, User
from inspector.core.feature import Part, Parts
from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.features.access.page import facts, tool_records
from inspector.features.agents.feature import AGENTS
from inspector.features.cost.audit.result import Audit
from inspector.features.cost.feature import AUDIT
from inspector.features.lab.feature import LAB, RUNS
from tests.support.app import app_rig, goes, seen, until
from tests.support.fakes import says
from tests.support.workbench import Rig

POLICY = AccessPolicy(
    {"ada": User("ada", "acme", ("support",)), "bob": User("bob", "acme"), "eve": User("eve", "globex")},
    (
        Grant(Scope.ORGANISATION, "acme", "acme", ("calc:*",)),
        Grant(Scope.ROLE, "support", "acme", ("shop:*",)),
        Grant(Scope.USER, "bob", "acme", ("shop:list_orders",)),
        Grant(Scope.USER, "eve", "globex", ("weather:*",)),
    ),
    {"billing": ("shop:refund_order",)},
)
TOOLS = (Tool("shop", "list_orders"), Tool("shop", "refund_order"), Tool("calc", "evaluate"))


@asynccontextmanager
async def page(user: str = "bob", *, back: bool = True) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    """The access page, as the administrator sees it unless they do not go `back` to being one."""
    values = {"access.policy": "policy.yaml", "access.user": user}
    opening = app_rig(says("hi"), policy=lambda: POLICY, values=values, size=(120, 36))
    async with opening as (pilot, rig):
        await goes(pilot, "access")
        if back:
            await pilot.press("a")
            await until(pilot, lambda: rig.bench.session_id == "s-2")
            await rig.bench.wait_connected()
            await until(pilot, lambda: "3 users" in seen(pilot))
        yield pilot, rig


@pytest.mark.slow
async def test_seeing_as_a_user_leaves_nothing_of_the_session_before() -> None:
    async with page() as (pilot, rig):
        await goes(pilot, "search")
        await goes(pilot, "access")
        await pilot.press("down", "down", "a")
        await until(pilot, lambda: rig.bench.session_id == "s-3")
        await rig.bench.wait_connected()
        await until(pilot, lambda: "as eve" in seen(pilot))
        feed = pilot.app.shown.feed  # type: ignore[attr-defined]
        assert {record.session for record in feed} == {"s-3"}
        for name in ("access", "servers", "search", "events", "timeline", "machine", "telemetry", "sessions"):
            await goes(pilot, name)
            await pilot.pause()
            text = seen(pilot)
            assert "as eve" in text
            for hidden in ("shop", "calc", "ada", "bob", "support"):
                assert hidden not in text, name


async def test_a_restricted_user_is_shown_the_way_back_and_no_other_user() -> None:
    async with page("eve", back=False) as (pilot, rig):
        assert "as eve" in seen(pilot)
        assert "ada" not in seen(pilot)
        pilot.app.action_ask("see_as")  # type: ignore[attr-defined]
        await until(pilot, lambda: isinstance(pilot.app.screen, SeeAsDialog))
        assert "administrator" in seen(pilot)
        assert "ada" not in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: not rig.bench.state.is_restricted)
        await until(pilot, lambda: pilot.app.page == "access")  # type: ignore[attr-defined]


async def test_what_is_known_beside_the_session_is_for_the_administrator_alone() -> None:
    async with page("eve", back=False) as (pilot, rig):
        app = pilot.app
        assert isinstance(app, ToolsightApp)
        assert app._opened is not None
        given: dict[Part[Any], object] = {
            AUDIT: audit_machine,
            LAB: object(),
            AGENTS: object(),
            RUNS: object(),
        }
        app._opened = replace(app._opened, parts=Parts(lambda: given))
        assert {part for part in given if app.parts.get(part) is not None} == {RUNS}
        app.see_as("")
        await until(pilot, lambda: not rig.bench.state.is_restricted)
        assert app.parts.get(AUDIT) is audit_machine
        assert all(app.parts.get(part) is one for part, one in given.items())
        await until(pilot, lambda: "3 users" in seen(pilot))


def audit_machine() -> Audit:
    raise AssertionError("nobody asked for it")


def test_an_expert_hides_the_grants_from_their_holder() -> None:
    sight = POLICY.sight("ada", "billing")
    (row,) = tool_records(sight, TOOLS, is_own=True)
    assert row.cells == ("shop:refund_order", "")
    assert "through billing" in facts(None, sight, TOOLS).plain


def test_viewers_are_everybody_for_the_administrator_alone() -> None:
    everybody = viewers_of(POLICY, SessionState())
    assert everybody[:2] == (("", ""), ("ada", ""))
    assert ("ada", "billing") in everybody
    assert viewers_of(None, SessionState(is_restricted=True)) == (("", ""),)
    assert viewers_of(None, SessionState()) == ()
    assert viewer_rows(everybody, ("ada", ""))[1].cells[0]


def test_nothing_is_told_of_a_policy_where_there_is_none() -> None:
    assert facts(None, Sight(), TOOLS).plain == "no policy"
