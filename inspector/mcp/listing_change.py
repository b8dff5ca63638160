"""What became of the tools of a server between two listings."""

from collections.abc import Sequence
from dataclasses import replace

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.definition_change import Verdict, judged
from inspector.core.events import DefinitionChanged
from inspector.core.tool import Tool

MOST_TOLD = 50
"""The most tools that get an event each when a server changes many at once."""
_ORDER: tuple[Verdict, ...] = ("breaking", "compatible", "words", "same")


def changes(
    before: Sequence[Tool], after: Sequence[Tool], since: float = 0.0
) -> tuple[DefinitionChanged, ...]:
    """What became of the tools that are in both listings, the worst first. May run in any thread.

    `before` was listed in an earlier session at `since`, and is told because the stream does not have it;
    or in this one if that is 0.
    """
    known = {tool.name: tool for tool in before}
    found: list[DefinitionChanged] = []
    for tool in after:
        old = known.get(tool.name)
        if old is None or old == tool or (hash_ := definition_hash(old)) == (now := definition_hash(tool)):
            continue
        change = judged(old, tool)
        earlier = ToolDefinition(old.name, hash_, old) if since else None
        told = DefinitionChanged(
            tool=tool.id,
            before=hash_,
            after=now,
            verdict=change.verdict,
            reasons=change.reasons,
            breaking=change.breaking,
            since=since,
            earlier=earlier,
        )
        found.append(told)
    found.sort(key=lambda one: _ORDER.index(one.verdict))
    told_of, others = found[:MOST_TOLD], len(found) - MOST_TOLD
    if others > 0:
        told_of[-1] = replace(told_of[-1], others=others)
    return tuple(told_of)
