"""Turns what a transcript says of one session into the events of a session.

The events depend on the entries alone, in their order: the same transcript makes the same events again, and
a longer one makes the same events and then more.

What a model was sent is known only as far as the transcript holds it. Those texts are counted; the agent's
own system prompt and the definitions of its own tools are mostly not among them, so what is counted is less
than what the provider reports, which stands beside it.
"""

import hashlib
import re
from collections.abc import Iterator

from inspector.core import events
from inspector.core.budget import Budget, TokenParts
from inspector.core.ports import TokenCounter
from inspector.core.prompt_cache import Charge
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.features.agents.known_tools import KnownTools
from inspector.features.agents.transcript import (
    TOTALS,
    Answered,
    Asked,
    Begun,
    Called,
    Compacted,
    Entry,
    Interrupted,
    Searched,
    ServerAnnounced,
    ServerTrouble,
    ToolsOffered,
    ToolsWithdrawn,
)
from inspector.schema.json_value import compact

UNKNOWN_AGENT = "agent"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME, _DIGEST = 8, 8


def session_id(begun: Begun, file: str, first: str = "") -> str:
    """The id of an imported session: agent, and the agent's own name of it.

    Where the transcript has no name of its own, the file's name and the `first` entry stand for it.
    """
    own = begun.session or file
    name = _UNSAFE.sub("-", own)[:_NAME].strip("-.")
    key = "\0".join((begun.agent, begun.parent, own, *(() if begun.session else (first,))))
    agent = _UNSAFE.sub("-", begun.agent).strip("-.") or UNKNOWN_AGENT
    return "-".join(filter(None, (agent, name, digest(key))))


def entry_key(entry: Entry) -> str:
    """What identifies this entry, and stays the same when more is appended to it."""
    match entry:
        case Asked(said):
            told = said
        case Answered(id_):
            told = id_
        case Searched(call_id) | Called(call_id):
            told = call_id
        case _:
            told = ""
    return digest("\0".join((type(entry).__name__, str(entry.at), told)))


def digest(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


READING = 4
"""The version of these rules; a change of the events that they make needs the next number."""


class AgentSession:
    """One session of an agent, entry by entry."""

    def __init__(self, begun: Begun, counter: TokenCounter, file: str) -> None:
        """`counter` counts as the session's first model does; `file` is the transcript's name."""
        self._begun = begun
        self._file = file
        self._count, self._tokenizer = counter.count, counter.tokenizer
        self._tools = KnownTools(begun.agent, self._count)
        self._model, self._window = begun.model, begun.window or 0
        self._calls = self._messages = self._history = self._searches = 0
        self._answer: Answered | None = None
        self._is_turn = False

    def start(self) -> events.SessionStarted:
        """The first event of the session."""
        begun = self._begun
        origin = events.Origin(begun.agent, begun.version, begun.session, begun.parent, self._file, READING)
        return events.SessionStarted(
            config=begun.folder,
            servers=(),
            toolset="",
            model=begun.model,
            model_label=begun.model,
            window=self._window,
            origin=origin,
        )

    def after(self, entry: Entry) -> Iterator[events.Event]:
        """The events of one more entry."""
        match entry:
            case Begun():
                yield from self._resumed(entry)
            case ToolsOffered(tools, deferred=deferred):
                self._tools.offer(tools, deferred=deferred)
            case ToolsWithdrawn(sent):
                self._tools.withdraw(sent)
            case ServerAnnounced(server, instructions):
                self._tools.announce(server, instructions)
            case ServerTrouble():
                yield from self._tools.news()
                yield self._tools.fail(entry)
            case _:
                yield from self._done(entry)

    def _done(
        self, entry: Asked | Answered | Searched | Called | Compacted | Interrupted
    ) -> Iterator[events.Event]:
        match entry:
            case Asked():
                yield from self._asked(entry)
            case Answered():
                yield from self._answered(entry)
            case Searched():
                yield from self._searched(entry)
            case Called():
                yield from self._called(entry)
            case Compacted():
                yield self._compacted(entry)
            case Interrupted():
                yield self._interrupted(entry)

    def end(self) -> Iterator[events.Event]:
        """The events at the end of the transcript, or of what there is of it so far."""
        yield from self._tools.news(at_end=True)
        if self._answer is not None and not self._answer.calls:
            yield from self.turn_end()

    def _resumed(self, begun: Begun) -> Iterator[events.Event]:
        """The same session went on, perhaps with another model."""
        self._window = begun.window or self._window
        if begun.model and begun.model != self._model:
            yield self._switched(begun.model)

    def _switched(self, model: str) -> events.ModelSwitched:
        self._model = model
        return events.ModelSwitched(model, model, self._window)

    def _asked(self, asked: Asked) -> Iterator[events.Event]:
        yield from self.turn_end()
        self._is_turn = True
        self._add(asked.text)
        yield events.UserSaid(asked.text)

    def turn_end(self) -> Iterator[events.Event]:
        """The end of the turn, if one is under way."""
        if self._is_turn:
            self._is_turn = False
            text = self._answer.text if self._answer is not None else ""
            yield events.TurnEnded("answered", text)
        self._answer = None

    def _answered(self, answered: Answered) -> Iterator[events.Event]:
        yield from self._tools.news()
        if answered.model and answered.model != self._model:
            yield self._switched(answered.model)
        self._calls += 1
        yield from self._request()
        if answered.finish_reason != TOTALS:
            self._answer = answered
            self._add(answered.text)
        yield events.ModelResponded(
            self._calls,
            answered.text,
            answered.calls,
            answered.usage,
            answered.finish_reason or "stop",
            message=answered.id,
            tool_tokens=answered.tool_tokens,
            dollars=answered.dollars,
        )

    def _request(self) -> Iterator[events.Event]:
        """What can be counted of the request that the answer replies to."""
        tools = self._tools
        parts = TokenParts(
            instructions=tools.instruction_tokens,
            history=self._history,
            tools=tools.bound_tokens,
            manifest=tools.manifest_tokens,
            searches=self._searches,
        )
        # Without every size and the window, a budget would be a guess.
        if self._window and not tools.uncounted:
            yield events.BudgetMeasured(Budget(self._window, parts, tools.static_tokens, self._tokenizer))
        charge = Charge(plain=parts.input)
        yield events.ModelRequested(self._calls, tools.bound, parts, self._messages, charge=charge)

    def _searched(self, searched: Searched) -> Iterator[events.Event]:
        ids = tuple(dict.fromkeys(self._tools.find(tool) for tool in searched.found))
        yield from self._tools.news()
        loaded = {id_: tokens for id_ in ids if (tokens := self._tools.load(id_)) is not None}
        request = SearchRequest(searched.query, tool_names=searched.names, limit=searched.limit or 0)
        outcomes = (Outcome.LOADED if id_ in loaded else Outcome.ALREADY_LOADED for id_ in ids)
        hits = (
            Hit(rank, Score(id_, 0.0), outcome)
            for rank, (id_, outcome) in enumerate(zip(ids, outcomes, strict=True), start=1)
        )
        report = SearchReport(
            request,
            self._begun.agent,
            tuple(hits),
            limit=searched.limit or 0,
            error=searched.error,
            scored=searched.waiting or 0,
            unscored=True,
        )
        self._searches += self._count(compact([searched.query, *searched.names]))
        self._messages += 2
        yield events.SearchPerformed(report, searched.error)
        for place, (id_, tokens) in enumerate(loaded.items(), start=1):
            yield events.ToolLoaded(id_, tokens, f"search {request.label()}", place)

    def _called(self, called: Called) -> Iterator[events.Event]:
        tool_id = self._tools.call(called.tool)
        yield from self._tools.news()
        added, given = 0, compact(called.arguments) if called.arguments else ""
        if not called.unread:
            self._messages += 1
            added = sum(self._count(words) for words in (called.text, given) if words)
            self._history += added
        took = called.milliseconds or 0.0
        yield events.CallStarted(called.call_id, tool_id, called.arguments)
        yield events.CallFinished(called.call_id, tool_id, called.ok, called.text, took, tokens=added)

    def _compacted(self, compacted: Compacted) -> events.ContextReduced:
        replaced, self._messages = self._messages, 1
        self._history, self._searches = self._count(compacted.text), 0
        before, after = compacted.before or 0, compacted.after or 0
        return events.ContextReduced("compaction", before, after, replaced, compacted.text)

    def _interrupted(self, interrupted: Interrupted) -> events.Event:
        if not interrupted.by_user:
            return events.Failed(self._begun.agent, interrupted.message)
        self._is_turn, self._answer = False, None
        return events.TurnEnded("cancelled", interrupted.message)

    def _add(self, text: str) -> None:
        """A message joins the conversation."""
        self._messages += 1
        self._history += self._count(text) if text else 0
