"""What follows what as tables."""

from collections.abc import Iterator, Sequence

from inspector.cli.render import say, say_table
from inspector.domain.composition_settings import InertiaSettings
from inspector.domain.moment import shown_moment
from inspector.domain.number import count, percent
from inspector.engine.composition.flow import Flow, warmth

_TOOLS, _NEXT = 20, 3
_HEADERS = ("after", "calls", "next", "share", "at least", "times", "last (UTC)", "note")


def say_personas(found: Sequence[Flow]) -> None:
    """Print whose habits are known, best known first."""
    warm_up = InertiaSettings().warm_up
    rows = [
        (one.persona, warmth(one.tasks, warm_up), f"{one.calls:,}", f"{len(one.tools):,}") for one in found
    ]
    say_table(("persona", "tasks", "calls", "tools"), rows, right=frozenset({2, 3}))


def say_flow(shown: Flow) -> None:
    """Print what follows the tools that are called most."""
    say(f"\n{shown.persona}: what follows each tool, most-called tools first")
    say_table(_HEADERS, _rows(shown), right=frozenset({1, 3, 4, 5}), whole=frozenset({0, 2, 6}))
    left = len(shown.tools) - _TOOLS
    if left > 0:
        say(f"and {count(left, 'more tool')}; --json lists them all")
    say("share: of the calls after that tool, weighted by age; at least: the lower end of its 95 % interval.")


def _rows(shown: Flow) -> Iterator[tuple[str, ...]]:
    for tool in shown.tools[:_TOOLS]:
        first = (tool.tool, f"{tool.calls:,}")
        if not tool.successors:
            yield (*first, "nothing", "", "", "", "", "")
        for one in tool.successors[:_NEXT]:
            last = shown_moment(one.at) if one.at else ""
            shares = (percent(one.probability), percent(one.low), f"{one.count:,}")
            yield (*first, one.tool, *shares, last, one.note)
            first = ("", "")
