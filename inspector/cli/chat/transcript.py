"""Prints the transcript of a chat, one event at a time."""

import re
import shlex
from collections.abc import Callable, Iterator
from functools import singledispatchmethod

from inspector.cli.options import Options
from inspector.cli.table import say
from inspector.clients.reported import answer_line, input_line, is_reported
from inspector.core.events import (
    BreakerChanged,
    CallFinished,
    CallRejected,
    CallRetried,
    CallStarted,
    ContextReduced,
    Event,
    Failed,
    GateApplied,
    LoopDetected,
    MarketplaceSearched,
    MilestoneReached,
    ModelRequested,
    ModelResponded,
    Record,
    RedundantSearch,
    SearchPerformed,
    SettingsChanged,
    SettingsChecked,
    ToolEvicted,
    ToolLoaded,
    ToolSubstituted,
    TurnEnded,
    TurnWaited,
    UserSaid,
)
from inspector.core.fold import apply
from inspector.core.marketplace import MarketplaceReport, Suggestion, terms_text
from inspector.core.message import arguments_text
from inspector.core.number import count, milliseconds, percent
from inspector.core.session import SessionState
from widgets import visible

Advice = Callable[[str], tuple[str, ...]]
"""How to install the plugin of a name, a line each."""

_TITLE = "in the marketplace, not installed:"
_TEXT, _TERMS = 120, 60
# A name that no shell and no option parser reads as anything else.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@-]{0,99}")
_ANY = "NAME"
_NOT_YOURS = "only the administrator can install plugins"
_DEMO = "install it on the Marketplace page of `toolsight demo`; it lasts for that session only"


def suggestion_lines(found: MarketplaceReport, advice: Advice) -> Iterator[str]:
    """A title, a line for each plugin, and how to install one; nothing without any."""
    if not found.suggestions:
        return
    yield f"  ◇ {_TITLE}"
    for one in found.suggestions:
        yield f"    {_line(one)}"
    names = {one.plugin for one in found.suggestions}
    for line in advice(names.pop() if len(names) == 1 else _ANY):
        yield f"    {line}"


def how_to_install(chosen: Options, plugin: str, *, whole: bool = True) -> tuple[str, ...]:
    """What a person does to install a plugin, in the words of the shell where that lasts.

    Nothing but `NAME` stands for a plugin whose name a shell could read as something else. Somebody who does
    not see the `whole` configuration cannot install anything.
    """
    if not whole:
        return (_NOT_YOURS,)
    if chosen.demo:
        return (f"details: {_command('show', plugin, chosen)}", _DEMO)
    return (f"install it: {_command('install', plugin, chosen)}",)


def _command(does: str, plugin: str, chosen: Options) -> str:
    name = plugin if _PLAIN.fullmatch(plugin) else _ANY
    return " ".join(("toolsight marketplace", does, name, *_where(chosen)))


def _where(chosen: Options) -> Iterator[str]:
    """The options with which the marketplace has the chat's configuration, catalogs and database."""
    if chosen.demo:
        yield "--demo"
    elif chosen.config is not None:
        yield f"--config {shlex.quote(str(chosen.config))}"
    elif chosen.server or chosen.registry:
        yield "--config FILE"
    for catalog in chosen.values.get("marketplace.catalogs", ()):
        yield f"--catalog {shlex.quote(catalog)}"
    if chosen.database is not None:
        yield f"--db {shlex.quote(str(chosen.database))}"


def _line(one: Suggestion) -> str:
    terms = _short(terms_text(one.price, one.rating, one.publisher), _TERMS)
    about = f" ({terms})" if terms else ""
    name, fits = _short(one.plugin, _TERMS), percent(one.similarity)
    return f"{name}{about}  fits {fits}  {_short(one.description, _TEXT)}"


def _short(text: str, limit: int) -> str:
    return visible(text, limit=limit, newlines=False)


_RESULT_LINES = 12
_RESULT_CHARACTERS = 1200


class Transcript:
    """Prints what a reader needs from each record; the rest is in the database."""

    def __init__(self, advice: Advice = lambda _plugin: ()) -> None:
        """`advice` says how to install what the marketplace suggests."""
        self._advice = advice
        self._state = SessionState()

    def on_record(self, record: Record) -> None:
        if isinstance(record.event, ModelRequested | ModelResponded):
            self._state = apply(self._state, record)
        self._print(record.event)

    @singledispatchmethod
    def _print(self, _event: Event) -> None:
        """Print nothing: most events are detail."""

    @_print.register
    def _user_said(self, event: UserSaid) -> None:
        say(f"\nYou\n{_indented(event.text)}")

    @_print.register
    def _model_responded(self, event: ModelResponded) -> None:
        if event.text:
            thinks = " thinks" if event.thought else ""
            say(f"\nModel{thinks}\n{_indented(event.text)}")
        if event.written:
            say(f"\nModel ({event.written_note})\n{_indented(event.written)}")
        if self._state.costs and is_reported(self._state.costs[-1]):
            cost = self._state.costs[-1]
            say(f"  tokens: {'; '.join(filter(None, (input_line(cost), answer_line(cost))))}")

    @_print.register
    def _search_performed(self, event: SearchPerformed) -> None:
        say(f"\n⌕ search_tools  {event.summary()}  {milliseconds(event.report.latency_ms)}")
        for hit in event.report.results:
            say(f"    {hit.tool_id}  {hit.score.value:.2f}  {hit.outcome}")

    @_print.register
    def _marketplace_searched(self, event: MarketplaceSearched) -> None:
        for line in suggestion_lines(event.report, self._advice):
            say(line)

    @_print.register
    def _tool_loaded(self, event: ToolLoaded) -> None:
        ahead = f"  bound ahead: {event.reason}" if event.cause == "inertia" else ""
        say(f"  + loaded {event.tool}  {count(event.tokens, 'token')}{ahead}")

    @_print.register
    def _tool_evicted(self, event: ToolEvicted) -> None:
        say(f"  ✕ evicted {event.tool}  {event.reason}")

    @_print.register
    def _call_started(self, event: CallStarted) -> None:
        say(f"\n▸ {event.tool}  {arguments_text(event.arguments)}")

    @_print.register
    def _call_finished(self, event: CallFinished) -> None:
        say(f"    {event.outcome}  {milliseconds(event.milliseconds)}")
        say(_indented(_shortened(event.text)))

    @_print.register
    def _call_rejected(self, event: CallRejected) -> None:
        say(f"\n✕ {event.name}  {event.text}")

    @_print.register
    def _call_retried(self, event: CallRetried) -> None:
        say(f"    ↻ {event.summary()}")

    @_print.register
    def _tool_substituted(self, event: ToolSubstituted) -> None:
        say(f"\n⇄ {event.summary()}")

    @_print.register
    def _breaker_changed(self, event: BreakerChanged) -> None:
        say(f"  ⚠ circuit breaker: {event.summary()}")

    @_print.register
    def _loop_detected(self, event: LoopDetected) -> None:
        say(f"  ⚠ loop: {event.summary()}")

    @_print.register
    def _context_reduced(self, event: ContextReduced) -> None:
        say(f"  ⚠ window nearly full: {event.summary()}")

    @_print.register
    def _redundant_search(self, event: RedundantSearch) -> None:
        say(f"  ⚠ {event.summary()}")

    @_print.register
    def _gate_applied(self, event: GateApplied) -> None:
        say(f"\n◇ gate  {event.summary()}  {milliseconds(event.milliseconds)}")
        for tool_id in event.active:
            say(f"    {tool_id}")

    @_print.register
    def _settings_changed(self, event: SettingsChanged) -> None:
        say(f"\n◇ {event.summary()}")

    @_print.register
    def _settings_checked(self, event: SettingsChecked) -> None:
        say(f"\n⚠ settings: {event.summary()}")

    @_print.register
    def _turn_waited(self, event: TurnWaited) -> None:
        say(f"\n◇ waiting {event.summary()}")

    @_print.register
    def _milestone_reached(self, event: MilestoneReached) -> None:
        say(f"\n◇ milestone {event.summary()}")

    @_print.register
    def _failed(self, event: Failed) -> None:
        say(f"  ✕ {event.summary()}")

    @_print.register
    def _turn_ended(self, event: TurnEnded) -> None:
        if event.outcome not in ("answered", "failed", "refused"):
            say(f"  ⚠ {event.outcome}: {event.text}")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _shortened(text: str) -> str:
    lines = text[:_RESULT_CHARACTERS].splitlines()[:_RESULT_LINES]
    kept = "\n".join(lines)
    left = len(text) - len(kept)
    return f"{kept}\n… {left} more characters" if left > 1 else kept
