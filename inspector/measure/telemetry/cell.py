"""Numbers of statistics as cells of a table."""

from collections import Counter
from collections.abc import Iterable, Mapping

from inspector.core.number import count, milliseconds, percent, tokens
from inspector.core.report import Table
from inspector.measure.telemetry.sample import Cases, Sample

NOTHING = "–"
FACTS = ("", "number", "95 %", "of")
FACT_NUMBERS = frozenset({1, 2, 3})
Row = tuple[str, ...]


def facts(rows: Iterable[Row], title: str = "", notes: tuple[str, ...] = ()) -> Table:
    """A table of what was counted: what it is, its number, its interval, and over how many cases."""
    return Table(title, FACTS, tuple(rows), FACT_NUMBERS, notes)


def number_row(what: str, value: int) -> Row:
    """A plain count."""
    return (what, f"{value:,}", "", "")


def share_row(what: str, cases: Cases, of: str, ofs: str = "") -> Row:
    """A share with its Wilson interval and the number of cases; `of` names one, `ofs` several."""
    share = cases.share
    number = NOTHING if share is None else percent(share.value)
    return (what, number, interval(cases), count(cases.count, of, ofs))


def interval(cases: Cases) -> str:
    """The bounds of a share's interval, in percent; "" without cases."""
    share = cases.share
    return "" if share is None else f"{share.low * 100:.0f} to {share.high * 100:.0f}"


def sample_row(what: str, sample: Sample, form: str = ",.1f") -> Row:
    """A mean and the number of cases."""
    mean = sample.mean
    return (what, NOTHING if mean is None else f"{mean:{form}}", "", f"{sample.count:,}")


def token_row(what: str, sample: Sample) -> Row:
    """A mean number of tokens, and over how many cases."""
    mean = sample.mean
    return (what, NOTHING if mean is None else tokens(round(mean)), "", f"{sample.count:,}")


def quantiles(sample: Sample) -> Row:
    """Three percentiles of latencies, and of how many."""
    found = (sample.at(share) for share in (0.5, 0.95, 0.99))
    return (*(NOTHING if one is None else milliseconds(one) for one in found), f"{sample.count:,}")


def words(kind: str) -> str:
    """A kind as a person reads it."""
    return kind.replace("_", " ")


def counted(kinds: Mapping[str, int], most: int = 6) -> str:
    """What was counted by kind, the most frequent first."""
    told = [f"{number:,}x {words(kind)}" for kind, number in Counter(kinds).most_common(most)]
    left = len(kinds) - len(told)
    return ", ".join([*told, *([f"{left:,} more kinds"] if left > 0 else [])])
