"""How a provider's prompt cache charges a request, and where its breakpoints stand.

A cache holds prefixes. A request is a row of blocks in the order in which providers read it: tool
definitions, system prompt, messages. The longest prefix that equals an earlier request's, block by block, is
read from the cache; the rest is written to it. Providers differ in what reads and writes cost, in how long a
prefix lives after its last use, and in the shortest prefix they cache. Some cache every prefix, others only
those that a request marks (`breakpoints`).
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile
from typing import Final, Literal

from msgspec import Struct

# Claude takes up to four marks (`cache_control`). Everything up to a mark is written to the cache and lives
# for the mark's time to live; a later request reads the longest prefix that ended at a mark.

Ttl = Literal["5m", "1h"]
"""How long a provider keeps a marked prefix after its last use."""

FIVE_MINUTES: Final = "5m"
HOUR: Final = "1h"

MAX_BREAKPOINTS = 4


class Breakpoints(Struct, frozen=True):
    """The marks of one request: positions in `tools`, the system prompt, positions in the conversation."""

    tools: tuple[int, ...] = ()
    system: bool = False
    messages: tuple[int, ...] = ()
    ttl: Ttl = FIVE_MINUTES

    @property
    def count(self) -> int:
        """The number of marks."""
        return len(self.tools) + self.system + len(self.messages)

    @property
    def label(self) -> str:
        """The marks in words, on one line."""
        parts = [f"tools[{index}]" for index in self.tools]
        parts += ["system"] if self.system else []
        parts += [f"messages[{index}]" for index in self.messages]
        return f"{', '.join(parts)} for {self.ttl}" if parts else "none"

    def blocks(self, tools: int, *, system: bool) -> tuple[int, ...]:
        """The positions of the marks in a row of blocks: so many tools, the system prompt, the messages."""
        first = tools + system
        marked = (tools,) if self.system and system else ()
        return (*self.tools, *marked, *(first + index for index in self.messages))


def breakpoints(
    *, tools: int, steady: int, system: bool, messages: int, before: int, ttl: Ttl
) -> Breakpoints:
    """The marks of a request with so many tools and messages.

    The first `steady` tools stay when others are loaded or evicted, so their end is marked beside the end of
    `tools`. The first `before` messages were the previous request's, whose last message was marked: it is
    marked again, because a provider looks for earlier marks only a few blocks back. The system prompt is
    marked if a mark is left.
    """
    ends = tuple(sorted({count - 1 for count in (steady, tools) if 0 < count <= tools}))
    said = tuple(sorted({count - 1 for count in (before, messages) if 0 < count <= messages}))
    is_left = len(ends) + len(said) < MAX_BREAKPOINTS
    return Breakpoints(ends, system and is_left, said, ttl)


EXPIRED = "expired"
# How many blocks Anthropic looks back from each mark for an earlier one.
LOOKBACK = 20
_DIGEST = 16


class CacheTerms(Struct, frozen=True, gc=False):
    """What a provider charges for writes and reads, as multiples of the price of an input token.

    `ttl_seconds` is how long a prefix lives after its last use, `minimum` the shortest prefix in tokens. With
    `marked`, the provider keeps only what a request marks.
    """

    write: float = 1.25
    read: float = 0.1
    ttl_seconds: float = 300.0
    minimum: int = 1024
    marked: bool = False


UNCACHED = CacheTerms(write=1.0, read=1.0, ttl_seconds=0.0, minimum=1 << 62)
"""No cache: every token costs the full price."""


class Block(Struct, frozen=True):
    """A part of a request that is compared as a whole. `part` names it for people."""

    text: str
    tokens: int
    part: str


class Charge(Struct, frozen=True, gc=False):
    """A request's input tokens by how they are charged.

    `plain` tokens belong to a request too short to cache, or follow its last mark. `broke` says why the cache
    did not hold all of the previous request: the part of the first block that changed, or that the prefix
    expired. It is empty if all of it was read, or if the previous request was too short to cache.
    """

    read: int = 0
    written: int = 0
    plain: int = 0
    broke: str = ""

    @property
    def tokens(self) -> int:
        """All input tokens."""
        return self.read + self.written + self.plain

    @property
    def hit_rate(self) -> float:
        """The share read from the cache (0 to 1)."""
        return self.read / self.tokens if self.tokens else 0.0

    def billed(self, terms: CacheTerms) -> float:
        """The cost in input tokens at full price."""
        return self.read * terms.read + self.written * terms.write + self.plain


class _Cached(Struct, frozen=True):
    """The last cached request: its blocks, and the digest of each prefix, shortest first."""

    row: tuple[Block, ...] = ()
    digests: tuple[bytes, ...] = ()
    at: float = 0.0


class PromptCache:
    """Remembers the prefixes of sent requests until they expire."""

    def __init__(self, terms: CacheTerms) -> None:
        self.terms = terms
        # Maps a prefix's digest to the time of its last use, least recently used first.
        self._used_at: dict[bytes, float] = {}
        self._last = _Cached()

    def __len__(self) -> int:
        """The number of prefixes in the cache."""
        return len(self._used_at)

    def send(self, blocks: Iterable[Block], at: float, marks: Sequence[int] | None = None) -> Charge:
        """Send a request at second `at`, which never decreases, and return how it is charged.

        `marks` are the positions of the blocks that end a prefix to keep, or None if every block does.
        """
        row = tuple(blocks)
        sizes = list(accumulate(block.tokens for block in row))
        total = sizes[-1] if sizes else 0
        same = _common(self._last.row, row)
        broke = self._broke(same, at)
        self._forget(at)
        ends = range(len(row)) if marks is None else [mark for mark in marks if self._is_long(sizes[mark])]
        if not ends or not self._is_long(total):
            self._last = _Cached()
            return Charge(plain=total, broke=broke)
        digests = _prefixes(row, self._last.digests[:same])
        sought = reversed(ends) if marks is None else _behind(ends)
        found = next((i for i in sought if digests[i] in self._used_at), -1)
        read = sizes[found] if found >= 0 and self._is_long(sizes[found]) else 0
        for index in ends if found < 0 else (found, *ends):
            self._used_at.pop(digests[index], None)
            self._used_at[digests[index]] = at
        self._last = _Cached(row, tuple(digests), at)
        kept = sizes[max(ends)]
        return Charge(read, kept - read, total - kept, broke)

    def _is_long(self, tokens: int) -> bool:
        return tokens >= self.terms.minimum

    def _lives(self, used: float, at: float) -> bool:
        return at - used <= self.terms.ttl_seconds

    def _broke(self, same: int, at: float) -> str:
        last = self._last
        if not last.row:
            return ""
        if not self._lives(last.at, at):
            return f"{EXPIRED} after {self.terms.ttl_seconds:g} s"
        return last.row[same].part if same < len(last.row) else ""

    def _forget(self, at: float) -> None:
        """Drop expired prefixes; they come first, because the cache is in order of last use."""
        used_at = self._used_at
        expired = list(takewhile(lambda digest: not self._lives(used_at[digest], at), used_at))
        for digest in expired:
            del used_at[digest]


def _common(before: Sequence[Block], after: Sequence[Block]) -> int:
    """The number of leading blocks that are equal."""
    pairs = zip(before, after, strict=False)
    differing = (i for i, (one, other) in enumerate(pairs) if one is not other and one.text != other.text)
    return next(differing, min(len(before), len(after)))


def _behind(marks: Sequence[int]) -> list[int]:
    """The positions at which a provider looks for an earlier mark, the last first."""
    behind = {index for mark in marks for index in range(max(mark - LOOKBACK + 1, 0), mark + 1)}
    return sorted(behind, reverse=True)


def _prefixes(row: Sequence[Block], known: Sequence[bytes]) -> list[bytes]:
    """The digest of each prefix, shortest first; `known` holds the first ones."""
    digests = list(known)
    last = digests[-1] if digests else bytes(_DIGEST)
    for block in row[len(digests) :]:
        last = hashlib.blake2b(
            last + block.text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST
        ).digest()
        digests.append(last)
    return digests
