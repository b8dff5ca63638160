"""Transitions of two personas, with fixed numbers, for pictures and key presses."""

from collections.abc import Callable, Mapping, Sequence

from inspector.core.ports import TaskCalls
from inspector.search.past_use import InertiaGraph, Tally, graphs_of

# 2026-10-01, 12:00 UTC; the app's clock in tests starts long before, so that nothing has aged.
_AT = 1_790_856_000.0
_DAY = 86_400.0
_REPORT = ("shop:list_orders", "shop:list_orders", "shop:get_customer", "office:send_message")
_LOOK = ("shop:list_orders", "office:send_message")
_TRIP = ("weather:get_forecast", "weather:get_alerts", "office:create_event")


def task(persona: str, calls: Sequence[str], at: float = _AT) -> TaskCalls:
    """A task whose calls are a minute apart."""
    return TaskCalls(persona, tuple((tool, at + 60 * number) for number, tool in enumerate(calls)))


def canned_graphs() -> dict[str, InertiaGraph]:
    """What an agent and Toolsight's own sessions called."""
    tasks = [task("toolsight", _REPORT, _AT - day * _DAY) for day in range(36)]
    tasks += [task("toolsight", _LOOK, _AT - day * _DAY) for day in range(30)]
    tasks += [task("toolsight", _TRIP, _AT - day * _DAY) for day in range(15)]
    tasks += [task("claude-code", ("github:search_issues", "github:get_issue")) for _ in range(12)]
    graphs = graphs_of(tasks)
    note = "a reminder to look again"
    graphs["toolsight"].follows("shop:list_orders", "office:create_event", Tally(seeded=4, note=note))
    return graphs


class CannedFlows:
    """A FlowLibrary with these, or with others."""

    def __init__(self, graphs: Mapping[str, InertiaGraph] | None = None) -> None:
        self._graphs = canned_graphs() if graphs is None else graphs

    def graphs(
        self,
        seed: str,  # noqa: ARG002
        stopped: Callable[[], bool],  # noqa: ARG002
    ) -> Mapping[str, InertiaGraph]:
        """See `FlowLibrary`."""
        return self._graphs
