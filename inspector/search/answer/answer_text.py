"""What a search says in words, for a model and for people: found, closest or nothing, and how sure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.number import count
from inspector.core.ranking import UNSERVED, Outcome, SearchReport
from inspector.core.settings import ResultForm
from inspector.core.text import closest, expression, first_sentence, one_line, sentences, shortened
from inspector.core.tool import Tool, why_destroys
from inspector.schema.schema import SchemaField, fields

NOTHING_FOUND = (
    "No matching tools found. Try a different query: other words for the capability, "
    "a server_name from the manifest, or exact tool_names."
)
CLOSEST_ONLY = (
    "No tool clearly fits this request. These come closest: use one only if it does what was asked, "
    "otherwise say that none does."
)
WITHHELD = "withheld, as the query does not clearly ask to destroy or end anything: "
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
        known, them = count(len(already), "tool"), "it" if len(already) == 1 else "them"
        blocks += _listed(f"{known} already loaded, call {them} directly:", already, brief)
    if loaded:
        blocks += _listed(f"Found {count(len(loaded), 'tool')}:", loaded, brief)
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
        ids = ", ".join(tool.id for tool in near)
        lines.append(f"If one of these is right after all, load it with tool_names: {ids}.")
    return "\n".join(lines)


def withheld_text(tools: Sequence[Tool]) -> str:
    """The tools that a search did not load because they destroy something; "" for none."""
    if not tools:
        return ""
    said = ", ".join(f"{tool.id} ({why_destroys(tool)})" for tool in tools)
    return (
        f"Not loaded, because the request does not clearly ask for it: {said}. "
        "Load one with tool_names only if the user asked for exactly that."
    )


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


def tool_text(tool: Tool) -> str:
    """One match: its id, its description, and its parameters on one line."""
    parameters = ", ".join(map(_parameter, fields(tool.input_schema))) or "none"
    lines = [f"- {tool.id}"]
    lines += [f"  {line.strip()}" for line in tool.said.splitlines() if line.strip()]
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


#     Best tools for 'fetch a specific URL' (ranked by relevance):
#     1. web:open_url (score=0.4217) — Fetch a URL.
#        ↳ when to use: …
#
# That document takes the second line from a tool's prompt instructions. MCP has none: here it is the
# sentences of the description that say when to use the tool, and it is left out where there are none.

_DESCRIPTION, _USE = 200, 300
_ABOUT_USE = expression(
    r"^(?:(?:please|always|only|do not|don't|never|you should|you must|must)\s+)*"
    r"(?:use|call|prefer|choose|invoke|run)\b"
    r"|^(?:useful|ideal|best|suitable|intended|meant|helpful|perfect|recommended)\b"
    r"|^when(?:ever)?\b"
    r"|\buse (?:this|it)\b"
    r"|\b(?:should|must|can) be used (?:when|for|to|if)\b",
    re.IGNORECASE,
)
_BULLET = expression(r"^[-*•]\s*")


class Match(Struct, frozen=True):
    """A match as it is listed: what it does, when to use it, and its score."""

    name: str
    description: str
    when_to_use: str
    score: float

    @classmethod
    def of(cls, tool: Tool, score: float) -> "Match":
        described = first_sentence(tool.description) or one_line(tool.description)
        return cls(tool.id, shortened(described, _DESCRIPTION), when_to_use(tool.description), score)


def when_to_use(description: str) -> str:
    """The sentences after the first that say when to use a tool, on one line; empty if there are none."""
    _, *rest = [_BULLET.sub("", sentence) for sentence in sentences(description)] or [""]
    # A sentence that ends with a colon only announces a list.
    said = [sentence for sentence in rest if _ABOUT_USE.search(sentence) and not sentence.endswith(":")]
    return shortened(" ".join(said), _USE)


def matches_text(
    report: SearchReport,
    loaded: Sequence[Tool],
    already: Sequence[Tool],
    no_room: Sequence[Tool] = (),
    *,
    form: ResultForm,
) -> str:
    """The matches in the form the settings ask for; what was listed without a ranking has no scores."""
    tools = {tool.id: tool for tool in (*loaded, *already, *no_room)}
    is_ranking = bool(report.request.query.strip()) and not report.request.tool_names
    if form != "ranked" or not tools or not is_ranking:
        return found_text(loaded, already, no_room, brief=form == "brief")
    ranked = [Match.of(tools[hit.tool_id], hit.score.value) for hit in report.hits if hit.tool_id in tools]
    parts = [ranked_text(report.request.query, ranked)]
    parts += [NOW_LOADED] if loaded and not no_room else []
    parts += [no_room_text(no_room)] if no_room else []
    return "\n\n".join(parts)


def metadata(report: SearchReport, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """The results as that document's structured output, for programs."""
    matches = [
        Match.of(tools[hit.tool_id], hit.score.value) for hit in report.results if hit.tool_id in tools
    ]
    return {
        "query": report.request.query,
        "limit": report.limit,
        "total_candidates": report.scored,
        "matches": [
            {
                "name": match.name,
                "description": match.description,
                "prompt_instructions": match.when_to_use,
                "score": match.score,
            }
            for match in matches
        ],
    }


def ranked_text(query: str, matches: Sequence[Match]) -> str:
    """The matches, best first, as a numbered list."""
    lines = [f"Best tools for '{one_line(query)}' (ranked by relevance):"]
    for rank, match in enumerate(matches, start=1):
        described = f" — {match.description}" if match.description else ""
        lines.append(f"{rank}. {match.name} (score={match.score:.4f}){described}")
        if match.when_to_use:
            lines.append(f"   ↳ when to use: {match.when_to_use}")
    return "\n".join(lines)


def answer_text(report: SearchReport) -> str:
    """One line: “closest: no tool clearly fits (confidence 12 %, needs 35 %)”."""
    said = ": ".join(filter(None, (report.answer.value, UNSERVED.get(report.answer, ""))))
    confidence = confidence_text(report)
    return f"{said} ({confidence})" if confidence else said


def answered(report: SearchReport) -> str:
    """The same in a word or two: “3 closest”."""
    number = len(report.results)
    if report.error:
        return "refused"
    return f"{number} {report.answer}" if number else report.answer.value


def confidence_text(report: SearchReport) -> str:
    """“confidence 12 %, needs 35 %”; "" of a search that estimates none."""
    return confidence_beside(report.probability, report.threshold)


def confidence_beside(value: float | None, threshold: float) -> str:
    """A confidence, and what `found` needs if it is less."""
    if value is None:
        return ""
    own, needed = told_apart(value, threshold)
    return f"confidence {own}, needs {needed}" if value < threshold else f"confidence {own}"


def told_apart(value: float, threshold: float) -> tuple[str, str]:
    """A confidence and a threshold in percent, with the digits of the threshold.

    A confidence is rounded down and a threshold up, so that none seems to reach what it misses.
    """
    exact = [Decimal(str(number)) * 100 for number in (value, threshold)]
    digits = next((digits for digits in (0, 1) if exact[1] == round(exact[1], digits)), 2)
    pairs = zip(exact, (ROUND_FLOOR, ROUND_CEILING), strict=True)
    own, needed = (number.quantize(Decimal(1).scaleb(-digits), way) for number, way in pairs)
    return f"{own} %", f"{needed} %"


class SearchAnswer(Struct, frozen=True):
    """A report, the text the model reads, and the tools to load.

    `already` holds the results that were already bound. `caution` is the sentence that an unsure search
    begins with; `missing` is the part of the text about unknown names, withheld tools, and tools that are not
    connected. Both are read whatever there is room for.
    """

    report: SearchReport
    text: str
    to_load: tuple[Tool, ...] = ()
    already: tuple[Tool, ...] = ()
    missing: str = ""
    caution: str = ""
    form: ResultForm = "full"

    def placed(self, staying: Collection[str], earlier: Collection[str]) -> "SearchAnswer":
        """The answer with room only for the results in `staying`; it reports the others as not loaded.

        Those in `earlier` were loaded by an earlier search of the same reply.
        """
        results = (*self.to_load, *self.already)
        no_room = tuple(tool for tool in results if tool.id not in staying)
        known = {tool.id for tool in self.to_load if tool.id in staying and tool.id in earlier}
        if not no_room and not known:
            return self
        over = {tool.id for tool in no_room}
        loaded = tuple(tool for tool in self.to_load if tool.id not in over | known)
        already = tuple(tool for tool in results if tool.id not in over and tool not in loaded)
        outcomes = dict.fromkeys(known, Outcome.ALREADY_LOADED) | dict.fromkeys(over, Outcome.OVER_LIMIT)
        hits = tuple(
            replace(hit, outcome=outcomes.get(hit.tool_id, hit.outcome)) if hit.outcome.is_result else hit
            for hit in self.report.hits
        )
        found = matches_text(self.report, loaded, already, no_room, form=self.form)
        text = "\n\n".join(filter(None, (self.caution, found, self.missing)))
        report = replace(self.report, hits=hits)
        return replace(self, report=report, text=text, to_load=loaded, already=already)
