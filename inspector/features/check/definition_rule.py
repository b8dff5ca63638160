"""Findings about definitions: facts that the definition itself, its siblings or a client's rules prove.

Nothing here looks for words of a list: whether a description says when to use a tool cannot be told so, so
only what is certain is said, that it has no word that the name does not have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from inspector.clients.client import Client, Confidence, Kind
from inspector.clients.deliver import deliver
from inspector.clients.delivery import Delivery, Listed, Reason, ServerDelivery
from inspector.clients.seen import SeenTool
from inspector.core.definition import declared_annotations
from inspector.core.number import count
from inspector.core.text import one_line, shortened
from inspector.core.tool import Annotations, Tool, contradiction
from inspector.features.check.finding import SOURCE, Finding, Rule, Stage, folded, rules
from inspector.schema.json_value import as_object, compact
from inspector.schema.schema import SchemaField, fields
from inspector.schema.validity import SchemaFault, faults
from inspector.search.index.vocabulary import terms

(EMPTY, LOST, UNREACHED, PAGE_LOST, PAGE_UNREAD, NAME_REFUSED, SCHEMA_REFUSED, INVALID, NO_TASK, CUT) = rules(
    Stage.FOUND,
    """
    no-description | warning | It has no description
      A search has only its name to go by, and so has a model. Say what the tool does and when to use it.
    tool-lost | error | A tool cannot be read
      No client, or not every one, gets it. Correct its definition at the place that is named.
    server-unreached | error | A client cannot speak with the server
      It gets no tool. Answer `initialize` of older revisions, too.
    page-lost | error | Pages of the tool list cannot be read
      Nobody gets the tools on them. Answer every cursor that you give.
    page-unread | warning | A client reads the first page alone
      Its model never gets the other tools. List them all on one page.
    name-refused | error | A client refuses its name
      The client's model never gets the tool. Use letters, digits, _ and - alone, and fewer of them.
    schema-refused | error | A client refuses its schema
      The client's model never gets the tool. Write the schema without what is named.
    schema-invalid | error | A schema is not valid
      Clients and APIs refuse it, some with all tools of the server. Correct it at the place that is named.
    task-only | warning | A client cannot call it, because it runs only as a task
      Every call fails there. Let it be called without a task, too.
    description-cut | warning | A client cuts its description
      The model never reads the rest, nor does the client's search. Say first what matters.
    """,
)
MISFIT, PARAMETER, UNANNOTATED, DOUBTED, DOUBTFUL, SCHEMA_CUT = rules(
    Stage.CALLED,
    """
    output-misfit | error | A client does not give its model a result that does not fit
      The model reads an error, or nothing more. Return what outputSchema says, or declare none.
    parameter-undescribed | note | No text says what a parameter is
      A model guesses its form and meaning from its name. Describe each parameter.
    no-annotations | note | It has no annotations
      Clients ask before each call, as if it may destroy. Declare readOnlyHint and destructiveHint.
    doubtful-annotations | warning | Its name, parameters or other hints contradict its annotations
      Clients decide by these hints which calls need approval. Correct them, or the name.
    schema-doubtful | warning | A schema contradicts itself
      A model is told to give what the schema refuses, or cannot know. Correct it at the place that is named.
    schema-cut | warning | A client removes descriptions of parameters
      The model calls the tool without them. Make the schema smaller.
    """,
)
NAME_CUT, ONE_NAME, TWICE, CURSOR, INSTRUCTIONS_CUT = rules(
    Stage.CHOSEN,
    """
    name-cut | warning | A client cuts its name
      The model reads part of the name only. Shorten the tool's name, or the server's.
    same-name-in-client | error | A client gives two tools one name
      The model cannot tell them apart. Let their names differ where the client does not cut.
    listed-twice | warning | The server lists a tool twice
      Clients differ in which one they take. List it once.
    odd-cursor | error | Clients misread the cursor of a page
      Some lose all tools, or those of later pages. End with no nextCursor; let others be texts.
    instructions-cut | warning | A client cuts the server's instructions
      The model reads their beginning alone, at least until it searches. Say first what matters.
    """,
)
RULES = (
    *(LOST, UNREACHED, PAGE_LOST, PAGE_UNREAD, NAME_REFUSED, SCHEMA_REFUSED, INVALID, NO_TASK, MISFIT, TWICE),
    *(CURSOR, EMPTY, PARAMETER, UNANNOTATED, DOUBTED),
    *(DOUBTFUL, ONE_NAME, NAME_CUT, CUT, INSTRUCTIONS_CUT, SCHEMA_CUT),
)
_RULES = {
    Kind.LOST: LOST,
    Kind.PAGE: PAGE_UNREAD,
    Kind.NAME_REFUSED: NAME_REFUSED,
    Kind.SCHEMA_REFUSED: SCHEMA_REFUSED,
    Kind.TASK: NO_TASK,
    Kind.MISFIT: MISFIT,
    Kind.TWIN: ONE_NAME,
    Kind.NAME_CUT: NAME_CUT,
    Kind.CUT: CUT,
}
# So much of a text is quoted as proof.
_QUOTED = 160
_NO_CLAIMS = Annotations()
_SURE = (Confidence.MEASURED, Confidence.DOCUMENTED, Confidence.OPEN_SOURCE)


def definition_findings(listed: Sequence[Listed], clients: Iterable[Client] = ()) -> Iterator[Finding]:
    """The facts about what servers list: each tool alone, beside the others, and as the clients get it."""
    yield from folded(one for each in listed for tool in each.tools for one in _alone(tool))
    yield from folded(one for each in listed for one in _skipped(each))
    of_clients: dict[tuple[str, str, str], list[Finding]] = {}
    for delivery in (one for client in clients for one in deliver(client, listed)):
        for one in _delivered(delivery):
            of_clients.setdefault((one.rule.name, one.subject, one.message), []).append(one)
    invalid = [one for each in listed for one in _schemas(each, of_clients)]
    yield from folded((*invalid, *map(_joined, of_clients.values())))


def _skipped(listed: Listed) -> Iterator[Finding]:
    """What of a server's list could not be read, or stands in it twice."""
    for one in listed.skipped:
        times = f" {one.times:,} times" if one.times > 1 else ""
        if one.kind in ("page", "endless"):
            yield Finding(PAGE_LOST, listed.server, "", f"{one.label}: {one.reason}.")
        else:
            rule = LOST if one.kind == "tool" else TWICE if one.kind == "again" else CURSOR
            yield Finding(rule, listed.server, one.label, _sentence(f"{one.reason}{times}"))


def _schemas(listed: Listed, of_clients: dict[tuple[str, str, str], list[Finding]]) -> Iterator[Finding]:
    """What is wrong with schemas by themselves; clients that refuse one for it are told too."""
    for tool in listed.tools:
        for where, schema in (("inputSchema", tool.input_schema), ("outputSchema", tool.output_schema)):
            is_output = where != "inputSchema"
            found = () if schema is None else faults(schema, listed.protocol, is_output=is_output)
            for rule in (INVALID, DOUBTFUL):
                mine = [one for one in found if one.is_hint is (rule is DOUBTFUL)]
                keys = ((SCHEMA_REFUSED.name, tool.id, f"{where}: {one.says}.") for one in mine)
                by = dict.fromkeys(one.client for key in keys for one in of_clients.pop(key, ()))
                told = [f"refused by {', '.join(by)}"] if by else []
                if says := [f"{where}: {line}." for line in _once(mine)]:
                    proof = (f"{where}.{mine[0].place}".rstrip("."), *says[1:], *told)
                    yield Finding(rule, listed.server, tool.name, says[0], "\n".join(proof))


def _once(found: Iterable[SchemaFault]) -> Iterator[str]:
    """What is wrong, said once for all its places, with the first and how many more there are."""
    places: dict[str, list[str]] = {}
    for one in found:
        places.setdefault(one.says.removeprefix(one.place), []).append(one.place)
    for says, (first, *more) in places.items():
        others = f" (and at {count(len(more), 'more place')})" if more else ""
        yield f"{first}{says}{others}"


def _joined(same: Sequence[Finding]) -> Finding:
    """What holds for several clients, said once, with all that shows it."""
    proof = dict.fromkeys(line for one in same for line in one.proof.splitlines())
    return replace(same[0], client=", ".join(one.client for one in same), proof="\n".join(proof))


def _alone(tool: Tool) -> Iterator[Finding]:
    """What a definition says of itself."""
    known = fields(tool.input_schema)
    said = frozenset(terms(tool.description))

    def finding(rule: Rule, message: str, proof: str) -> Finding:
        return Finding(rule, tool.server, tool.name, message, proof)

    if not tool.description.strip():
        yield finding(EMPTY, "It has no description.", f"the name alone: {tool.name}")
    if silent := [one.name for one in known if not _is_told(one, said)]:
        message = f"{len(silent)} of {count(len(known), 'parameter')} of which no text says anything."
        yield finding(PARAMETER, message, _listed(silent))
    if tool.annotations == _NO_CLAIMS:
        given = as_object(tool.beside.get("annotations"))
        proof = f"annotations: {_listed(list(given)) or 'none'}"
        if "properties" in given:
            yield finding(DOUBTED, "Its annotations hold a schema, and none of MCP's hints.", proof)
        else:
            yield finding(UNANNOTATED, "It declares none of MCP's hints.", proof)
    elif against := contradiction(tool):
        proof = compact(declared_annotations(tool.annotations))
        yield finding(DOUBTED, f"{against[0].upper()}{against[1:]}.", proof)


def _is_told(one: SchemaField, said: frozenset[str]) -> bool:
    """Whether a text says what a parameter is: its own, that of a part of it, or of its tool, by its name.

    Choices say it, too, and an object that takes nothing needs no words.
    """
    schema, named = one.schema, frozenset(terms(one.name))
    if one.description.strip() or one.choices or (named and named <= said):
        return True
    lists = (schema.get(key) for key in ("anyOf", "oneOf", "allOf"))
    options = [part for some in lists if isinstance(some, list) for part in some]
    parts = [part for part in (schema, schema.get("items"), *options) if isinstance(part, Mapping)]
    told = [part.get("description") for part in parts]
    told += [part.description.strip() for inner in parts for part in fields(inner)]
    return schema.get("properties") == {} or any(told)


def _listed(names: Sequence[str]) -> str:
    """Names of parameters; that of one may be empty."""
    return ", ".join(name or '""' for name in names)


def _delivered(delivery: ServerDelivery) -> Iterator[Finding]:
    """What becomes of tools and instructions on their way to a client's model, by rules that are known."""
    server, client = delivery.listed.server, delivery.client.name
    for reason in delivery.own:
        if reason.kind is Kind.INSTRUCTIONS_CUT and reason.fact:
            yield Finding(INSTRUCTIONS_CUT, server, "", f"Its {reason.says}.", _source(reason), client)
    for one in delivery.tools:
        for reason in one.reasons:
            if reason.fact is None:
                continue
            if reason.kind is Kind.UNREACHED:
                yield Finding(UNREACHED, server, "", delivery.sentence(), _source(reason), client)
                return
            if reason.kind is Kind.LOST:
                yield Finding(LOST, server, "", _sentence(reason.says), _source(reason), client)
                return
            if (rule := _rule_of(reason)) is not None:
                is_own = rule is SCHEMA_REFUSED and reason.place
                says = f"inputSchema: {reason.says}" if is_own else reason.says
                proof = "\n".join(filter(None, (_shown(one, reason), _source(reason))))
                yield Finding(rule, server, one.tool, _sentence(says), proof, client)
        silences = delivery.client.schemas.has("undescribe")
        if one.seen is not None and silences and (lost := _silenced(one.seen)):
            message = f"It is sent without {count(len(lost), 'description')} of parameters."
            yield Finding(SCHEMA_CUT, server, one.tool, message, _listed(lost), client)


def _rule_of(reason: Reason) -> Rule | None:
    """The rule that it breaks. Of a tool that is lost with another of its server's nothing is found."""
    return None if reason.kind is Kind.TWIN and not reason.place else _RULES.get(reason.kind)


def _sentence(says: str) -> str:
    """It as a sentence; a place in a definition is written as it is."""
    first = says.partition(" ")[0]
    return f"{says[:1].upper()}{says[1:]}." if first.isalpha() and first.islower() else f"{says}."


def _shown(one: Delivery, reason: Reason) -> str:
    """What shows it: the text that is lost, the name that the model reads, the place in the definition."""
    if one.seen is not None and reason.kind is Kind.CUT:
        return f"lost: “{shortened(one_line(one.seen.description.lost), _QUOTED)}”"
    if one.seen is not None and reason.place == "name" and one.seen.name != one.tool:
        return f"{one.id} becomes {one.seen.name}"
    return (
        ""
        if reason.place in ("", "inputSchema", "name") or reason.kind is Kind.SCHEMA_REFUSED
        else reason.place
    )


def _source(reason: Reason) -> str:
    """Who says so, and when."""
    fact = reason.fact
    if fact is None:
        return ""
    sure = "" if fact.confidence in _SURE else f" ({fact.confidence.told})"
    return f"{SOURCE}{fact.says} {fact.source or 'measured'} {fact.date}{sure}".replace("  ", " ")


def _silenced(seen: SeenTool) -> list[str]:
    """The parameters whose descriptions the client removes."""
    sent = {one.name: one.description for one in fields(seen.definition["function"]["parameters"])}
    return [one.name for one in fields(seen.tool.input_schema) if one.description and not sent.get(one.name)]
