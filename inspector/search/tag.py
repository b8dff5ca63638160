"""Tags of tools: what a search or a list can be narrowed to (layered composition, layer 1)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from inspector.core.tool import Annotations, Tool
from inspector.core.tool_pattern import values_for

# A model reads each tag that it is offered in every request.
MOST_OFFERED = 32
_CLAIMS = (
    ("read_only", "read-only"),
    ("destructive", "destructive"),
    ("idempotent", "idempotent"),
    ("open_world", "open-world"),
)


class TagOrigin(StrEnum):
    """Who gave a tool its tag."""

    SERVER = "from its server's configuration"
    SETTING = "discovery.tags"
    METADATA = "sent by its server"
    CLAIM = "from its annotations"


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of servers, by name, and of tools, by id (`*` and `?` match), besides what servers say."""

    by_server: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_tool: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of(self, tool: Tool) -> dict[str, TagOrigin]:
        """A tool's tags, each once, with where it comes from."""
        given = (
            (TagOrigin.SERVER, self.by_server.get(tool.server, ())),
            (TagOrigin.SETTING, chain.from_iterable(values_for(tool.id, self.by_tool))),
            (TagOrigin.METADATA, tool.tags),
            (TagOrigin.CLAIM, claimed_tags(tool.annotations)),
        )
        found: dict[str, TagOrigin] = {}
        for origin, tags in given:
            for tag in tags:
                found.setdefault(tag, origin)
        return found

    def missing(self, tool: Tool, wanted: Iterable[str]) -> tuple[str, ...]:
        """The wanted tags that a tool lacks, each once."""
        had = self.of(tool)
        return tuple(tag for tag in dict.fromkeys(wanted) if tag not in had)

    def known(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """Every tag of any of the tools, in order."""
        return tuple(dict.fromkeys(chain.from_iterable(map(self.of, tools))))

    def offered(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """The tags that a model may choose from: those of most tools, without mere claims."""
        counts = Counter(
            tag for tool in tools for tag, origin in self.of(tool).items() if origin is not TagOrigin.CLAIM
        )
        return tuple(tag for tag, _count in counts.most_common(MOST_OFFERED))


def claimed_tags(annotations: Annotations) -> tuple[str, ...]:
    """What a server claims of a tool, as tags."""
    return tuple(tag for name, tag in _CLAIMS if getattr(annotations, name))
