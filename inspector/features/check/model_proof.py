"""Proof by a model: how often it chooses the tool that a request is for, and calls it right.

The model gets what a new session sends it. Where tools are deferred it searches for them, as in a session,
and gets in `tools[]` what is found. No tool is ever called.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Prices
from inspector.core.error import ModelError
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
    answer_texts,
)
from inspector.core.number import Share
from inspector.core.ports import ChatModel
from inspector.core.tool import definition
from inspector.loop.search_tools import parse_request
from inspector.schema.schema import schema_problem
from inspector.search.answer.expectation import Expectation
from inspector.session.view import SessionView
from inspector.tokens.manifest import CALL_TOOL, SEARCH_TOOLS

_MOST_SEARCHES = 3
_NOT_CHECKED = "its schema "


class Run(Struct, frozen=True):
    """One run of a request: which tools the model calls first, after so many searches.

    `problem` says what is wrong with the arguments of the right tool, which are `checked` unless the schema
    cannot be. With an `error` of the model, it chose nothing and is no miss. Tokens are those of all model
    calls, as the provider reports them, else as counted.
    """

    expectation: Expectation
    chosen: tuple[str, ...] = ()
    problem: str = ""
    checked: bool = True
    searches: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    error: str = ""

    @property
    def is_right(self) -> bool:
        """Whether a right tool is called; if none fits, whether none is."""
        wanted = self.expectation.tools
        return bool(wanted.intersection(self.chosen)) if wanted else not self.chosen

    @property
    def what_failed(self) -> str:
        """The error, the fault of the arguments or the wrong choice; "" if there is none."""
        choice = "" if self.is_right else ", ".join(self.chosen) or "no call"
        return self.error or self.problem or choice


class RequestProof(Struct, frozen=True):
    """What the runs of one request come to; None of a share is that there was no such run.

    `called` is of the runs that chose right and could be checked.
    """

    expectation: Expectation
    chosen: Share | None
    called: Share | None
    errors: int
    told: str = ""

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Self:
        """`told` is the first thing that went wrong."""
        done = [run for run in runs if not run.error]
        right = [run for run in done if run.is_right]
        checked = [run for run in right if run.checked and run.chosen]
        wrong = filter(None, (run.what_failed for run in runs))
        return cls(
            runs[0].expectation,
            Share(len(right), len(done)) if done else None,
            Share(sum(not run.problem for run in checked), len(checked)) if checked else None,
            len(runs) - len(done),
            next(wrong, ""),
        )


class ModelProof(Struct, frozen=True):
    """What a model does with requests. `model` is its label: a stand-in says in it that it is no LLM.

    `planned` is how many runs were wanted; one that was stopped has fewer. `prices` may be another model's.
    """

    model: str
    runs: tuple[Run, ...]
    planned: int
    prices: Prices | None = None

    @property
    def requests(self) -> tuple[RequestProof, ...]:
        """The runs by request, in their order."""
        by_request: dict[Expectation, list[Run]] = {}
        for run in self.runs:
            by_request.setdefault(run.expectation, []).append(run)
        return tuple(map(RequestProof.of, by_request.values()))

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of input and output."""
        return sum(run.input_tokens for run in self.runs), sum(run.output_tokens for run in self.runs)

    @property
    def dollars(self) -> float | None:
        """What the tokens cost; None without prices."""
        if (prices := self.prices) is None:
            return None
        (taken, made), cached = self.tokens, sum(run.cached_tokens for run in self.runs)
        read = prices.input if prices.cache_read is None else prices.cache_read
        return (taken - cached) * prices.input + cached * read + made * prices.output


async def prove(
    session: SessionView, model: ChatModel, expectations: Sequence[Expectation], times: int
) -> AsyncIterator[Run]:
    """Run each request so many times, one after the other; what was yielded stays if it is cancelled."""
    for one in expectations:
        for _ in range(times):
            await asyncio.sleep(0)  # A stand-in never waits, and has to be stoppable all the same.
            yield await _run(session, model, one)


async def _run(session: SessionView, model: ChatModel, expectation: Expectation) -> Run:
    first, run = session.next_request(), Run(expectation)
    messages: list[Message] = [*first.messages, UserMessage(expectation.query)]
    request = replace(first, deferral="", deferred=(), breakpoints=None)
    while True:
        request = replace(request, messages=tuple(messages))
        try:
            reply = await _reply(model, request)
        except ModelError as error:
            return replace(run, error=error.message)
        run = _paid(session, run, request, reply)
        searches = [call for call in reply.tool_calls if call.name == SEARCH_TOOLS]
        if len(searches) < len(reply.tool_calls) or not searches or run.searches >= _MOST_SEARCHES:
            return _judged(session, run, reply.tool_calls)
        run = replace(run, searches=run.searches + 1)
        messages.append(AssistantMessage(reply.text, reply.tool_calls))
        for call in searches:
            request, found = _searched(session, request, call)
            messages.append(found)


async def _reply(model: ChatModel, request: ModelRequest) -> ModelReply:
    """The whole answer. Raises ModelError."""
    async for chunk in model.stream(request):
        if isinstance(chunk, ModelReply):
            return chunk
    raise ModelError("the model did not finish its answer")


def _searched(
    session: SessionView, request: ModelRequest, call: ToolCall
) -> tuple[ModelRequest, ToolMessage]:
    """The request with the definitions that a search finds, and the result that the model reads."""
    state = session.state
    answer = session.retrieval.search(
        parse_request(call.arguments), bound=state.bound_ids, pinned=state.pinned, misses=0
    )
    known = {entry["function"]["name"] for entry in request.tools if "function" in entry}
    found = tuple(definition(tool) for tool in answer.to_load if tool.wire_name not in known)
    return replace(request, tools=(*request.tools, *found)), ToolMessage(call.id, call.name, answer.text)


def _judged(session: SessionView, run: Run, calls: Sequence[ToolCall]) -> Run:
    """The run with what was chosen; the arguments are those of the first call to a right tool."""
    forwarded = [_forwarded(call) for call in calls if call.name != SEARCH_TOOLS]
    named = [(next(iter(session.catalog.named(call.name)), None), call) for call in forwarded]
    run = replace(run, chosen=tuple(tool.id if tool else call.name for tool, call in named))
    for tool, call in named:
        if tool is not None and tool.id in run.expectation.tools:
            problem = call.error or schema_problem(tool.input_schema, call.arguments)
            is_checked = not problem.startswith(_NOT_CHECKED)
            return replace(run, problem=problem if is_checked else "", checked=is_checked)
    return run


def _forwarded(call: ToolCall) -> ToolCall:
    """The call that a call of `call_tool` stands for."""
    inner = call.arguments.get("arguments")
    if call.name != CALL_TOOL:
        return call
    arguments = inner if isinstance(inner, Mapping) else {}
    return replace(call, name=str(call.arguments.get("name", "")), arguments=arguments)


def _paid(session: SessionView, run: Run, request: ModelRequest, reply: ModelReply) -> Run:
    """The run with the tokens of one more model call."""
    meter, usage = session.accounting.meter, reply.usage
    taken, made = usage.input_tokens, usage.output_tokens
    if taken is None:
        taken = sum(block.tokens for block in meter.blocks(request))
    if made is None:
        made = sum(map(meter.text, answer_texts(reply.text, reply.tool_calls)))
    return replace(
        run,
        input_tokens=run.input_tokens + taken,
        cached_tokens=run.cached_tokens + (usage.cached_tokens or 0),
        output_tokens=run.output_tokens + made,
    )
