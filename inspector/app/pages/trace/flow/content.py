"""The texts of the flow page: a persona's tools, what follows each, and what came of predictions."""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.inertia import Hits
from inspector.core.number import bar, count, percent, shown_moment
from inspector.core.session import Binding, SessionState
from inspector.core.settings import InertiaSettings
from inspector.reliability.flow import Flow, FlowTool, is_likely, warmth
from widgets import Column, Record, plain, visible

TOOLS = (
    Column("mark", "", width=1),
    Column("tool", "tool", weight=4, shorten="name", min_width=12),
    Column("calls", "calls", align="right", width=6),
    Column("last", "last", width=10, hide_below=52),
)
NEXT = (
    Column("tool", "then", weight=4, shorten="name", min_width=12),
    Column("bar", "", width=8, hide_below=40),
    Column("share", "share", align="right", width=5),
    Column("low", "at least", align="right", width=8),
    Column("times", "times", align="right", width=5),
    Column("last", "last", width=10, hide_below=56),
)
READING = "Reading calls from the recorded sessions …"
EMPTY = "No calls recorded yet. Ask something in Chat, or import an agent's sessions (Trace, sessions, i)."
NOTHING = "No tool was called after it for the same message."
NOT_HERE = "This session cannot read other sessions. Use `toolsight sessions next`."
LAST = "▸"
_LONGEST, _BAR = 200, 8
_MODES = {
    "off": "binds nothing ahead",
    "with_search": "binds likely tools with a search",
    "where_it_pays": "binds likely tools with a search and where it pays off",
}


def facts(shown: Flow | None, personas: int, place: int, settings: InertiaSettings) -> Content:
    """Return whose habits are shown, what they rest on, and what is done with them."""
    if shown is None:
        return Content(EMPTY)
    which = f" ({place + 1} of {personas})" if personas > 1 else ""
    name = visible(shown.persona, limit=_LONGEST, newlines=False)
    seen = warmth(shown.tasks, settings.warm_up)
    return Content.assemble(("persona ", MUTED), (name, "bold"), (which, MUTED), f"   {seen}")


def called(shown: Flow | None) -> str:
    """Return the title above the tools."""
    return f"Called: {count(shown.calls, 'time')}" if shown is not None else "Called"


def then(tool: FlowTool | None) -> Content:
    """Return the title above what follows a tool."""
    if tool is None:
        return Content("Then")
    return Content.assemble("Then, after ", plain(tool.tool, limit=_LONGEST, newlines=False))


def doing(state: SessionState, settings: InertiaSettings) -> Content:
    """Return what is done with predictions in the session, and what came of them so far."""
    inertia = state.inertia
    if not settings.enabled and inertia.predicted is None and not inertia.hits.first_uses:
        return Content.styled("Predictions are off. Turn them on with inertia.enabled (ctrl+o).", MUTED)
    pieces = [f"Predicts; {_MODES[settings.preload]}." if settings.enabled else "Predicted in this session."]
    if inertia.ahead:
        pieces.append(
            f"{len(inertia.used):,} of {count(len(inertia.ahead), 'tool')} bound ahead were called."
        )
    if inertia.hits.first_uses:
        pieces.append(_hits(inertia.hits))
    return Content("  ".join(pieces))


def _hits(hits: Hits) -> str:
    """How often a first use was named first, by the graph and by the rules that it has to beat."""
    uses = count(hits.first_uses, "first use")
    plain = f"most used {hits.most_used[0]:,}, same server {hits.same_server[0]:,}"
    return f"Predicted {hits.order_1[0]:,} of {uses}; {plain}."


def tools(shown: Flow | None, state: SessionState) -> tuple[Record, ...]:
    """Return a row a tool, the most called first; the one that the session called last has a mark."""
    return tuple(_tool(tool, state) for tool in (shown.tools if shown is not None else ()))


def _tool(tool: FlowTool, state: SessionState) -> Record:
    cells = (
        LAST if tool.tool == state.inertia.called else " ",
        visible(tool.tool, limit=_LONGEST, newlines=False),
        f"{tool.calls:,}",
        _day(tool.at),
    )
    return Record(tool.tool, cells, search=tool.tool, copy=tool.tool)


def _day(at: float) -> str:
    return shown_moment(at, "%Y-%m-%d") if at else ""


def successors(tool: FlowTool | None, settings: InertiaSettings) -> tuple[Record, ...]:
    """Return what follows a tool, most likely first; what is too unlikely to be bound ahead is muted."""
    return tuple(
        Record(
            one.tool,
            (
                visible(one.tool, limit=_LONGEST, newlines=False),
                Content.styled(bar(one.probability, _BAR), "$primary"),
                percent(one.probability),
                percent(one.low),
                f"{one.count:,}",
                _day(one.at) or "seeded",
            ),
            tone="" if is_likely(one, settings) else "muted",
            search=f"{one.tool} {one.note}",
            copy=one.tool,
        )
        for one in (tool.successors if tool is not None else ())
    )


def detail(tool: FlowTool | None, chosen: str, state: SessionState) -> Content:
    """Return what is known of the successor under the cursor: its interval in words, and its binding."""
    one = next((one for one in (tool.successors if tool is not None else ()) if one.tool == chosen), None)
    if tool is None or one is None:
        return Content("")
    total = sum(each.count for each in tool.successors)
    words = (
        f"{one.count:,} of {count(total, 'call')} after it; at least {percent(one.low)} with 95 % confidence"
    )
    known = state.known(one.tool)
    bound = ""
    if known is not None:
        bound = "bound ahead" if known.is_ahead else str(known.binding)
        bound = f"{bound}, {known.reason}" if known.reason and known.binding is Binding.LOADED else bound
    told = [words, *filter(None, (bound, one.note))]
    return Content("; ".join(visible(part, limit=_LONGEST, newlines=False) for part in told))


def personas(found: Sequence[Flow]) -> tuple[Record, ...]:
    """Return a row a persona, for the dialog that chooses one."""
    return tuple(
        Record(
            one.persona,
            (visible(one.persona, limit=_LONGEST, newlines=False), ""),
            detail=f"{count(one.tasks, 'task')}, {count(one.calls, 'call')}, {count(len(one.tools), 'tool')}",
        )
        for one in found
    )
