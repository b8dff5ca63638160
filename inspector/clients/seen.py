"""What becomes of a tool on its way to a client's model: name, description, schema, results."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.clients.client import Change, Client, Kind, Topic
from inspector.clients.name import name_changes, name_refused, sent_name, sent_names
from inspector.clients.rule import NameRule, ResultLimit, ResultRule, TextRule
from inspector.clients.schema_change import sent_schema
from inspector.core.message import ToolResult
from inspector.core.number import count
from inspector.core.tool import Tool, function_definition, is_for_apps_alone
from inspector.schema.json_value import JsonObject, compact, read_value
from inspector.schema.schema import checked_output

_TASKS = {
    False: Change(Kind.TASK, "every call fails: it runs only as a task", "execution.taskSupport"),
    None: Change(Kind.UNKNOWN, "it runs only as a task; whether the client calls one so is not known"),
}
_HIDDEN = Change(Kind.HIDDEN, "only its server's own view may call it", "_meta.ui.visibility")


class Cut(Struct, frozen=True):
    """A text of which the model reads the first `kept` characters, and a `mark` if that is not all.

    A `lead` of the client's own comes before it, an `end` behind it.
    """

    text: str
    kept: int
    mark: str = ""
    lead: str = ""
    end: str = ""

    @property
    def shown(self) -> str:
        return self.lead + self.text[: self.kept] + (self.mark if self.lost else "") + self.end

    @property
    def lost(self) -> str:
        return self.text[self.kept :]


class SeenTool(Struct, frozen=True):
    """A tool as a client's model gets it.

    `refused` says why the model does not get it at all; `changes` are what else becomes of it. With `bound`,
    its definition is there from the start, though others wait for a search. `definition` is in the chat
    completions format whatever the client sends, so that its tokens compare.
    """

    tool: Tool
    name: str
    description: Cut
    definition: JsonObject
    changes: tuple[Change, ...] = ()
    refused: Change | None = None
    bound: bool = False

    @property
    def parameters(self) -> JsonObject:
        """The schema of its parameters as it is sent."""
        found: JsonObject = self.definition["function"]["parameters"]
        return found


def cut(text: str, limit: int, mark: str = "") -> Cut:
    """A text cut after `limit` characters; 0 is no limit."""
    return Cut(text, min(len(text), limit) if limit else len(text), mark)


def kept_of(rule: TextRule, instructions: str) -> Cut:
    """What a client shows of a server's instructions."""
    kept = cut(instructions, rule.instructions, rule.mark)
    if not rule.first_line:
        return kept
    return Cut(instructions, min(len(instructions.partition("\n")[0]), kept.kept))


def as_sent(client: Client, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools that a client's model can get, with the texts and schemas that it gets of them."""
    return tuple(
        replace(
            seen.tool,
            description=seen.description.text[: seen.description.kept],
            input_schema=seen.parameters,
        )
        for seen in see_all(client, list(tools))
        if not seen.refused
    )


def see(client: Client, tool: Tool, name: str = "") -> SeenTool:
    """What the client makes of a tool alone, or under a name. Does not raise, whatever the tool declares."""
    name = name or sent_name(client.names, tool.server, tool.name)
    listing = client.listing
    bound = bool(listing.always) and tool.meta.get(listing.always) is True
    at_once = bound or listing.before == "definitions"
    sent = sent_schema(client.schemas, tool.input_schema)
    description = _description(client.texts, tool, sent.lead, at_once=at_once)
    told = [*name_changes(client.names, name, tool), *sent.changes]
    if description.lost:
        says = f"description cut after {description.kept:,} of {len(description.text):,} characters"
        told.append(Change(Kind.CUT, says, "description"))
    if tool.task_support == "required" and client.tasks in _TASKS:
        told.append(_TASKS[client.tasks])
    return SeenTool(
        tool,
        name,
        description,
        function_definition(name, description.shown, sent.schema),
        tuple(told),
        _unlisted(client, tool) or name_refused(client.names, name) or sent.refused,
        bound,
    )


def _description(rule: TextRule, tool: Tool, lead: str, *, at_once: bool) -> Cut:
    """A description as it is sent, behind what the client says of the schema."""
    text = tool.description.strip() if rule.stripped else tool.description
    if not text:
        empty = rule.empty.format(server=tool.server, tool=tool.name, title=tool.title)
        return Cut("", 0, lead=empty or lead)
    lead = rule.before.format(server=tool.server) + (f"{lead}\n\n" if lead else "")
    limit = (at_once and rule.bound) or rule.description
    found = cut(text, max(limit - len(lead), 1) if limit else 0, rule.mark)
    return replace(found, lead=lead, end=rule.after)


def _unlisted(client: Client, tool: Tool) -> Change | None:
    """Why the client does not list a tool, if it does not."""
    if client.listing.first_page and tool.page > 1:
        return Change(Kind.PAGE, f"it is on page {tool.page:,} of the list, and only the first is read")
    return _HIDDEN if client.listing.hides_app_tools and is_for_apps_alone(tool) else None


def see_all(client: Client, tools: Sequence[Tool], server: str = "") -> tuple[SeenTool, ...]:
    """What the client makes of a catalog, or of one server's part of it.

    Tools are marked that share a name, which no model tells apart, or refused where only one of them is sent.
    """
    names = sent_names(client.names, tools)
    is_refused = [
        bool(_unlisted(client, tool) or name_refused(client.names, name))
        for tool, name in zip(tools, names, strict=True)
    ]
    named: dict[str, list[Tool]] = {}
    for tool, name, refused in zip(tools, names, is_refused, strict=True):
        if not refused:
            named.setdefault(name, []).append(tool)
    found = (
        _beside(client.names, see(client, tool, name), named.get(name, ()))
        for tool, name in zip(tools, names, strict=True)
        if server in ("", tool.server)
    )
    return _with_servers(tuple(found))


def _beside(rule: NameRule, seen: SeenTool, named: Sequence[Tool]) -> SeenTool:
    """The tool beside all of its name. Whoever sends plain names of several servers may tell them apart."""
    is_known = rule.twins or "{server}" in rule.form
    alike = (one for one in named if is_known or one.server == seen.tool.server)
    others = [one.id for one in alike if one is not seen.tool]
    if seen.refused is not None or not others:
        return seen
    change = Change(Kind.TWIN, f"same name as {', '.join(others)}", "name")
    stays = {"first": named[0], "last": named[-1], "error": None}.get(rule.twins, seen.tool)
    if stays is seen.tool:
        return replace(seen, changes=(*seen.changes, change))
    cost = "an error that costs all tools of its server" if rule.refuses == "server" else "an error"
    says = f"{change.says}: {cost if stays is None else f'the {rule.twins} one stays'}"
    return replace(seen, refused=replace(change, says=says, costs_server=rule.refuses == "server"))


def _with_servers(found: tuple[SeenTool, ...]) -> tuple[SeenTool, ...]:
    """The tools, of which one refused name or schema may cost all others of its server."""
    costs: dict[str, Change] = {}
    for one in reversed(found):
        if one.refused is not None and one.refused.costs_server:
            says = f"all tools of its server are refused with {one.tool.name}"
            costs[one.tool.server] = replace(one.refused, says=says, place="")
    if not costs:
        return found
    return tuple(one if one.refused else replace(one, refused=costs.get(one.tool.server)) for one in found)


# What a client's model would lose of a result.


class KeptResult(Struct, frozen=True):
    """What the models of some clients get of a result, in words, and the clients with how sure that is."""

    says: str
    clients: tuple[str, ...]

    def __str__(self) -> str:
        sure: dict[str, list[str]] = {}
        for title, _, how in (one.rpartition(" (") for one in self.clients):
            sure.setdefault(how, []).append(title)
        told = (f"{', '.join(titles)} ({how}" for how, titles in sure.items())
        return f"{self.says}: {'; '.join(told)}"


def kept_results(
    clients: Iterable[Client],
    tool: Tool,
    result: ToolResult,
    tokens: Callable[[str], int],
    seconds: float = 0,
    *,
    is_http: bool = False,
) -> tuple[KeptResult, ...]:
    """What each client would lose of a result: one entry for all that lose the same, none for the others.

    Its tokens are counted by Toolsight's tokenizer, not the client's. The call took `seconds`.
    """
    outcomes: dict[str, list[str]] = {}
    for client in clients:
        silence, most = client.http.silence if is_http else 0, client.results.seconds
        if is_silent := 0 < silence <= seconds:
            losses = iter((_SILENT.format(silence),))
        elif 0 < most <= seconds:
            losses = iter((_LATE.format(most),))
        else:
            losses = _losses(client, tool, result, tokens)
        if says := "; ".join(losses):
            sure = client.confidence(Topic.HTTP if is_silent else Topic.RESULTS).told
            outcomes.setdefault(says, []).append(f"{client.title} ({sure})")
    return tuple(KeptResult(says, tuple(names)) for says, names in outcomes.items())


def _losses(client: Client, tool: Tool, result: ToolResult, tokens: Callable[[str], int]) -> Iterator[str]:
    rule, text = client.results, result.text
    if misfits(client, tool, [result]):
        yield _MISFITS[rule.misfit]
        return
    if result.is_error and rule.error in _ERRORS:
        yield _ERRORS[rule.error]
        return
    if result.structured is not None and not result.is_error:
        yield from _of_structured(rule, text, result.structured)
        replaces = rule.structured == "replaces" or (rule.structured == "no text" and not text)
        text = compact(result.structured) if replaces else text
    held = (*(one.kind for one in result.attachments), *(one for one in result.kinds if one == _LINK))
    if lost := [kind for kind in dict.fromkeys(held) if kind in rule.left_out]:
        yield f"without {', '.join(lost)}"
    for limit in rule.limits:
        size = _size(limit, text, tokens)
        # What Toolsight itself cut, the client would have got.
        size = result.in_whole(size) if text is result.text else size
        most = tool.meta.get(limit.changed_by, limit.over)
        if isinstance(most, int) and size > most:
            kept = "part" if limit.kept is None else f"{limit.kept:,}"
            if limit.kept and limit.tail:
                kept = f"the first {limit.kept - limit.tail:,} and the last {limit.tail:,}"
            yield f"{kept} of {count(size, limit.unit)}: {limit.rest}"
            return


_SILENT, _LATE = "an error, if the server is silent for {} s", "an error: a call ends after {} s"
_MISFITS = {"error": "an error in place of it", "run": "nothing: the run ends"}
_ERRORS = {"hidden": "nothing but that it is an error", "run": "nothing: the run ends with an error"}
_LINK = "resource_link"


def misfits(client: Client, tool: Tool, results: Iterable[ToolResult]) -> list[str]:
    """What does not fit an output schema, in the first result that a client keeps from its model for it."""
    if client.results.misfit not in _MISFITS:
        return []
    checks = (checked_output(tool.output_schema, one.structured) for one in results if not one.is_error)
    told = ("; ".join(one.reasons) for one in checks if one is not None and one.fits is False)
    does = "ends the run" if client.results.misfit == "run" else "is an error"
    return [f"it {does} that a result does not fit the output schema: {one}" for one in told][:1]


def _of_structured(rule: ResultRule, text: str, structured: JsonObject) -> Iterator[str]:
    """What is lost of a text and of structured content that says something else."""
    if rule.structured in ("", "both") or _says_the_same(text, structured):
        return
    if rule.structured == "replaces":
        yield "structured content in place of the text"
    elif text or rule.structured == "ignored":
        yield "without its structured content" if text else "nothing: structured content is left out"


def _says_the_same(text: str, structured: JsonObject) -> bool:
    """Whether a text is the structured content as JSON, or one of its values: many servers only wrap it."""
    said = read_value(text)
    is_one = said is not None and said in structured.values()
    return said == structured or is_one or text in structured.values()


def _size(limit: ResultLimit, text: str, tokens: Callable[[str], int]) -> int:
    if limit.unit == "token":
        return tokens(text)
    return len(text.encode("utf-8", "surrogatepass")) if limit.unit == "byte" else len(text)
