"""Formats numbers and times for people: short, with the unit once. Every text, page and report uses these."""

import math
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

# The standard normal quantile of a two-sided 95 % interval.
_Z = 1.959963984540054


def wilson(share: float, size: float) -> tuple[float, float]:
    """The 95 % interval (Wilson 1927) of a share seen in a sample of `size` independent cases (above 0)."""
    denominator = 1 + _Z**2 / size
    center = (share + _Z**2 / (2 * size)) / denominator
    margin = _Z / denominator * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return min(max(center - margin, 0.0), share), max(min(center + margin, 1.0), share)


LAST = 253_402_300_799.0
"""The last second of the year 9999, in seconds since 1970: no time that a calendar has is later."""

_UNKNOWN = "?"


class Share(Struct, frozen=True):
    """`count` of `total` cases; `total` is above 0. `low` and `high` are its 95 % Wilson interval.

    `size` is the effective sample size if the cases are not independent; None if they are.
    """

    count: int
    total: int
    size: float | None = None

    @property
    def value(self) -> float:
        return self.count / self.total

    @property
    def text(self) -> str:
        """For people, in percent: “71 % [60, 80]”."""
        return f"{percent(self.value)} [{self.low * 100:.0f}, {self.high * 100:.0f}]"

    @property
    def low(self) -> float:
        return wilson(self.value, self.size or self.total)[0]

    @property
    def high(self) -> float:
        return wilson(self.value, self.size or self.total)[1]


def shown_moment(seconds: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in seconds since 1970; `?` for a number that is no time."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):{form}}"
    except (ValueError, OverflowError, OSError):
        return _UNKNOWN


_EIGHTHS = "▏▎▍▌▋▊▉█"
_CENTS = 2
_MOST_DECIMALS = 8


def plural(number: int, noun: str, nouns: str = "") -> str:
    """`tool` for 1, `tools` for any other number; `nouns` is the plural if it is irregular."""
    return noun if number == 1 else nouns or f"{noun}s"


def count(number: int, noun: str, nouns: str = "") -> str:
    """1 tool, 1,200 tools."""
    return f"{number:,} {plural(number, noun, nouns)}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 11th, 1,021st."""
    teen = number % 100 in (11, 12, 13)
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def tokens(number: int) -> str:
    """212, 4.0k, 128k, 1.2M: a decimal below a hundred, so that a column of them lines up."""
    for least, size, unit in ((999_500, 1_000_000, "M"), (1000, 1000, "k")):
        if abs(number) >= least:
            return f"{number / size:.{int(abs(number) < 99.95 * size)}f}{unit}"
    return str(number)


def percent(fraction: float, decimals: int = 0) -> str:
    """78 %, 8.1 %."""
    return f"{fraction * 100:.{decimals}f} %"


def saving(share: float) -> str:
    """A saved share, negative where more is spent: 78 % less, 12 % more, 7 times as much."""
    if share <= -1:
        return f"{_times(share)} times as much"
    return f"{percent(abs(share))} {'less' if share >= 0 else 'more'}"


def large_saving(share: float) -> str:
    """The same as a number alone, for where it is drawn large: 78%, 12%, 7×."""
    return f"{_times(share)}×" if share <= -1 else percent(abs(share)).replace(" ", "")


def _times(share: float) -> str:
    return f"{1 - share:.{0 if share < -9 else 1}f}".removesuffix(".0")


def signed_percent(fraction: float, decimals: int = 0) -> str:
    """+12 %, -4 %, and 0 % for what rounds to zero."""
    return f"{signed(fraction * 100, decimals)} %"


def signed(value: float, decimals: int = 0) -> str:
    """A difference: +1,204, -0.042, and 0 for what rounds to zero."""
    text = f"{value:+,.{decimals}f}"
    return text if text.strip("+-0.") else text[1:]


def money(dollars: float, decimals: int | None = None) -> str:
    """$12.50, $0.012, $0.000045: two significant digits, and at least cents.

    Amounts in one column share the `decimals` that `money_decimals` returns for them.
    """
    digits = money_decimals((dollars,)) if decimals is None else decimals
    return f"{'-' if dollars < 0 else ''}${abs(dollars):,.{digits}f}"


def money_decimals(amounts: Iterable[float]) -> int:
    """The decimals needed for two significant digits of the smallest amount; at least cents."""
    least = min((abs(amount) for amount in amounts if amount and math.isfinite(amount)), default=1.0)
    exponent = int(f"{least:.1e}".partition("e")[2])
    return min(max(_CENTS, 1 - exponent), _MOST_DECIMALS)


def byte_size(number: int) -> str:
    """400 MB, 4.9 GB: as model servers and disks count, in powers of ten."""
    for size, unit in ((10**9, "GB"), (10**6, "MB")):
        if number >= size * 0.9995:
            return f"{number / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{number / 1000:.0f} kB"


def milliseconds(value: float) -> str:
    """0.04 ms, 6 ms, 1.2 s."""
    if 0 < value < 0.995:
        return f"{value:.2f} ms"
    return f"{value / 1000:.1f} s" if value >= 999.5 else f"{value:.0f} ms"


def duration(seconds: float) -> str:
    """9 s, 4 min, 2.0 h: a rough duration."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3570 else f"{seconds / 3600:.1f} h"


def pause(seconds: float) -> str:
    """0.5 s, 12 s, 4 min: a wait that may be shorter than a second."""
    return f"{seconds:.1f} s" if seconds < 9.95 else duration(seconds)


def bar(share: float, cells: int) -> str:
    """A bar that fills `cells` cells at 1, drawn in eighths of a cell, without trailing empty cells."""
    full, eighths = divmod(round(min(max(share, 0.0), 1.0) * cells * len(_EIGHTHS)), len(_EIGHTHS))
    return _EIGHTHS[-1] * full + (_EIGHTHS[eighths - 1] if eighths else "")


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie; ValueError if there are none.

    Linear between neighbors (Hyndman & Fan 1996, definition 7, numpy's default); 0.5 is the median.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def effective(sums: Collection[float], sizes: Collection[float], share: float) -> float:
    """The effective size of a sample of clusters with these sums and sizes: at most the number of cases."""
    cases, clusters = math.fsum(sizes), len(sums)
    if clusters == cases or clusters == 1:
        return float(clusters)
    residuals = math.fsum((one - share * size) ** 2 for one, size in zip(sums, sizes, strict=True))
    variance = clusters / (clusters - 1) * residuals / cases**2
    return min(cases, share * (1 - share) / variance) if variance else float(clusters)
