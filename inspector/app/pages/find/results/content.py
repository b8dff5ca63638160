"""A search report as rows, with the reason for every tool that is no result."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from textual.content import Content

from inspector.app.pages.find.results.own import NO_TOOL, OWN, Own
from inspector.app.pages.find.score_bar import BAR_WIDTH, bar, full_bars
from inspector.app.pages.find.wording import outcome, score
from inspector.domain.marketplace import Suggestion, brief
from inspector.domain.number import percent
from inspector.domain.ranking import Hit, Outcome, SearchReport, SearchRequest
from inspector.engine.discovery.rankers.ranker_list import INFO
from widgets import Column, Record

COLUMNS = (
    Column("rank", "#", align="right", width=4, weight=5),
    Column("tool", "tool", shorten="name", min_width=14, weight=4),
    Column("bar", "signals", width=BAR_WIDTH, weight=2, hide_below=48),
    Column("score", "score", align="right", width=6, weight=6),
    Column("outcome", "", min_width=12, weight=3),
)
# Keys of the rows between the tools; no tool id begins like them.
LIMIT = "\0limit"
UNLIKELY = "\0unlikely"
FLOOR = "\0floor"
MORE = "\0more"
PLUGIN = "\0plugin "
NO_RANKS: Mapping[str, int] = {}
_TAG = re.compile(r"#\S+")
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
    needed: float = 0.0,
    suggested: Collection[Suggestion] = (),
) -> tuple[Record, ...]:
    """Return the results, then the other tools by reason; after abstaining, the closest tools first.

    `before` holds ranks of an earlier search: a tool whose rank has changed tells the earlier one. `own` is
    marked, and follows the others if it is not among them. `needed` is the fit that a result needs.
    `suggested` plugins follow all tools, apart from them.
    """
    full = full_bars(report.hits)
    missed = [hit for hit in report.hits if not hit.outcome.is_result]
    apart = () if report.abstained else (Outcome.UNLIKELY, Outcome.BELOW_FLOOR)
    near = [hit for hit in missed if hit.outcome not in apart]
    info = INFO.get(report.ranker)
    groups = (
        (LIMIT, *_limit(report, near), near),
        (
            UNLIKELY,
            "unlikely to fit",
            f"fit < {needed:.2f}",
            [hit for hit in missed if hit.outcome in apart[:1]],
        ),
        (
            FLOOR,
            _TOO_FAR[info.matching] if info is not None else "no match",
            "",
            [hit for hit in missed if hit.outcome in apart[1:]],
        ),
    )
    found = (
        *(_row(hit, full, bound) for hit in report.results),
        *(record for group in groups for record in _group(*group, full, bound)),
    )
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    moved = {key: was for key, was in before.items() if ranks.get(key, was) != was}
    listed = (*(_with_rank_before(record, moved) for record in found), *_more(report))
    if own.hit is not None and own.tool_id not in ranks:
        listed = (*listed, _row(own.hit, full, bound))
    marked = (_as_own(record) if record.key == own.tool_id else record for record in listed)
    return (*marked, *_plugins(suggested)) if report.results else (*_plugins(suggested), *marked)


def _plugins(suggested: Collection[Suggestion]) -> Iterator[Record]:
    """What the marketplace has instead: above the tools that do not fit, and below those that do."""
    if suggested:
        title = ("", "── in the marketplace", "", "", "not installed: enter shows it")
        yield Record(PLUGIN, title, tone="muted")
    for one in suggested:
        cells = ("◇", one.plugin, "", percent(one.similarity), brief(one.description))
        yield Record(PLUGIN + one.plugin, cells, copy=one.plugin)


def _as_own(record: Record) -> Record:
    rank, *others, outcome = record.cells
    return replace(
        record, cells=(Content.assemble((OWN, "bold $accent"), rank), *others, outcome), tone="accent"
    )


def _with_rank_before(record: Record, before: Mapping[str, int]) -> Record:
    if record.key not in before:
        return record
    *cells, outcome = record.cells
    told = Content.assemble((f"was {before[record.key]}  ", "bold $accent"), outcome)
    return replace(record, cells=(*cells, told))


def _group(
    key: str, title: str, limit: str, hits: Collection[Hit], full: dict[str, float], bound: Collection[str]
) -> Iterator[Record]:
    if hits and title:
        yield Record(key, ("", f"── {title}", limit, "", f"{len(hits)} missed"), tone="muted")
    yield from (_row(hit, full, bound) for hit in hits)


def _limit(report: SearchReport, rest: Collection[Hit]) -> tuple[str, str]:
    if report.abstained:
        return "", ""
    limited = any(hit.outcome is Outcome.OVER_LIMIT for hit in rest)
    return ("past the limit", f"limit {report.limit}") if limited else ("left out", "")


def _more(report: SearchReport) -> Iterator[Record]:
    count = report.scored - len(report.hits)
    if count > 0:
        yield Record(MORE, ("", f"… and {count:,} more", "", "", ""), tone="muted")


def _row(hit: Hit, full: dict[str, float], bound: Collection[str]) -> Record:
    return Record(
        hit.tool_id,
        (
            str(hit.rank),
            hit.tool_id,
            bar(hit, full),
            score(hit.score.value),
            outcome(hit, hit.tool_id in bound),
        ),
        tone="" if hit.outcome.is_result else "muted",
        copy=hit.tool_id,
    )
