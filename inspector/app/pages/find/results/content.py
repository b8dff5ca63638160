"""A search report as rows by rank, with the reason for every tool that is no result."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from textual.content import Content

from inspector.app.pages.find.results.own import NO_TOOL, OWN, Own
from inspector.app.pages.find.score_bar import BAR_WIDTH, bar, full_bars
from inspector.app.pages.find.wording import outcome, score
from inspector.domain.marketplace import Suggestion, brief
from inspector.domain.number import percent
from inspector.domain.rank_gap import Gap, with_gaps
from inspector.domain.ranking import Hit, Outcome, SearchReport, SearchRequest
from inspector.engine.discovery.rankers.ranker_list import INFO
from widgets import Column, Record

COLUMNS = (
    Column("rank", "#", align="right", width=4, weight=5),
    Column("tool", "tool", shorten="name", min_width=12, weight=9),
    Column("bar", "signals", width=BAR_WIDTH, weight=2, hide_below=48),
    Column("score", "score", align="right", width=6, weight=6),
    Column("outcome", "state", min_width=14, weight=3),
)
_BEFORE = Column("before", "was", align="right", weight=5)
# Keys of the rows between the tools; no tool id begins like them.
LINE = "\0line"
GAP = "\0gap "
PLUGIN = "\0plugin "
NO_RANKS: Mapping[str, int] = {}
_TAG = re.compile(r"#\S+")
_EXCLUDED = (Outcome.OTHER_SERVER, Outcome.OTHER_TAG)
_TOO_FAR = {
    "words": "no word in common",
    "meaning": "too far in meaning",
    "both": "nothing in common",
    "pattern": "no match",
    "spelling": "too unlike",
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
    ranks that were others in an earlier search, see `moved` and `columns`. `own` is marked and
    never left out. `suggested` plugins are apart from all tools.
    """
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    hits = report.hits if own.hit is None or own.tool_id in ranks else (*report.hits, own.hit)
    listed = with_gaps(
        hits, lambda hit: hit.outcome not in _EXCLUDED or hit.tool_id == own.tool_id, report.scored
    )
    full = full_bars(report.hits)
    ranked = [
        _gap_row(one) if isinstance(one, Gap) else _row(one, full, bound, is_own=one.tool_id == own.tool_id)
        for one in listed
    ]
    end = _end_of_results(listed)
    if end is not None:
        ranked.insert(end, _line(report, [hit for hit in listed[end:] if isinstance(hit, Hit)]))
    plugins = tuple(_plugins(suggested))
    every = (*ranked, *plugins) if report.results else (*plugins, *ranked)
    return _with_ranks_before(every, before)


def columns(before: Mapping[str, int]) -> tuple[Column, ...]:
    """Return the columns; with one for the ranks `before` where some have changed."""
    return (COLUMNS[0], _BEFORE, *COLUMNS[1:]) if before else COLUMNS


def moved(report: SearchReport, before: Mapping[str, int]) -> dict[str, int]:
    """Return the earlier ranks that have changed."""
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    return {key: was for key, was in before.items() if ranks.get(key, was) != was}


def _with_ranks_before(records: tuple[Record, ...], before: Mapping[str, int]) -> tuple[Record, ...]:
    if not before:
        return records

    def was(key: str) -> Content:
        return Content.styled(str(before.get(key, "")), "$accent")

    return tuple(replace(one, cells=(one.cells[0], was(one.key), *one.cells[1:])) for one in records)


def _end_of_results(listed: Sequence[Hit | Gap]) -> int | None:
    """Where the results end, if all of them are above all other tools."""
    are_results = [(at, hit.outcome.is_result) for at, hit in enumerate(listed) if isinstance(hit, Hit)]
    kinds = [is_result for _, is_result in are_results]
    if kinds != sorted(kinds, reverse=True) or len(set(kinds)) < 2:
        return None
    return max(at for at, is_result in are_results if is_result) + 1


def _line(report: SearchReport, rest: Sequence[Hit]) -> Record:
    outcomes = {hit.outcome for hit in rest}
    info = INFO.get(report.ranker)
    if Outcome.OVER_LIMIT in outcomes:
        title = f"beyond the top {len(report.results)}"
    elif outcomes == {Outcome.UNLIKELY}:
        title = "unlikely to fit"
    elif outcomes == {Outcome.BELOW_FLOOR} and info is not None:
        title = _TOO_FAR[info.matching]
    else:
        title = "not returned"
    return Record(LINE, ("", f"── {title}", "", "", ""), tone="muted")


def _gap_row(gap: Gap) -> Record:
    return Record(f"{GAP}{gap.first}", ("", f"… {gap.ranks}", "", "", gap.reason), tone="muted")


def _plugins(suggested: Collection[Suggestion]) -> Iterator[Record]:
    """What the marketplace has instead: above the tools that do not fit, and below those that do."""
    if suggested:
        title = ("", "── plugins", "", "", "enter opens")
        yield Record(PLUGIN, title, tone="muted")
    for one in suggested:
        cells = ("◇", one.plugin, "", percent(one.similarity), brief(one.description))
        yield Record(PLUGIN + one.plugin, cells, copy=one.plugin)


def _row(hit: Hit, full: dict[str, float], bound: Collection[str], *, is_own: bool) -> Record:
    rank = Content.assemble((OWN if is_own else "", "bold $accent"), str(hit.rank))
    return Record(
        hit.tool_id,
        (rank, hit.tool_id, bar(hit, full), score(hit.score.value), outcome(hit, hit.tool_id in bound)),
        tone="accent" if is_own else "" if hit.outcome.is_result else "muted",
        copy=hit.tool_id,
    )
