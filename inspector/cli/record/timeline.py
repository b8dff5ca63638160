"""A recorded session's timeline as text: which tools were bound in which model calls, and why."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from inspector.cli.render import say, say_json, say_table
from inspector.domain.events import Record
from inspector.domain.number import count, percent, plural
from inspector.domain.session import Binding
from inspector.domain.timeline import Lane, ModelCall, Move, Tally, Timeline

_SIGNS = {
    Binding.PINNED: "⌂",
    Binding.LOADED: "●",
    Binding.DEFERRED: "○",
    Binding.EVICTED: "✕",
    Binding.HELD: "‖",
    None: " ",
}
_COLUMNS = 60


def say_timeline(session: str, records: Iterable[Record], *, as_json: bool) -> None:
    """Print which tools were bound in each model call of a session, and every change."""
    shown = Timeline.of(records)
    if as_json:
        say_json(_json(session, shown))
        return
    say(f"session {session}   {count(len(shown.calls), 'model call')}")
    if shown.calls:
        _say_calls(shown)
    _say_lanes(shown)
    _say_moves(shown)


def _say_calls(shown: Timeline) -> None:
    rows = [_call_row(call) for call in shown.calls]
    headers = ("call", "message", "tool tokens", "same", "resent", "accuracy", "what it did")
    say()
    say_table(headers, rows, right=frozenset({0, 1, 2, 3, 4, 5}))


def _call_row(call: ModelCall) -> tuple[str, ...]:
    did = "\n".join(f"{action.kind}  {action.text}" for action in call.actions)
    return (
        str(call.number),
        str(call.message),
        str(call.tool_tokens),
        str(call.same),
        str(call.resent),
        _accuracy(call.tally),
        did or ("thought" if call.think else ""),
    )


def _accuracy(tally: Tally) -> str:
    return "-" if tally.accuracy is None else percent(tally.accuracy)


def _say_lanes(shown: Timeline) -> None:
    """Print the newest columns, so that each lane fits on a line; the last column is after the last call."""
    first = max(shown.now - _COLUMNS + 1, 1)
    rest = {binding: count for binding, count in shown.rest(shown.now).items() if count}
    say()
    if shown.lanes:
        rows = [(lane.tool, _lane(lane, first, shown.now)) for lane in shown.lanes]
        say_table(("tool", f"calls {first} to {len(shown.calls)}, and after"), rows)
        say("⌂ pinned  ● loaded  ○ deferred  ✕ evicted  ‖ held while its server is offline")
    for binding, tools in rest.items():
        were = plural(tools, "tool was", "tools were")
        say(f"{tools:,} more {were} {binding} throughout")


def _lane(lane: Lane, first: int, now: int) -> str:
    return "".join(_SIGNS[binding] for binding, _ in lane.states(first, now - first + 1))


def _say_moves(shown: Timeline) -> None:
    rows = [_move_row(move) for column in range(1, shown.now + 1) for move in shown.moves_at(column)]
    if not rows:
        say("No tool was bound or unbound.")
        return
    say()
    say_table(("before call", "#", "tool", "from", "to", "why"), rows, right=frozenset({0, 1}))
    tally = shown.tally(shown.now)
    say(
        f"searches {tally.searches}, loads {tally.loads}, evictions {tally.evictions}, "
        f"rejections {tally.rejections}, recoveries {tally.recoveries}, asked the user {tally.asked}, "
        f"accuracy {_accuracy(tally)}"
    )


def _move_row(move: Move) -> tuple[str, ...]:
    before, after = move.binding_from or "-", move.binding_to or "gone"
    return (str(move.call), str(move.seq), move.tool, before, after, move.reason or move.cause)


def _json(session: str, shown: Timeline) -> dict[str, Any]:
    columns = range(1, shown.now + 1)
    return {
        "session": session,
        "calls": [asdict(call) for call in shown.calls],
        "lanes": [
            {"tool": lane.tool, "during": [state for state, _ in lane.states(1, shown.now)]}
            for lane in shown.lanes
        ],
        "moves": [asdict(move) for column in columns for move in shown.moves_at(column)],
        "rest": shown.rest(shown.now),
        "tally": asdict(shown.tally(shown.now)),
    }
