"""Where a request marks what a prompt cache keeps, for providers that cache only what is marked.

Claude takes up to four marks (`cache_control`). Everything up to a mark is written to the cache and lives for
the mark's time to live; a later request reads the longest prefix that ended at a mark.
"""

from dataclasses import dataclass
from typing import Final, Literal

Ttl = Literal["5m", "1h"]
"""How long a provider keeps a marked prefix after its last use."""

FIVE_MINUTES: Final = "5m"
HOUR: Final = "1h"

MAX_BREAKPOINTS = 4


@dataclass(frozen=True, slots=True)
class Breakpoints:
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
