"""Findings about definitions: facts that the definition itself, its siblings or a client's rules prove.

Nothing here looks for words of a list: whether a description says when to use a tool cannot be told so, so
only what is certain is said, that it has no word that the name does not have.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from inspector.access.reach import EvalCase
from inspector.clients.client import Client, Confidence, NameRule, Topic
from inspector.clients.seen import SeenTool, refused_for, sent_name
from inspector.core.number import count
from inspector.core.text import one_line, shortened
from inspector.core.tool import Annotations, Tool, contradiction
from inspector.features.check.finding import Effect, Finding, Rule, Stage, rules
from inspector.schema.schema import fields
from inspector.search.answer.confusable import CLOSE, Closeness
from inspector.search.answer.generate import generate
from inspector.search.answer.standing import Standings
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import terms
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.session.client_view import SeenServer, view_as

EMPTY, RESTATED, REFUSED, CUT = rules(
    Stage.FOUND,
    """
    no-description | warning | It has no description
      A search has only its name to go by, and so has a model. Say what the tool does and when to use it.
    description-restates-name | warning | Its description says no more than its name
      A request in other words does not find it. Say what for and when, in words that people use.
    refused-by-client | error | A client refuses it
      The client's model never gets the tool. Shorten its name, or simplify its schema.
    description-cut | warning | A client cuts its description
      The model never reads the rest, nor does the client's search. Say first what matters.
    """,
)
RESULT, PARAMETER, UNANNOTATED, DOUBTED, SCHEMA_CUT = rules(
    Stage.CALLED,
    """
    result-undescribed | note | Nothing describes its result
      A model has to call it to learn what comes back. Declare an output schema, or say it in a sentence.
    parameter-undescribed | note | A parameter has no description
      A model guesses its form and meaning from its name. Describe each parameter.
    no-annotations | note | It has no annotations
      Clients ask before each call, as if it may destroy. Declare readOnlyHint and destructiveHint.
    doubtful-annotations | warning | Its name, parameters or other hints contradict its annotations
      Clients decide by these hints which calls need approval. Correct them, or the name.
    schema-cut | warning | A client removes descriptions of parameters
      The model calls the tool without them. Make the schema smaller.
    """,
)
SIBLING, NAME_CUT, ONE_NAME, RENAMED, INSTRUCTIONS_CUT = rules(
    Stage.CHOSEN,
    """
    similar-tool | warning | Another tool says nearly the same
      A search and a model take one for the other. Say in each what only that tool does.
    name-cut | warning | A client cuts its name
      The model reads part of the name only. Shorten the tool's name, or the server's.
    same-name-in-client | error | A client gives two tools one name
      The model cannot tell them apart. Let their names differ where the client does not cut.
    name-changed | note | A client replaces characters of its name
      Texts that mention the tool by its name mean nothing there. Use letters, digits and _ alone.
    instructions-cut | warning | A client cuts the server's instructions
      The model never reads the rest. Say first what matters.
    """,
)
RULES = (
    *(EMPTY, RESTATED, RESULT, PARAMETER, SIBLING, UNANNOTATED, DOUBTED),
    *(REFUSED, ONE_NAME, NAME_CUT, RENAMED, CUT, INSTRUCTIONS_CUT, SCHEMA_CUT),
)
# So much of a text is quoted as proof.
_QUOTED = 160
# Most similar tools that a finding tells.
_MOST_TOLD = 5
_NO_CLAIMS = Annotations()
_SURE = (Confidence.MEASURED, Confidence.DOCUMENTED, Confidence.OPEN_SOURCE)


def definition_findings(
    index: ToolIndex,
    clients: Sequence[Client],
    instructions: Mapping[str, str],
    *,
    cases: Sequence[EvalCase] = (),
    rankers: CatalogRankers | None = None,
) -> Iterator[Finding]:
    """The facts about the tools of an index: each alone, beside the others, and as the clients get it.

    Similar tools are told where `rankers` are given, which are those of the index: what they change is
    measured on the `cases` that want a tool, or without such on requests made of its own texts.
    """
    for tool in index.tools:
        yield from _alone(tool)
    if rankers is not None:
        yield from _siblings(rankers, cases)
    of_clients: dict[tuple[str, str, str, str], list[Finding]] = defaultdict(list)
    for client in clients:
        for one in _as_client(client, index, instructions):
            of_clients[one.rule.name, one.subject, one.message, one.proof].append(one)
    yield from map(_joined, of_clients.values())


def _joined(same: Sequence[Finding]) -> Finding:
    """What holds for several clients, said once."""
    return replace(same[0], client=", ".join(one.client for one in same))


def _alone(tool: Tool) -> Iterator[Finding]:
    """What a definition says of itself."""
    known = fields(tool.input_schema)
    named = {*terms(tool.name), *terms(tool.server)}
    said = set(terms(tool.description))
    asked = {term for one in known for text in (one.name, one.description) for term in terms(text)}

    def finding(rule: Rule, message: str, proof: str) -> Finding:
        return Finding(rule, tool.server, tool.name, message, proof)

    quoted = f"“{_quoted(tool.description)}”"
    if not tool.description.strip():
        yield finding(EMPTY, "It has no description.", f"the name alone: {tool.name}")
    elif said and said <= named:
        yield finding(RESTATED, "Its description has no word that its name does not have.", quoted)
    if tool.output_schema is None and said <= named | asked:
        message = "It has no output schema, and no word beyond its name and parameters."
        yield finding(RESULT, message, quoted if said else f"the name alone: {tool.name}")
    if silent := [one.name for one in known if not one.description.strip()]:
        message = f"{len(silent)} of {count(len(known), 'parameter')} without a description."
        yield finding(PARAMETER, message, _listed(silent))
    if tool.annotations == _NO_CLAIMS:
        yield finding(UNANNOTATED, "It declares none of MCP's hints.", "annotations: none")
    elif against := contradiction(tool):
        yield finding(DOUBTED, f"{against[0].upper()}{against[1:]}.", str(tool.annotations))


def _quoted(text: str) -> str:
    return shortened(one_line(text), _QUOTED)


def _listed(names: Sequence[str]) -> str:
    """Names of parameters; that of one may be empty."""
    return ", ".join(name or '""' for name in names)


def _siblings(rankers: CatalogRankers, cases: Sequence[EvalCase]) -> Iterator[Finding]:
    """For each tool those that are close in meaning, closest first; tools of the same name are none."""
    index, closeness = rankers.index, Closeness(rankers.index)
    every, similar = slice(None), dict[int, list[tuple[str, float]]]()
    for position in range(len(index.tools)):
        row = slice(position, position + 1)
        cosines, named = closeness.cosines(row, every)[0], closeness.same_name(row, every)[0]
        close = [int(at) for at in np.flatnonzero((cosines >= CLOSE) & ~named) if at != position]
        if close:
            close.sort(key=lambda at: -cosines[at])
            similar[position] = [(index.ids[at], float(cosines[at])) for at in close]
    ranker, known = rankers.get(rankers.settings.ranker), dict[str, Standings]()
    requests = _requests([index.tools[position] for position in similar], cases) if similar else ()
    for position, others in similar.items():
        tool, ranks = index.tools[position], dict[str, tuple[int | None, int | None]]()
        for case in (case for case in requests if _wants(case, tool.id)):
            if case.query not in known:
                known[case.query] = Standings(ranker.rank(case.query))
            found = known[case.query]
            rivals = [index.position[one] for one, _ in others if not _wants(case, one)]
            rank = found[position].rank
            # The second is the rank that it would have if no similar tool stood before it.
            ranks[case.query] = rank, rank - sum(found[one].rank < rank for one in rivals)
        first, more = others[0][0], len(others) - 1
        said = f"{first} and {more} more say" if more else f"{first} says"
        proof = "; ".join(f"{one}: cosine {cosine:.2f}" for one, cosine in others[:_MOST_TOLD])
        effect = Effect(ranker.name, ranks) if ranks else None
        yield Finding(SIBLING, tool.server, tool.name, f"{said} nearly the same.", proof, effect=effect)


def _as_client(client: Client, index: ToolIndex, instructions: Mapping[str, str]) -> Iterator[Finding]:
    """What becomes of tools and instructions on their way to a client's model, by rules that are known."""
    view = view_as(client, index.tools, instructions, lambda _text: 0)
    yield from _names(client, view.tools)
    cuts = _knows(client, Topic.CUTS)
    for seen in view.offered:
        text = seen.description
        if cuts and text.lost:
            message = f"Its description is cut after {text.kept:,} of {len(text.text):,} characters."
            yield _finding(CUT, client, seen, message, f"lost: “{_quoted(text.lost)}”", Topic.CUTS)
        if client.schemas.largest and (lost := _silenced(seen)):
            message = f"It is sent without {count(len(lost), 'description')} of parameters."
            yield _finding(SCHEMA_CUT, client, seen, message, _listed(lost), Topic.SCHEMAS)
    for server in view.servers if cuts and client.listing.instructions else ():
        if server.instructions.lost.strip():
            yield _instructions_cut(client, server)


def _names(client: Client, tools: Sequence[SeenTool]) -> Iterator[Finding]:
    """Refusals, and what becomes of names."""
    rule = client.names
    twins: dict[str, dict[str, str]] = defaultdict(dict)
    for seen in tools:
        if not seen.refused:
            twins[seen.name][seen.tool.id] = _plain(client, seen)
    for seen in tools:
        plain = _plain(client, seen)
        if seen.refused and _knows(client, why := refused_for(client, seen)) and why is not Topic.LISTING:
            message = f"It is refused: {seen.refused}."
            yield _finding(REFUSED, client, seen, message, seen.name, why)
        if seen.refused or not _knows(client, Topic.NAMES):
            continue
        others = [one for one, name in twins[seen.name].items() if name != plain]
        if others:
            message = f"It gets the same name as {', '.join(others)}."
            yield _finding(ONE_NAME, client, seen, message, seen.name, Topic.NAMES)
        if rule.limit and len(plain) > rule.limit:
            message = f"Its name is cut from {len(plain)} characters to {len(seen.name)}."
            yield _finding(NAME_CUT, client, seen, message, f"{plain} becomes {seen.name}", Topic.NAMES)
        elif (
            seen.name != plain
            and sent_name(NameRule(replaced=rule.replaced), "", seen.tool.name) != seen.tool.name
        ):
            message = "A model reads another name."
            yield _finding(RENAMED, client, seen, message, f"{plain} becomes {seen.name}", Topic.NAMES)


def _plain(client: Client, seen: SeenTool) -> str:
    """The name that the client would send if it allowed every name."""
    return client.names.form.format(server=seen.tool.server, tool=seen.tool.name)


def _finding(rule: Rule, client: Client, seen: SeenTool, message: str, proof: str, topic: Topic) -> Finding:
    return Finding(
        rule, seen.tool.server, seen.tool.name, message, f"{proof}{_unsure(client, topic)}", client.name
    )


def _unsure(client: Client, topic: Topic) -> str:
    """Says of a client's rule that nobody who knows confirms it."""
    confidence = client.confidence(topic)
    return "" if confidence in _SURE else f" (its rule is {confidence})"


def _knows(client: Client, topic: Topic) -> bool:
    return client.confidence(topic) is not Confidence.ASSUMED


def _silenced(seen: SeenTool) -> list[str]:
    """The parameters whose descriptions the client removes."""
    sent = {one.name: one.description for one in fields(seen.definition["function"]["parameters"])}
    return [one.name for one in fields(seen.tool.input_schema) if one.description and not sent.get(one.name)]


def _instructions_cut(client: Client, server: SeenServer) -> Finding:
    text = server.instructions
    message = f"The instructions are cut after {text.kept:,} of {len(text.text):,} characters."
    proof = f"lost: “{_quoted(text.lost)}”{_unsure(client, Topic.CUTS)}"
    return Finding(INSTRUCTIONS_CUT, server.name, "", message, proof, client.name)


def _requests(tools: Sequence[Tool], cases: Sequence[EvalCase]) -> tuple[EvalCase, ...]:
    """The cases, and requests made of their own texts for the tools that none of them wants."""
    wanted = {tool_id for case in cases for group in case.relevant for tool_id in group}
    made = generate([tool for tool in tools if tool.id not in wanted])
    return (*cases, *(case for case in made if case.is_possible))


def _wants(case: EvalCase, tool_id: str) -> bool:
    return any(tool_id in group for group in case.relevant)
