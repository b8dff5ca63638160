"""The rows of `toolsight bench` as a table in Markdown: every measure with its interval."""

from collections.abc import Sequence

from inspector.core.number import Share, percent
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING
from inspector.features.bench.ranker_bench import ESTIMATES, Row
from inspector.features.bench.run import KINDS

_HEADERS = (
    "data set",
    "ranker",
    "tools",
    "cases",
    "hit@1",
    "R@1",
    "R@5",
    "R@10",
    "nDCG@10",
    "MRR",
    "delivered@5",
    "delivered",
    "tools returned",
    *(f"{kind}: {answer}" for kind in KINDS for answer in Answer),
)
_TEXT_COLUMNS = 2


def markdown(rows: Sequence[Row]) -> str:
    """A table with one line per row; means are followed by [low, high]."""
    alignment = ["---" if column < _TEXT_COLUMNS else "---:" for column in range(len(_HEADERS))]
    lines = [_HEADERS, alignment, *(_cells(row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(row: Row) -> list[str]:
    summary = row.summary
    return [
        _plain(row.dataset),
        _plain(row.ranker),
        str(row.tools),
        str(summary.cases),
        *(
            NOTHING if one is None else f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"
            for one in (getattr(summary, name) for name in ESTIMATES)
        ),
        *(_share_cell(summary.share(kind, answer)) for kind in KINDS for answer in Answer),
    ]


def _share_cell(value: Share | None) -> str:
    if value is None:
        return NOTHING
    interval = f"[{percent(value.low, 1)}, {percent(value.high, 1)}]"
    return f"{percent(value.value, 1)} ({value.count}/{value.total}) {interval}"


def _plain(text: str) -> str:
    """A name on one line, with `|` and backslashes escaped."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
