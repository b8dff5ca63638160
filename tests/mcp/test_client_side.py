"""Toolsight's side of a connection: what it declares, what servers get, and what the record has of it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from inspector.config.configuration import Configuration
from inspector.core.error import ClientRefusal, ModelError
from inspector.core.message import UserMessage
from inspector.core.redaction import clean
from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
)
from inspector.mcp.port import MAX_WAITING, MOST_RECORDED, NO_CONSENT, Nobody, SessionClient
from inspector.mcp.question import (
    LONGEST_PROMPT,
    NO_TOOLS,
    TOO_LONG,
    Sampler,
    SamplingRequest,
    sampling_request,
)
from tests.support.fakes import FixedElicitor, Step, ToldModel, says
from tests.support.workbench import connected

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "password": {"type": "string"}}}
FORM = FormRequest("a", "Where?", SCHEMA)
LINK = LinkRequest("a", "Pay here", "https://pay.example/1")
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
        await side.roots()
    for request in (FORM, LINK):
        with pytest.raises(ClientRefusal):
            await side.elicit(request)
    assert elicitor.asked == []
    assert [event.answer for event in events[1::2]] == ["refused"] * 3


def prompt(text: str = "Say yes", **more: Any) -> SamplingRequest:
    said = {"role": "user", "content": more.pop("content", {"type": "text", "text": text})}
    return sampling_request("a", {"messages": [said], "maxTokens": 5, **more}, is_excess=False)


def sampling_client(elicitor: FixedElicitor, *steps: Step) -> tuple[SessionClient, list[Any], ToldModel]:
    """A client that declares sampling, with a model that is told what to say; a token is a word."""
    events, model = list[Any](), ToldModel(*steps)
    sampler = Sampler(model, lambda text: len(text.split()), 100)
    side = SessionClient(
        "a", ClientCapabilities(sampling=True), (), elicitor, lambda: events.append, lambda: sampler
    )
    return side, events, model


async def test_a_persons_answer_is_recorded_with_its_tokens_and_no_model_is_asked() -> None:
    elicitor = FixedElicitor(ElicitationAnswer(Action.ACCEPT, {"answer": "Yes, I do."}))
    side, events, model = sampling_client(elicitor)
    given = await side.elicit(prompt("Say yes", systemPrompt="Be brief."))
    assert given.content is not None
    assert (given.content["text"], given.content["by"]) == ("Yes, I do.", "a person")
    (asked,) = elicitor.asked
    assert isinstance(asked, SamplingRequest)
    assert asked.message == "system: Be brief.\n\nuser: Say yes"
    assert (asked.model, asked.tokens) == (model.label, 6)
    assert [event.what for event in events] == ["sampling", "sampling"]
    assert (events[1].content["input_tokens"], events[1].content["output_tokens"]) == (6, 3)
    assert model.requests == []


async def test_the_model_answers_only_after_a_yes_and_the_record_says_which_one() -> None:
    yes = FixedElicitor(ElicitationAnswer(Action.ACCEPT))
    side, events, model = sampling_client(yes, says("Yes."), says("Yes."))
    given = await side.elicit(prompt(systemPrompt="Be brief."))
    assert given.content is not None
    assert (given.content["text"], given.content["by"]) == ("Yes.", model.label)
    (sent,) = model.requests
    assert (sent.system, sent.messages, sent.tools) == ("Be brief.", (UserMessage("Say yes"),), ())
    assert (sent.max_output, events[1].content) == (5, given.content)
    await side.elicit(prompt(maxTokens=10**9))
    assert model.requests[1].max_output == 100


@pytest.mark.parametrize("answer", [DECLINED, CANCELLED])
async def test_without_a_yes_no_model_is_asked(answer: ElicitationAnswer) -> None:
    side, events, model = sampling_client(FixedElicitor(answer), says("Yes."))
    assert await side.elicit(prompt()) == answer
    assert (model.requests, events[1].answer) == ([], answer.action)


async def test_a_model_that_fails_is_a_decline_that_says_why() -> None:
    side, events, _ = sampling_client(FixedElicitor(ElicitationAnswer(Action.ACCEPT)), ModelError("no key"))
    assert (await side.elicit(prompt())).action is Action.DECLINE
    assert events[1].why.endswith("no key")


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (prompt(tools=[{"name": "x", "inputSchema": {}}]), NO_TOOLS),
        (prompt("x" * LONGEST_PROMPT), TOO_LONG),
    ],
)
async def test_a_prompt_with_tools_or_too_long_to_be_shown_is_refused_and_nobody_is_asked(
    request_: SamplingRequest, why: str
) -> None:
    elicitor = FixedElicitor(ElicitationAnswer(Action.ACCEPT))
    side, events, model = sampling_client(elicitor, says("Yes."))
    with pytest.raises(ClientRefusal):
        await side.elicit(request_)
    assert (elicitor.asked, model.requests) == ([], [])
    assert (events[1].answer, events[1].why) == ("refused", why)


async def test_a_prompt_with_an_image_is_offered_to_no_model() -> None:
    elicitor = FixedElicitor(DECLINED)
    side, _, _ = sampling_client(elicitor)
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 4_000}
    await side.elicit(prompt(content=[image, {"type": "text", "text": "What is it?"}]))
    (asked,) = elicitor.asked
    assert isinstance(asked, SamplingRequest)
    assert (asked.model, asked.message) == ("", "user: [image image/png 3 kB]\nWhat is it?")


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


async def test_a_server_that_asks_without_end_is_answered_and_no_longer_recorded() -> None:
    side, events = client(elicitor=Nobody())
    for _ in range(MOST_RECORDED * 2):
        assert await side.roots() == ("/work",)
    assert [event.kind for event in events].count("asked") == MOST_RECORDED
    assert [event.kind for event in events].count("answered") == MOST_RECORDED
    (told,) = [event.summary() for event in events if event.kind == "flood"]
    assert told.endswith(" 101 times so far: counted, not recorded")


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
    await side.elicit(LinkRequest("a", long, f"https://a.example/{long}"))
    with pytest.raises(ClientRefusal):
        await side.elicit(prompt(long))
    assert max(len(str(event)) for event in events) < 500_000
    assert max(len(str(event)) for event in events if event.kind != "answered") < 10_000


async def test_a_changed_declaration_restarts_the_servers_and_the_state_shows_it() -> None:
    async with connected(configuration=Configuration("t.json", (ServerSpec("shop", "shop"),))) as rig:
        rig.bench.change_setting("client.sampling", True)
        await rig.bench.settled()
        assert [event.server for event in rig.events("connecting")] == ["shop", "shop"]
        assert "sampling" in rig.bench.state.servers["shop"].declared
        assert rig.servers["shop"].client.capabilities.sampling


async def test_roots_declared_after_consent_give_no_folder_that_nobody_agreed_to() -> None:
    agreed = ClientCapabilities(roots=False)
    specs = (ServerSpec("shop", "shop"),)
    async with connected(
        configuration=Configuration("t.json", specs, client=agreed, folders=("/work",))
    ) as rig:
        await rig.bench.declare(ClientCapabilities(sampling=True))
        side = rig.servers["shop"].client
        assert side.capabilities.roots
        assert await side.roots() == ()
        assert [event.summary() for event in rig.events("answered")] == [
            f"shop  the folder: no folder, {NO_CONSENT}"
        ]


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


class Relaying:
    """A Relay whose client answers the first request with these values, and leaves out the rest."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    def takes(self, _server: str, requests: Mapping[str, Any]) -> bool:
        return "b" in requests

    async def answers(self, _server: str, _requests: Mapping[str, Any]) -> dict[str, Any]:
        return {"a": {"action": "accept", "content": self.content}}

    def declares(self, capabilities: ClientCapabilities) -> ClientCapabilities:
        return capabilities

    def follows(self) -> bool:
        return False

    def task(self, task: Mapping[str, Any]) -> None:
        raise AssertionError(task)


async def test_what_another_client_answers_is_passed_on_whole_and_recorded_without_its_secret() -> None:
    content = {"city": "Paris", "password": "hunter3"}
    events: list[Any] = []
    side = SessionClient(
        "a", ClientCapabilities(), (), Nobody(), lambda: events.append, relay=Relaying(content)
    )
    read: dict[str, FormRequest | LinkRequest | None] = {"a": FORM, "b": LINK}
    assert await side.hand_on({"a": {}}, read) is None
    given = await side.hand_on({"a": {}, "b": {}}, read)
    assert given == {"a": {"action": "accept", "content": content}}
    assert [event.kind for event in events] == ["asked", "asked", "answered", "answered"]
    assert [(event.answer, event.content) for event in events[2:]] == [
        ("accept", {"city": "Paris"}),
        ("cancel", None),
    ]
    assert events[3].why == "it was left unanswered"
    assert clean("hunter3") == "[redacted]"
