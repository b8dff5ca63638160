"""An audit as a slide: one bar per configuration, one segment per server, and discovery beside it."""

from collections.abc import Iterator, Mapping, Sequence

from inspector.app.draw import svg
from inspector.app.draw.line import shown_path
from inspector.core.number import count, money, percent
from inspector.measure.audit.result import Audit, ConfigurationAudit
from inspector.tokens.cost import Delivery
from widgets import visible

_MARGIN = 64
_TOP, _BOTTOM = 190, 600
_MOST_ROWS = 6
_WIDEST_PITCH = 118.0
_COLORS = (svg.BLUE, svg.YELLOW, "#bb9af7", "#7dcfff", "#f7768e", "#73daca", "#ff9e64", "#c0caf5")


def slide(audit: Audit, basis: Sequence[str]) -> str:
    """The audit as SVG; `basis` says what its counts are based on."""
    measured = sorted((one for one in audit.configurations if one.measured), key=lambda one: -one.tokens)
    rows = measured[:_MOST_ROWS]
    parts = [
        _text(_MARGIN, 92, "What MCP clients' tools cost", 40, weight=700),
        _text(_MARGIN, 134, _subtitle(audit, measured), 20, svg.DIM),
        *_legend(),
        *_bars(rows),
        *_advice(rows),
        *_footer(basis, len(measured) - len(rows)),
    ]
    return svg.slide(parts)


def _subtitle(audit: Audit, measured: Sequence[ConfigurationAudit]) -> str:
    if not measured:
        return "No server was measured."
    servers = sum(len(one.measured) for one in measured)
    without = sum(len(one.servers) for one in audit.configurations) - servers
    left = f", {without} not measured" if without else ""
    tools = sum(len(one.tools) for one in measured)
    what = (
        f"{count(len(measured), 'configuration')}, {count(servers, 'server')}{left}, {count(tools, 'tool')}"
    )
    return f"{what}: definition tokens per model call"


def _legend() -> Iterator[str]:
    for number in range(3):
        yield _box(_MARGIN + number * 12, 156, 10, 14, _COLORS[number])
    yield _text(_MARGIN + 44, 168, "every tool bound, by server", 15, svg.DIM)
    yield _box(_MARGIN + 290, 156, 34, 14, svg.GOOD)
    yield _text(_MARGIN + 334, 168, "every tool deferred: first call, before any search", 15, svg.DIM)


def _bars(rows: Sequence[ConfigurationAudit]) -> Iterator[str]:
    widest = max((max(one.tokens, one.discovery) for one in rows), default=0)
    room = svg.WIDTH - 2 * _MARGIN - 150
    names = dict.fromkeys(server.name for one in rows for server in one.servers if server.tokens)
    colors = {name: _COLORS[number % len(_COLORS)] for number, name in enumerate(names)}
    for number, one in enumerate(rows):
        top = _TOP + 14 + number * _pitch(rows)
        yield from _row(one, top, _pitch(rows), room / widest if widest else 0.0, colors)


def _pitch(rows: Sequence[ConfigurationAudit]) -> float:
    """Pixels from one bar to the next."""
    return min(_WIDEST_PITCH, (_BOTTOM - _TOP) / max(len(rows), 1))


def _advice(rows: Sequence[ConfigurationAudit]) -> Iterator[str]:
    """The suggestions for the largest configuration, if there is room for them."""
    top = _TOP + 14 + len(rows) * _pitch(rows) + 20
    if not rows or not rows[0].suggestions or top + 30 * (len(rows[0].suggestions) + 1) > _BOTTOM:
        return
    first = rows[0]
    yield _text(_MARGIN, top + 14, f"What to do about {first.title}", 18, weight=700)
    for number, suggestion in enumerate(first.suggestions, start=1):
        yield _text(_MARGIN, top + 14 + number * 30, f"{number}. {suggestion.text}", 16)


def _row(
    one: ConfigurationAudit, top: float, pitch: float, scale: float, colors: Mapping[str, str]
) -> Iterator[str]:
    thick, thin = pitch * 0.34, max(5.0, pitch * 0.1)
    size = min(18.0, pitch * 0.22)
    yield _text(_MARGIN, top + size * 0.8, f"{one.title}   {shown_path(one.source)}", size)
    bar = top + size * 1.25
    yield from _segments(one, bar, thick, scale, colors)
    end = _MARGIN + one.tokens * scale + 12
    yield _text(end, bar + thick * 0.5 + size * 0.4, f"{one.tokens:,}", size * 1.15, weight=700)
    below = bar + thick + 4
    yield _box(_MARGIN, below, max(2.0, one.discovery * scale), thin, svg.GOOD)
    less = f"{one.discovery:,} in the first call with discovery{_money(one)}"
    yield _text(
        _MARGIN + one.discovery * scale + 12, below + thin * 0.5 + size * 0.3, less, size * 0.82, svg.GOOD
    )


def _segments(
    one: ConfigurationAudit, top: float, thick: float, scale: float, colors: Mapping[str, str]
) -> Iterator[str]:
    start = float(_MARGIN)
    for server in (server for server in one.servers if server.tokens):
        width = server.tokens * scale
        yield _box(start, top, max(1.0, width - 1.5), thick, colors[server.name])
        size = min(15.0, thick * 0.5)
        room = (width - 16) * svg.LETTER / svg.BOLD_LETTER
        both, name = f"{server.name}  {server.tokens:,}", svg.fitted(server.name, room, size)
        label = both if svg.fitted(both, room, size) == visible(both, newlines=False) else name
        if label:
            yield _text(start + 8, top + thick * 0.5 + size * 0.36, label, size, svg.BACKGROUND, weight=600)
        start += width


def _money(one: ConfigurationAudit) -> str:
    """What a whole session costs both ways, with its searches."""
    session = one.session
    if session is None or session.saved is None:
        return ""
    costs = [session.of(delivery).cached.dollars for delivery in (Delivery.STATIC, session.discovery)]
    static, discovery = (None if dollars is None else money(dollars) for dollars in costs)
    priced = "" if static is None or discovery is None else f" {discovery} instead of {static},"
    change = f"{percent(abs(session.saved))} {'less' if session.saved >= 0 else 'more'}"
    return f"; a session, searches included, costs{priced} {change}"


def _footer(basis: Sequence[str], hidden: int) -> Iterator[str]:
    more = [f"{hidden} smaller configurations are not shown."] if hidden > 0 else []
    for number, line in enumerate((*more, *basis)):
        yield _text(_MARGIN, _BOTTOM + 36 + number * 20, line, 13, svg.DIM)


def _text(x: float, y: float, words: str, size: float, fill: str = svg.INK, *, weight: int = 400) -> str:
    """A text, cut at the slide's edge."""
    return svg.text(x, y, svg.fitted(words, svg.WIDTH - 40 - x, size), size, fill, weight=weight)


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return svg.box(x, y, width, height, fill, corner=3)
