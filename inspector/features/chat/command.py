"""Chats without the app: prints the whole discovery loop as it happens."""

from collections.abc import Callable, Iterator, Mapping
from functools import singledispatchmethod

import click

from inspector.cli.launch import model_failure, run_headless
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.table import is_json, say, say_json, say_report
from inspector.core import events
from inspector.core.budget import Prices, budget_report
from inspector.core.error import ConfigError, ModelError
from inspector.core.events.base import record_json
from inspector.core.fold import apply
from inspector.core.marketplace import MarketplaceReport, Suggestion, terms_text
from inspector.core.message import arguments_text
from inspector.core.number import count, milliseconds, money, percent
from inspector.core.session import SessionState
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import answer_line, input_line, reported_dollars
from widgets import visible

_TITLE = "in the marketplace, not installed; `toolsight marketplace install NAME` installs one:"
_TEXT, _TERMS = 120, 60


def _suggested(found: MarketplaceReport) -> Iterator[str]:
    """A title, and a line for each plugin; nothing without any."""
    if found.suggestions:
        yield f"  ◇ {_TITLE}"
        yield from (f"    {_line(one)}" for one in found.suggestions)


def _line(one: Suggestion) -> str:
    terms = _short(terms_text(one.price, one.rating, one.publisher), _TERMS)
    about = f" ({terms})" if terms else ""
    name, fits = _short(one.plugin, _TERMS), percent(one.similarity)
    return f"{name}{about}  fits {fits}  {_short(one.description, _TEXT)}"


def _short(text: str, limit: int) -> str:
    return visible(text, limit=limit, newlines=False)


_RESULT_LINES = 12
_RESULT_CHARACTERS = 1200


# Events of which a line says it all, and how the line begins.
_SUMMED_UP: Mapping[type[events.Event], str] = {
    events.CallRetried: "    ↻ ",
    events.TaskChanged: "    ⧗ ",
    events.ModelRetried: "  ↻ ",
    events.ToolSubstituted: "\n⇄ ",
    events.ScriptRun: "  ⧉ script: ",
    events.BreakerChanged: "  ⚠ circuit breaker: ",
    events.LoopDetected: "  ⚠ loop: ",
    events.ContextReduced: "  ⚠ window nearly full: ",
    events.RedundantSearch: "  ⚠ ",
    events.ToolEvicted: "  ✕ evicted ",
    events.SettingsChanged: "\n◇ ",
    events.SettingsChecked: "\n⚠ settings: ",
    events.TurnWaited: "\n◇ waiting ",
    events.MilestoneReached: "\n◇ milestone ",
    events.Failed: "  ✕ ",
}


class Transcript:
    """Prints what a reader needs from each record; the rest is in the database."""

    def __init__(self, prices: Callable[[], Prices | None] = lambda: None) -> None:
        """`prices` are those of the model."""
        self._prices = prices
        self._state = SessionState()

    def on_record(self, record: events.Record) -> None:
        if record.kind in (events.ModelRequested.kind, events.ModelResponded.kind):
            self._state = apply(self._state, record)
        event = record.event
        if type(event) in _SUMMED_UP:
            say(f"{_SUMMED_UP[type(event)]}{event.summary()}")
        self._print(event)

    @singledispatchmethod
    def _print(self, _event: events.Event) -> None:
        """Print nothing: most events are detail."""

    @_print.register
    def _user_said(self, event: events.UserSaid) -> None:
        say(f"\nYou\n{_indented(event.text)}")

    @_print.register
    def _model_responded(self, event: events.ModelResponded) -> None:
        if event.text:
            thinks = " thinks" if event.thought else ""
            say(f"\nModel{thinks}\n{_indented(event.text)}")
        if event.written:
            say(f"\nModel ({event.written_note})\n{_indented(event.written)}")
        if self._state.costs and self._state.costs[-1].reported_input is not None:
            cost, prices = self._state.costs[-1], self._prices()
            parts = [input_line(cost), answer_line(cost)]
            if prices is not None and (spent := reported_dollars(cost, prices)) is not None:
                # They may be another model's: a local one has none of its own.
                parts.append(f"{money(spent)} at {prices.model} prices")
            say(f"  tokens: {'; '.join(filter(None, parts))}")

    @_print.register
    def _search_performed(self, event: events.SearchPerformed) -> None:
        say(f"\n⌕ search_tools  {event.summary()}  {milliseconds(event.report.latency_ms)}")
        for hit in event.report.results:
            say(f"    {hit.tool_id}  {hit.score.value:.2f}  {hit.outcome}")
        if event.report.note:
            say(f"    {event.report.note}")

    @_print.register
    def _marketplace_searched(self, event: events.MarketplaceSearched) -> None:
        say_report(_suggested(event.report))

    @_print.register
    def _tool_loaded(self, event: events.ToolLoaded) -> None:
        ahead = f"  bound ahead: {event.reason}" if event.cause == "inertia" else ""
        say(f"  + loaded {event.tool}  {count(event.tokens, 'token')}{ahead}")

    @_print.register
    def _call_rejected(self, event: events.CallRejected) -> None:
        say(f"\n✕ {event.name}  {event.text}")

    @_print.register
    def _call_started(self, event: events.CallStarted) -> None:
        say(f"\n▸ {event.tool}  {arguments_text(event.arguments)}")

    @_print.register
    def _call_finished(self, event: events.CallFinished) -> None:
        say(f"    {event.outcome}  {milliseconds(event.milliseconds)}")
        say(_indented(_shortened(event.text)))

    @_print.register
    def _gate_applied(self, event: events.GateApplied) -> None:
        say(f"\n◇ gate  {event.summary()}  {milliseconds(event.milliseconds)}")
        for tool_id in event.active:
            say(f"    {tool_id}")

    @_print.register
    def _turn_ended(self, event: events.TurnEnded) -> None:
        if event.outcome not in ("answered", "failed", "refused"):
            say(f"  ⚠ {event.outcome}: {event.text}")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _shortened(text: str) -> str:
    lines = text[:_RESULT_CHARACTERS].splitlines()[:_RESULT_LINES]
    kept = "\n".join(lines)
    left = len(text) - len(kept)
    return f"{kept}\n… {left} more characters" if left > 1 else kept


@session_command(takes=COMMON)
@click.argument("message", nargs=-1, required=True)
@as_json
def chat(message: tuple[str, ...], chosen: Options) -> None:
    """Send each MESSAGE in turn and run the discovery loop.

    \b
    toolsight chat "Which orders shipped late?" --config .mcp.json --model openai/gpt-5
    """

    async def work(bench: Workbench) -> None:
        try:
            await converse(bench, message)
        finally:
            if is_json():
                say_json([record_json(record) for record in bench.records()])
        if not is_json() and bench.state.budget is not None:
            say()
            say_report(budget_report(bench.state.budget))

    run_headless(chosen, work, record=True)


async def converse(bench: Workbench, messages: tuple[str, ...]) -> None:
    """Send user messages and print the transcript. Raises ModelError if the model fails.

    Raises ConfigError if the settings do not allow a turn.
    """
    shown = Transcript(bench.accounting.prices)
    stop = bench.subscribe(shown.on_record) if not is_json() else lambda: None
    try:
        for text in messages:
            ended = await bench.chat(text)
            if ended.outcome == "refused":
                raise ConfigError("the message was not sent to the model", hint=ended.text)
            if ended.outcome == "failed":
                raise _failure(bench)
    finally:
        stop()


def _failure(bench: Workbench) -> ModelError:
    """The failure that ended the turn."""
    failed = bench.records(kinds=("error",))[-1].event
    assert isinstance(failed, events.Failed)
    return model_failure(failed, bench.session_id)
