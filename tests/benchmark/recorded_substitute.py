"""Looks for tools that could have answered in place of those that failed in recorded runs."""

from collections.abc import Sequence

from inspector.core.settings import FallbackSettings
from inspector.core.tool import Tool
from inspector.loop.fallback import similar_tools
from inspector.mcp.recorded_link import RecordedCall
from inspector.scenario.recorded_agent import ToolNames
from inspector.schema.check import schema_problem
from inspector.schema.narrowing import argument_mapping, mapped
from inspector.search.index import ToolIndex
from inspector.search.rules import contradiction
from tests.benchmark import data
from tests.benchmark.output import say
from tests.benchmark.recorded_attempt import Attempt, is_seen, is_told
from tests.support.retrieval import semantic_index

# A looser similarity than the default, to see whether that is what stands in the way.
LOOSE = 0.5


def substitutes(attempts: Sequence[Attempt], tools: Sequence[Tool]) -> None:
    """Print for how many transiently failed calls another tool takes the arguments, and which."""
    index, names = semantic_index(tools, data.semantics()), ToolNames(tools)
    say("substitutes")
    for name, chosen in (("seen", is_seen), ("told", is_told)):
        calls = [(one, _tool(one, names)) for one in attempts if chosen(one)]
        known = [(one, tool) for one, tool in calls if tool is not None]
        say(f"  {name}: {len(calls)} calls, {len(known)} of them of tools with a definition")
        say(f"    known to only read: {sum(_reads(tool) for _, tool in known)}")
        for least in (FallbackSettings().min_similarity, LOOSE):
            found = [(one, tool, fitting(one, tool, index, least=least)) for one, tool in known]
            some = [(one, tool, others) for one, tool, others in found if others]
            both = [others for _, tool, others in some if _reads(tool) and any(map(_reads, others))]
            say(f"    similarity {least:g}: {len(some)} with a tool that takes the arguments, {len(both)} of")
            say("      them where both are known to only read")
            for pair in sorted({f"{tool.id} -> {others[0].id}" for _, tool, others in some}):
                say(f"      {pair}")


def fitting(attempt: Attempt, tool: Tool, index: ToolIndex, *, least: float) -> Sequence[Tool]:
    """The tools at least that similar which take the call's arguments, the most similar first."""
    found = []
    for other_id, _ in similar_tools(index, tool.id, least=least):
        other = index.tools[index.position[other_id]]
        mapping = argument_mapping(attempt.arguments, tool.input_schema, other.input_schema)
        if mapping is not None and not schema_problem(other.input_schema, mapped(attempt.arguments, mapping)):
            found.append(other)
    return found


def _tool(attempt: Attempt, names: ToolNames) -> Tool | None:
    return names.find(RecordedCall(attempt.tool, server=attempt.server)) or names.find(
        RecordedCall(attempt.tool)
    )


def _reads(tool: Tool) -> bool:
    """Whether its server claims so, and nothing in the tool contradicts; every server is trusted here."""
    return bool(tool.annotations.read_only) and not contradiction(tool)
