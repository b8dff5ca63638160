"""The text a model reads after a search (PRD sections 2.5 and 5)."""

from collections.abc import Iterable, Mapping, Sequence

from inspector.core.closest import closest
from inspector.core.number import plural
from inspector.core.summary_pool import first_sentence, one_line, shortened
from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields

NOTHING_FOUND = (
    "No matching tools found. Try a different query: other words for the capability, "
    "a server_name from the manifest, or exact tool_names."
)
CLOSEST_ONLY = (
    "No tool clearly fits this request. These come closest: use one only if it does what was asked, "
    "otherwise say that none does."
)
NOW_LOADED = "These tools are now loaded and available to call."
_BRIEF = 120
# As many servers as an answer lists in full.
_FEW_SERVERS = 20
NOTHING_ASKED = "Provide at least one of query, server_name or tool_names."


def found_text(
    loaded: Sequence[Tool], already: Sequence[Tool], no_room: Sequence[Tool] = (), *, brief: bool = False
) -> str:
    """The structured summary of the matches; their full definitions go into the `tools` array.

    `no_room` are matches not loaded for lack of room. A `brief` text leaves out what the definitions repeat.
    """
    if not loaded and not already and not no_room:
        return NOTHING_FOUND
    blocks = []
    if already:
        them = "it" if len(already) == 1 else "them"
        blocks += _listed(f"{_count(already)} already loaded, call {them} directly:", already, brief)
    if loaded:
        blocks += _listed(f"Found {_count(loaded)}:", loaded, brief)
        blocks.append(NOW_LOADED)
    if no_room:
        blocks.append(no_room_text(no_room))
    return "\n\n".join(blocks)


def no_room_text(tools: Sequence[Tool]) -> str:
    """What was found but not loaded."""
    return (
        f"Not loaded, as there is no more room: {', '.join(tool.id for tool in tools)}. "
        "Load those you need with tool_names; others are then unloaded."
    )


def unloaded_text(made_room: Sequence[str], expired: Sequence[str]) -> str:
    """What the searches unloaded: for room, or because it was not used for long."""
    lines = [f"Unloaded to make room: {', '.join(made_room)}."] if made_room else []
    lines += [f"Unloaded, as not used for long: {', '.join(expired)}."] if expired else []
    return "\n".join(lines)


def nothing_fits_text(near: Sequence[Tool]) -> str:
    """The text of a search that finds nothing; it names the nearest tools without loading them."""
    lines = [
        "No tool fits this request, so none was loaded. "
        "Do it without tools, say that it cannot be done, or search with other words."
    ]
    if near:
        lines.append(f"If one of these is right after all, load it with tool_names: {_ids(near)}.")
    return "\n".join(lines)


def withheld_text(tools: Sequence[Tool]) -> str:
    """The tools that a search did not load because they destroy something; "" for none."""
    if not tools:
        return ""
    return (
        f"Not loaded, as nobody clearly asked to destroy anything: {_ids(tools)}. "
        "Load one with tool_names only if the user asked for exactly that."
    )


def _ids(tools: Sequence[Tool]) -> str:
    return ", ".join(tool.id for tool in tools)


def unconnected_text(tools: Sequence[Tool]) -> str:
    """What the registry has besides: it is named, so that the user learns what is missing."""
    title = "Known, but not to be called, as their servers are not connected (the user can connect them):"
    return "\n".join([title, *map(_brief_text, tools)])


def _listed(title: str, tools: Sequence[Tool], brief: bool) -> list[str]:
    if brief:
        return ["\n".join([title, *map(_brief_text, tools)])]
    return [title, *map(tool_text, tools)]


def _brief_text(tool: Tool) -> str:
    """One match on one line: its id and the first sentence of its description."""
    sentence = shortened(first_sentence(tool.description) or one_line(tool.description), _BRIEF)
    return f"- {tool.id}: {sentence}" if sentence else f"- {tool.id}"


def _count(tools: Sequence[Tool]) -> str:
    return f"{len(tools)} {plural(len(tools), 'tool')}"


def tool_text(tool: Tool) -> str:
    """One match: its id, its description, and its parameters on one line."""
    parameters = ", ".join(map(_parameter, fields(tool.input_schema))) or "none"
    lines = [f"- {tool.id}"]
    if tool.description.strip():
        lines += [f"  {line.strip()}" for line in tool.description.strip().splitlines() if line.strip()]
    return "\n".join([*lines, f"  Parameters: {parameters}"])


def _parameter(field: SchemaField) -> str:
    return f"{field.name} ({field.type}, required)" if field.required else f"{field.name} ({field.type})"


def unknown_server_text(name: str, valid: Sequence[str]) -> str:
    """The text for an unknown server: the closest names, or all where there are few."""
    if len(valid) <= _FEW_SERVERS:
        return f"Unknown server '{name}'. Valid servers: {', '.join(valid) or 'none'}."
    near = closest(name, valid)
    return f"Unknown server '{name}'." + (f" Closest matches: {', '.join(near)}." if near else "")


def unknown_tags_text(unknown: Sequence[str], valid: Iterable[str]) -> str:
    """The text for tags that no tool has."""
    tags = ", ".join(f"'{tag}'" for tag in unknown)
    return f"No tool has the tag {tags}. Tags: {', '.join(valid) or 'none'}."


def elsewhere_text(name: str, server: str, servers: Sequence[str]) -> str:
    """The text for a tool that was asked for on a server that does not have it, while others do."""
    others = ", ".join(dict.fromkeys(servers))
    return f"'{name}' is a tool of {others}, not of {server}."


def unknown_tools_text(closest: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The text for unknown tool names, each with its closest matches."""
    lines = [
        f"Unknown tool '{name}'." + (f" Closest matches: {', '.join(near)}." if near else "")
        for name, near in closest
    ]
    return "\n".join(lines)


def unmet_text(closed: Mapping[str, Sequence[str]]) -> str:
    """The text for tools requested by name whose preconditions do not hold."""
    return "\n".join(
        f"{tool_id} cannot be used yet: {'; '.join(predicates)} does not hold."
        for tool_id, predicates in closed.items()
    )
