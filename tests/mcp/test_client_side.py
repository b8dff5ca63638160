"""Toolsight's side of a connection: what it declares, what servers get, and what the record has of it."""

import asyncio
from typing import Any

import pytest

from inspector.config.configuration import Configuration
from inspector.core.error import ClientRefusal
from inspector.core.redaction import clean
from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.mcp.elicitation import Action, ElicitationAnswer, ElicitationRequest, FormRequest, LinkRequest
from inspector.mcp.port import MAX_WAITING, MOST_RECORDED, NO_CONSENT, Nobody, SessionClient
from tests.support.fakes import FixedElicitor
from tests.support.workbench import connected

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "password": {"type": "string"}}}
FORM = FormRequest("a", "Where?", SCHEMA)
LINK = LinkRequest("a", "Pay here", "https://pay.example/1", "e1")
YES = ElicitationAnswer(Action.ACCEPT, {"city": "Paris", "password": "hunter2"})


class Silent:
    """An Elicitor whose person never answers."""

    async def ask(self, _request: ElicitationRequest) -> ElicitationAnswer:
        await asyncio.Event().wait()
        raise AssertionError


def client(
    capabilities: ClientCapabilities | None = None,
    elicitor: Any = None,
    folders: tuple[str, ...] = ("/work",),
) -> tuple[SessionClient, list[Any]]:
    events: list[Any] = []
    declared = capabilities or ClientCapabilities()
    return SessionClient(
        "a", declared, folders, elicitor or FixedElicitor(YES), lambda: events.append
    ), events


async def test_an_answer_reaches_the_server_whole_and_the_record_without_its_secret() -> None:
    side, events = client()
    assert await side.elicit(FORM) == YES
    asked, answered = events
    assert (asked.message, asked.fields) == ("Where?", ("city", "password"))
    assert (answered.answer, answered.content) == ("accept", {"city": "Paris"})
    assert clean("Logged in with hunter2 in Paris.") == "Logged in with [redacted] in Paris."


async def test_the_record_has_no_value_of_an_address_that_the_person_is_asked_to_visit() -> None:
    elicitor = FixedElicitor(YES)
    side, events = client(elicitor=elicitor)
    link = LinkRequest("a", "Log in", "https://login.example/start?code=hunter2")
    await side.elicit(link)
    assert elicitor.asked == [link]
    assert events[0].url == "https://login.example/start?code=…"


async def test_what_was_not_declared_is_refused_and_nobody_is_asked() -> None:
    elicitor = FixedElicitor(YES)
    side, events = client(ClientCapabilities(roots=False, forms=False, links=False), elicitor)
    with pytest.raises(ClientRefusal):
        side.roots()
    for request in (FORM, LINK):
        with pytest.raises(ClientRefusal):
            await side.elicit(request)
    assert elicitor.asked == []
    assert [event.answer for event in events[1::2]] == ["refused"] * 3


@pytest.mark.parametrize("sampling", [True, False])
def test_no_server_gets_an_answer_of_the_model(sampling: bool) -> None:
    side, events = client(ClientCapabilities(sampling=sampling))
    with pytest.raises(ClientRefusal) as refusal:
        side.sample("Say yes")
    assert refusal.value.was_declared is sampling
    assert [event.kind for event in events] == ["asked", "answered"]
    assert events[0].message == "Say yes"


async def test_a_server_that_floods_a_person_with_questions_is_turned_away() -> None:
    side, events = client(elicitor=Silent())
    waiting = [asyncio.create_task(side.elicit(FORM)) for _ in range(MAX_WAITING)]
    await asyncio.sleep(0)
    assert (await side.elicit(FORM)).action is Action.CANCEL
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    assert [event.why for event in events if event.kind == "answered"][1:] == [
        "the question was withdrawn"
    ] * 3


async def test_a_server_that_asks_without_end_is_answered_counted_and_not_recorded() -> None:
    side, events = client(elicitor=Nobody())
    for _ in range(MOST_RECORDED * 12):
        assert side.roots() == ("/work",)
    assert [event.kind for event in events].count("asked") == MOST_RECORDED
    assert [event.kind for event in events].count("answered") == MOST_RECORDED
    told = [event.summary() for event in events if event.kind == "flood"]
    assert [text.partition(",")[2] for text in told] == [
        " 101 times so far: counted, not recorded",
        " 1,011 times so far: counted, not recorded",
    ]


async def test_what_a_person_agrees_to_is_recorded_with_its_question_after_a_flood_too() -> None:
    side, events = client()
    for _ in range(MOST_RECORDED + 2):
        await side.elicit(FORM)
    assert [event.kind for event in events[-2:]] == ["asked", "answered"]
    assert events[-1].answer == "accept"


async def test_what_a_server_says_at_length_is_recorded_in_short() -> None:
    long = "x" * 1_000_000
    yes = ElicitationAnswer(Action.ACCEPT, {long: long, "tags": [long] * 1_000})
    side, events = client(elicitor=FixedElicitor(yes))
    tags = {"type": "array", "items": {"enum": [long]}}
    await side.elicit(FormRequest("a", long, {"properties": {long: {}, "tags": tags}}))
    await side.elicit(LinkRequest("a", long, f"https://a.example/{long}", long))
    with pytest.raises(ClientRefusal):
        side.sample(long)
    side.completed(long)
    assert max(len(str(event)) for event in events) < 500_000
    assert max(len(str(event)) for event in events if event.kind != "answered") < 10_000
    assert events[-1].kind == "completed"


@pytest.mark.parametrize(
    ("answer", "elicitation", "recorded"),
    [
        (Action.ACCEPT, "e1", ["completed"]),
        (Action.ACCEPT, "e2", []),
        (Action.ACCEPT, "", []),
        (Action.DECLINE, "e1", []),
    ],
)
async def test_only_a_visit_that_a_person_agreed_to_can_be_complete_and_only_once(
    answer: Action, elicitation: str, recorded: list[str]
) -> None:
    side, events = client(elicitor=FixedElicitor(ElicitationAnswer(answer)))
    await side.elicit(LINK)
    await side.elicit(LinkRequest("a", "Without an id", "https://pay.example/2"))
    for _ in range(2):
        side.completed(elicitation)
    assert [event.kind for event in events if event.kind == "completed"] == recorded


async def test_each_server_is_declared_what_its_entry_says_and_the_state_shows_it() -> None:
    specs = (ServerSpec("shop", "shop", client={"roots": False}), ServerSpec("calc", "calc"))
    async with connected(configuration=Configuration("t.json", specs)) as rig:
        told = {name: server.declared for name, server in rig.bench.state.servers.items()}
        assert told == {"shop": ("elicitation (form, url)",), "calc": ("roots", "elicitation (form, url)")}


async def test_a_changed_declaration_restarts_only_the_servers_that_it_changes() -> None:
    specs = (ServerSpec("shop", "shop", client={"sampling": False}), ServerSpec("calc", "calc"))
    async with connected(configuration=Configuration("t.json", specs)) as rig:
        rig.bench.change_setting("client.sampling", True)
        await rig.bench.settled()
        assert [event.server for event in rig.events("connecting")] == ["shop", "calc", "calc"]
        assert rig.bench.state.servers["calc"].declared[-1] == "sampling"
        assert rig.servers["calc"].client.capabilities.sampling


async def test_roots_declared_after_consent_give_no_folder_that_nobody_agreed_to() -> None:
    specs = (ServerSpec("shop", "shop"), ServerSpec("calc", "calc", client={"roots": True}))
    agreed = ClientCapabilities(roots=False)
    configuration = Configuration("t.json", specs, client=agreed, folders=("/work",))
    async with connected(configuration=configuration) as rig:
        await rig.bench.declare(ClientCapabilities(sampling=True))
        sides = {name: rig.servers[name].client for name in ("shop", "calc")}
        assert sides["shop"].capabilities.roots
        assert {name: side.roots() for name, side in sides.items()} == {"shop": (), "calc": ("/work",)}
        said = [event.summary() for event in rig.events("answered")]
        assert said == [f"shop  the folder: no folder, {NO_CONSENT}", "calc  the folder: /work"]


async def test_a_stopped_server_is_not_started_by_a_changed_declaration() -> None:
    async with connected() as rig:
        await rig.bench.stop("calc")
        rig.bench.change_setting("client.roots", False)
        await rig.bench.settled()
        assert rig.servers["calc"].links == []


async def test_where_nobody_is_there_a_question_is_declined_and_the_record_says_why() -> None:
    side, events = client(elicitor=Nobody())
    assert (await side.elicit(LINK)).action is Action.DECLINE
    assert events[0].url == LINK.url
    assert "nobody" in events[1].why
