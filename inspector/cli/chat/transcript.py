"""The transcript of a chat on stdout, one event at a time."""

from functools import singledispatchmethod

from inspector.cli.render import say
from inspector.domain.conversation import arguments_text
from inspector.domain.events import event as ev
from inspector.domain.events.text import summary

_RESULT_LINES = 12
_RESULT_CHARACTERS = 1200


class Transcript:
    """Prints what a reader needs of each record; the rest is in the database."""

    def on_record(self, record: ev.Record) -> None:
        self._print(record.event)

    @singledispatchmethod
    def _print(self, _event: ev.Event) -> None:
        """Most events are detail."""

    @_print.register
    def _(self, event: ev.UserSaid) -> None:
        say(f"\nYou\n{_indented(event.text)}")

    @_print.register
    def _(self, event: ev.ModelResponded) -> None:
        if event.text:
            thinks = " thinks" if event.thought else ""
            say(f"\nModel{thinks}\n{_indented(event.text)}")

    @_print.register
    def _(self, event: ev.SearchPerformed) -> None:
        say(f"\n⌕ search_tools  {summary(event)}  {event.report.latency_ms:.0f} ms")
        for hit in event.report.results:
            say(f"    {hit.tool_id}  {hit.score.value:.2f}  {hit.outcome}")

    @_print.register
    def _(self, event: ev.ToolLoaded) -> None:
        say(f"  + loaded {event.tool}  {event.tokens} tokens")

    @_print.register
    def _(self, event: ev.ToolEvicted) -> None:
        say(f"  ✕ evicted {event.tool}  {event.reason}")

    @_print.register
    def _(self, event: ev.CallStarted) -> None:
        say(f"\n▸ {event.tool}  {arguments_text(event.arguments)}")

    @_print.register
    def _(self, event: ev.CallFinished) -> None:
        say(f"    {'ok' if event.ok else 'failed'}  {event.milliseconds:.0f} ms")
        say(_indented(_shortened(event.text)))

    @_print.register
    def _(self, event: ev.CallRejected) -> None:
        say(f"\n✕ {event.name}  {event.text}")

    @_print.register
    def _(self, event: ev.LoopDetected) -> None:
        say(f"  ⚠ loop: {summary(event)}")

    @_print.register
    def _(self, event: ev.ContextReduced) -> None:
        say(f"  ⚠ near the window: {summary(event)}")

    @_print.register
    def _(self, event: ev.RedundantSearch) -> None:
        say(f"  ⚠ redundant search: {summary(event)}")

    @_print.register
    def _(self, event: ev.GateApplied) -> None:
        say(f"\n◇ gate  {summary(event)}  {event.milliseconds:.0f} ms")
        for tool_id in event.active:
            say(f"    {tool_id}")

    @_print.register
    def _(self, event: ev.SettingsChanged) -> None:
        say(f"\n◇ {summary(event)}")

    @_print.register
    def _(self, event: ev.MilestoneReached) -> None:
        say(f"\n◇ milestone {summary(event)}")

    @_print.register
    def _(self, event: ev.Failed) -> None:
        say(f"  ✕ {summary(event)}")

    @_print.register
    def _(self, event: ev.TurnEnded) -> None:
        if event.outcome not in ("answered", "failed"):
            say(f"  ⚠ {event.outcome}: {event.text}")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _shortened(text: str) -> str:
    lines = text[:_RESULT_CHARACTERS].splitlines()[:_RESULT_LINES]
    kept = "\n".join(lines)
    left = len(text) - len(kept)
    return f"{kept}\n… {left} more characters" if left > 1 else kept
