"""Numbers of statistics: samples, and cells of a table."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

from inspector.core.number import Share, count, percent, tokens
from inspector.core.report import NOTHING, Table
from inspector.search.answer.bootstrap import effective_size_of
from inspector.search.index.metric import percentile


class Sample:
    """Numbers of one kind, such as latencies; their percentiles are exact."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values = array("d")

    def add(self, value: float) -> None:
        """Count one more."""
        self._values.append(value)

    @property
    def count(self) -> int:
        return len(self._values)

    @property
    def total(self) -> float:
        return sum(self._values)

    @property
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return self.total / self.count if self._values else None

    def at(self, share: float) -> float | None:
        """The value below which `share` (0 to 1) of the numbers lie; None without numbers."""
        return percentile(self._values, share) if self._values else None

    @property
    def p50(self) -> float | None:
        return self.at(0.5)

    @property
    def p95(self) -> float | None:
        return self.at(0.95)

    @property
    def p99(self) -> float | None:
        return self.at(0.99)


class Cases:
    """How often something held, by session: cases of one session are not independent of one another."""

    __slots__ = ("_held", "_session", "_sizes")

    def __init__(self) -> None:
        self._held, self._sizes = array("q"), array("q")
        self._session = ""

    def add(self, session: str, held: int, cases: int = 1) -> None:
        """Count `cases` more of a session, of which `held` did. A session's cases come one after another."""
        if session != self._session or not self._sizes:
            self._session = session
            self._held.append(0)
            self._sizes.append(0)
        self._held[-1] += held
        self._sizes[-1] += cases

    @property
    def held(self) -> int:
        return sum(self._held)

    @property
    def count(self) -> int:
        return sum(self._sizes)

    @property
    def share(self) -> Share | None:
        """The share with its Wilson interval; None without cases.

        Sessions are the clusters. Where only one session has any, its cases stand for themselves.
        """
        cases = self.count
        if not cases:
            return None
        pairs = [(held, size) for held, size in zip(self._held, self._sizes, strict=True) if size]
        size = effective_size_of(pairs) if len(pairs) > 1 else None
        return Share(self.held, cases, size)


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


def words(kind: str) -> str:
    """A kind as a person reads it."""
    return kind.replace("_", " ")


def counted(kinds: Mapping[str, int], most: int = 6) -> str:
    """What was counted by kind, the most frequent first."""
    told = [f"{number:,}x {words(kind)}" for kind, number in Counter(kinds).most_common(most)]
    left = len(kinds) - len(told)
    return ", ".join([*told, *([f"{left:,} more kinds"] if left > 0 else [])])
