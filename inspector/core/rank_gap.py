"""Ranks that a list of results leaves out: where they are, and why."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from inspector.core.ranking import Hit

NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Gap:
    """Ranks from `first` to `last`, which the list leaves out for these reasons."""

    first: int
    last: int
    reasons: tuple[str, ...]

    @property
    def ranks(self) -> str:
        return f"rank {self.first:,}" if self.first == self.last else f"ranks {self.first:,}–{self.last:,}"

    @property
    def reason(self) -> str:
        return ", ".join(self.reasons)

    def joined(self, other: "Gap") -> "Gap":
        """This gap and the one right after it."""
        return Gap(self.first, other.last, tuple(dict.fromkeys((*self.reasons, *other.reasons))))


def with_gaps(hits: Iterable[Hit], is_shown: Callable[[Hit], bool], of: int = 0) -> list[Hit | Gap]:
    """Return the hits to show, by rank, and a gap for the ranks up to `of` that are missing between them."""
    listed: list[Hit | Gap] = []
    last = 0

    def leave_out(gap: Gap) -> None:
        before = listed.pop() if listed and isinstance(listed[-1], Gap) else None
        listed.append(before.joined(gap) if isinstance(before, Gap) else gap)

    for hit in sorted(hits, key=lambda hit: hit.rank):
        if hit.rank > last + 1:
            leave_out(Gap(last + 1, hit.rank - 1, (NOT_SHOWN,)))
        if is_shown(hit):
            listed.append(hit)
        else:
            leave_out(Gap(hit.rank, hit.rank, (hit.outcome.value,)))
        last = hit.rank
    if of > last:
        leave_out(Gap(last + 1, of, (NOT_SHOWN,)))
    return listed
