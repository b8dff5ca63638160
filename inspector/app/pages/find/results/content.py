"""A search report as rows by rank, with the reason for every tool that is no result."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.pages.find.pane import outcome, score
from inspector.app.pages.find.results.own import NO_TOOL, OWN, Own
from inspector.app.pages.find.score_bar import BAR_WIDTH, bar, full_bars
from inspector.core.marketplace import Suggestion, brief
from inspector.core.number import percent
from inspector.core.ranking import Gap, Hit, Outcome, SearchReport, SearchRequest, with_gaps
from inspector.search.rankers.ranker_list import INFO
from widgets import Column, Record

COLUMNS = (
    Column("rank", "#", align="right", weight=5),
    Column("tool", "tool", shorten="name", min_width=12, weight=9),
    Column("outcome", "state", min_width=14, weight=3),
    Column("bar", "signals", width=BAR_WIDTH, weight=2, hide_below=48),
    Column("score", "score", align="right", weight=6),
)
# Keys of the rows between the tools; no tool id begins like them.
LINE = "\0line"
GAP = "\0gap "
PLUGIN = "\0plugin "
NO_RANKS: Mapping[str, int] = {}
_TAG = re.compile(r"#\S+")
_EXCLUDED = (Outcome.OTHER_SERVER, Outcome.OTHER_TAG)
_TOO_FAR = {
    "words": "no words in common",
    "meaning": "too far in meaning",
    "both": "nothing in common",
    "pattern": "no match",
    "spelling": "too different",
}


def request_of(query: str, server: str, names: str) -> SearchRequest:
    """Return the typed texts as a request: a server and `#tags`, names separated by commas or spaces."""
    words = server.split()
    tags = tuple(word.removeprefix("#") for word in words if _TAG.fullmatch(word))
    name = " ".join(word for word in words if not _TAG.fullmatch(word))
    return SearchRequest(query.strip(), name, tuple(filter(None, re.split(r"[,\s]+", names))), tags)


def scope_text(request: SearchRequest) -> str:
    """Return the server and the tags as they are typed."""
    return " ".join(filter(None, (request.server_name, *(f"#{tag}" for tag in request.tags))))


def rows(
    report: SearchReport,
    bound: Collection[str],
    before: Mapping[str, int] = NO_RANKS,
    *,
    own: Own = NO_TOOL,
    suggested: Collection[Suggestion] = (),
) -> tuple[Record, ...]:
    """Return the tools by rank, each with its state, with a line below the results where that is true.

    Tools that the request excludes are left out: the list says which ranks they have. `before` holds the
    ranks that have changed since an earlier search, see `moved`. `own` is marked and never left out.
    `suggested` plugins are apart from all tools.
    """
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    hits = report.hits if own.hit is None or own.tool_id in ranks else (*report.hits, own.hit)
    listed = with_gaps(
        hits, lambda hit: hit.outcome not in _EXCLUDED or hit.tool_id == own.tool_id, report.scored
    )
    end = _end_of_results(listed)
    rest = listed[len(listed) if end is None else end :]
    title, implied = _below(report, [hit for hit in rest if isinstance(hit, Hit)])
    full = full_bars(report.hits)

    def state(hit: Hit) -> Content:
        said = outcome(hit, hit.tool_id in bound, implied=implied)
        was = Content.styled(f"was {before[hit.tool_id]}", "$accent") if hit.tool_id in before else Content()
        return Content(" ").join([piece for piece in (said, was) if piece])

    ranked = [
        _gap_row(one)
        if isinstance(one, Gap)
        else _row(one, full, state(one), is_own=one.tool_id == own.tool_id)
        for one in listed
    ]
    if end is not None:
        ranked.insert(end, Record(LINE, ("", f"── {title}", "", "", ""), tone="muted"))
    plugins = tuple(_plugins(suggested))
    return (*ranked, *plugins) if report.results else (*plugins, *ranked)


def moved(report: SearchReport, before: Mapping[str, int]) -> dict[str, int]:
    """Return the earlier ranks that have changed."""
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    return {key: was for key, was in before.items() if ranks.get(key, was) != was}


def _end_of_results(listed: Sequence[Hit | Gap]) -> int | None:
    """Where the results end, if all of them are above all other tools."""
    are_results = [(at, hit.outcome.is_result) for at, hit in enumerate(listed) if isinstance(hit, Hit)]
    kinds = [is_result for _, is_result in are_results]
    if kinds != sorted(kinds, reverse=True) or len(set(kinds)) < 2:
        return None
    return max(at for at, is_result in are_results if is_result) + 1


def _below(report: SearchReport, rest: Sequence[Hit]) -> tuple[str, Outcome | None]:
    """Name what stands below the results, and the outcome that this name says of every tool there."""
    outcomes = {hit.outcome for hit in rest}
    info = INFO.get(report.ranker)
    if Outcome.OVER_LIMIT in outcomes:
        return f"beyond the top {len(report.results)}", Outcome.OVER_LIMIT
    if outcomes == {Outcome.UNLIKELY}:
        return "unlikely to fit", Outcome.UNLIKELY
    if outcomes == {Outcome.BELOW_FLOOR} and info is not None:
        return _TOO_FAR[info.matching], Outcome.BELOW_FLOOR
    return "not returned", None


def _gap_row(gap: Gap) -> Record:
    return Record(f"{GAP}{gap.first}", ("", f"… {gap.ranks}", gap.reason, "", ""), tone="muted")


def _plugins(suggested: Collection[Suggestion]) -> Iterator[Record]:
    """What the marketplace has instead: above the tools that do not fit, and below those that do."""
    if suggested:
        yield Record(PLUGIN, ("", "── plugins", "enter opens", "", ""), tone="muted")
    for one in suggested:
        cells = ("◇", one.plugin, brief(one.description), "", percent(one.similarity))
        yield Record(PLUGIN + one.plugin, cells, copy=one.plugin)


def _row(hit: Hit, full: dict[str, float], state: Content, *, is_own: bool) -> Record:
    rank = Content.assemble((OWN if is_own else "", "bold $accent"), str(hit.rank))
    return Record(
        hit.tool_id,
        (rank, hit.tool_id, state, bar(hit, full), score(hit.score.value)),
        tone="accent" if is_own else "" if hit.outcome.is_result else "muted",
        copy=hit.tool_id,
    )
