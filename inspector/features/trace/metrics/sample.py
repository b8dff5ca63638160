"""What statistics are made of: numbers of one kind, and how often something held."""

from array import array
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from inspector.core.number import Share
from inspector.search.answer.metric import effective_size_of, percentile


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
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return sum(self._values) / self.count if self._values else None

    def at(self, share: float) -> float | None:
        """The value below which `share` (0 to 1) of the numbers lie; None without numbers."""
        return percentile(self._values, share) if self._values else None


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


def as_json(counted: Any) -> Any:
    """What programs read of anything counted; of a count the attributes without an underscore are the keys.

    Shares have the bounds of their 95 % interval.
    """
    match counted:
        case Sample():
            quantiles = {f"p{percent}": counted.at(percent / 100) for percent in (50, 95, 99)}
            return {"n": counted.count, "mean": counted.mean, **quantiles}
        case Cases():
            share = counted.share
            bounds = (share.value, share.low, share.high) if share is not None else (None, None, None)
            told = dict(zip(("share", "low", "high"), bounds, strict=True))
            return {"count": counted.held, "of": counted.count, **told}
        case Mapping():
            return {key: as_json(one) for key, one in counted.items()}
        case list() | tuple():
            return list(map(as_json, counted))
        case str() | int() | float() | None:
            return counted
    names = [one.name for one in fields(counted)] if is_dataclass(counted) else vars(counted)
    return {name: as_json(getattr(counted, name)) for name in names if not name.startswith("_")}
