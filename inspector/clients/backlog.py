"""What was asked for and not served, by the words that the searches share."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.clients.miss import Miss, MissCause
from inspector.search.term import terms

_ALIKE = 0.4
_EXAMPLES = 5


@dataclass(slots=True)
class Backlog:
    """Searches for much the same: how many, in which sessions, what was searched for, and what came of it.

    `found` counts the tools that were found and not called, `called` those that were called instead in the
    same turn. `last` is when the newest was made, in seconds since 1970, UTC.
    """

    words: frozenset[str]
    count: int = 0
    sessions: set[str] = field(default_factory=set)
    queries: list[str] = field(default_factory=list)
    causes: Counter[MissCause] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    last: float = 0.0

    def add(self, miss: Miss) -> None:
        """Count one more; the first queries that differ are kept as examples."""
        self.count += 1
        self.sessions.add(miss.session)
        if miss.query not in self.queries and len(self.queries) < _EXAMPLES:
            self.queries.append(miss.query)
        self.causes[miss.cause] += 1
        self.found.update(miss.found)
        self.called.update(miss.called)
        self.last = max(self.last, miss.at)


class BacklogGroups:
    """Groups searches as they come, so that none of them has to be kept.

    Each joins the group whose first query shares the greatest part of their words, if that is enough.
    """

    def __init__(self) -> None:
        self._groups: list[Backlog] = []
        self._by_word: dict[str, list[int]] = {}
        self._wordless: Backlog | None = None

    def add(self, miss: Miss) -> None:
        """Count a search in the group that it belongs to."""
        words = frozenset(terms(miss.query))
        self._group(words).add(miss)

    def _group(self, words: frozenset[str]) -> Backlog:
        if not words:
            self._wordless = self._wordless or self._new(words)
            return self._wordless
        # How many words each group shares: of the others none can be alike.
        shared = Counter(place for word in words for place in self._by_word.get(word, ()))
        best, share = -1, 0.0
        for place, both in shared.items():
            alike = both / (len(self._groups[place].words) + len(words) - both)
            if alike > share or (alike == share and place < best):
                best, share = place, alike
        return self._groups[best] if share >= _ALIKE else self._new(words)

    def _new(self, words: frozenset[str]) -> Backlog:
        for word in words:
            self._by_word.setdefault(word, []).append(len(self._groups))
        self._groups.append(Backlog(words))
        return self._groups[-1]

    @property
    def groups(self) -> tuple[Backlog, ...]:
        """The most frequent first; among equals, the first to occur."""
        return tuple(sorted(self._groups, key=lambda group: -group.count))


def backlog(found: Iterable[Miss]) -> tuple[Backlog, ...]:
    """The searches by the words they share, the most frequent first; among equals, the first to occur."""
    groups = BacklogGroups()
    for miss in found:
        groups.add(miss)
    return groups.groups
