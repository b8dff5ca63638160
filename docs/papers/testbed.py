"""Tool Attention's testbed (section 6.2, table 2): six servers whose definitions have the stated sizes.

The paper states each server's number of tools and the mean tokens of their definitions. The tools are ours: a
vocabulary has a server's things and actions, and each definition gets documented parameters until it has its
share of tokens. Sizes vary between tools as in real catalogs (coefficient of variation 0.3).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import cycle, islice
from random import Random
from statistics import mean

from msgspec import Struct
from msgspec.structs import replace

from docs.papers import vocabulary
from docs.papers.source import NamedCatalog
from docs.papers.vocabulary import Action, Domain, Entity, with_article
from inspector.core.tool import Annotations, Tool, definition
from inspector.schema.json_value import JsonObject, compact
from inspector.tokens.measure import BudgetMeter, piece

# The same seed gives the same catalog. Sizes are log-normal, as those of published MCP servers are: a few
# tools have most of the tokens.
MEAN = 420
SERVER_SIZE = 20
_SPREAD = 0.9
_SMALLEST = 90
_VERBS = ("list", "get", "create", "update", "delete", "search", "export", "archive", "share", "count")
_NOUNS = ("invoice", "ticket", "branch", "dashboard", "contact", "shipment", "sensor", "document", "booking")
_AREAS = (
    "billing", "support", "code", "metrics", "crm", "shipping", "devices", "archive", "travel", "payroll",
    "security", "design", "video", "maps", "survey", "legal", "stock", "forum", "clinic", "school",
)  # fmt: skip
_FIELDS = ("filter", "owner", "since", "until", "limit", "cursor", "order", "format", "region", "note")
_SENTENCE = (
    "the request is answered with each entry that fits and its state when it was last changed by "
    "whoever may see it so that a later call can go on from there without asking twice for what is "
    "known already"
)
_WORDS = _SENTENCE.split()


def generated(
    count: int, meter: BudgetMeter, *, seed: int = 0, server_size: int = SERVER_SIZE, mean: int = MEAN
) -> NamedCatalog:
    """A catalog of `count` tools on servers of `server_size`, with exactly `count * mean` tokens."""
    random = Random(f"{seed}/{count}/{server_size}")
    weights = [math.exp(_SPREAD * random.gauss(0.0, 1.0)) for _ in range(count)]
    share = (mean - _SMALLEST) * count / sum(weights)
    targets = [round(_SMALLEST + weight * share) for weight in weights]
    tools = [
        _with_size(_named(number, server_size, random), target, meter, random)
        for number, target in enumerate(targets)
    ]
    largest = max(range(count), key=targets.__getitem__)
    tools[largest] = _fitted(tools[largest], count * mean - meter.static(tools), meter)
    servers = dict.fromkeys(tool.server for tool in tools)
    summaries = {server: _summary(server) for server in servers}
    return NamedCatalog(f"generated, {count} tools", tuple(tools), summaries)


def _named(number: int, server_size: int, random: Random) -> Tool:
    area, index = number // server_size, number % server_size
    again = area // len(_AREAS)
    server = f"{_AREAS[area % len(_AREAS)]}{again + 1 if again else ''}"
    verb = _VERBS[index % len(_VERBS)]
    noun = _NOUNS[(index // len(_VERBS) + area) % len(_NOUNS)]
    properties = {
        name: {"type": "string", "description": f"The {name} of the {noun}."}
        for name in random.sample(_FIELDS, 1)
    }
    schema = {"type": "object", "properties": properties}
    return Tool(server, f"{verb}_{noun}s", f"{verb.capitalize()} {noun}s of {server}.", schema)


def _summary(server: str) -> str:
    return f"Everything about {server}: look up entries, change them, and share them with others."


def _with_size(tool: Tool, target: int, meter: BudgetMeter, random: Random) -> Tool:
    """Add parameters and words to a tool until its definition has `target` tokens, or one or two more."""
    for name in random.sample(_FIELDS, len(_FIELDS)):
        longer = _with_parameter(tool, name, random)
        if _tokens(longer, meter) > target:
            break
        tool = longer
    return _padded(tool, target, meter, random)


def _with_parameter(tool: Tool, name: str, random: Random) -> Tool:
    words = " ".join(random.choices(_WORDS, k=random.randint(6, 24)))
    properties = {
        **tool.input_schema["properties"],
        name: {"type": "string", "description": f"The {name}: {words}."},
    }
    return replace(tool, input_schema={"type": "object", "properties": properties})


def _padded(tool: Tool, target: int, meter: BudgetMeter, random: Random) -> Tool:
    while (missing := target - _tokens(tool, meter)) > 0:
        words = " ".join(random.choices(_WORDS, k=missing))
        tool = replace(tool, description=f"{tool.description} {words}")
    return tool


def _fitted(tool: Tool, more: int, meter: BudgetMeter) -> Tool:
    """Change a tool's size by `more` tokens, which may be negative, at the end of its description."""
    target = _tokens(tool, meter) + more
    for _ in range(20):
        rest = target - _tokens(tool, meter)
        if not rest:
            break
        words = tool.description.split(" ")
        kept = words[:rest] if rest < 0 else [*words, *islice(cycle(_WORDS), rest)]
        tool = replace(tool, description=" ".join(kept))
    return tool


def _tokens(tool: Tool, meter: BudgetMeter) -> int:
    """A definition's tokens, not with the meter's own count, which would cache every intermediate length."""
    return meter.text(piece(compact(definition(tool))))


Count = Callable[[str], int]
VARIATION = 0.3
# How many later entities get their first tool before an entity gets its next one.
_BREADTH = 2
_BISECTIONS = 40
_CORRECTIONS = 4
_NOTED = 0.6


class ServerSize(Struct, frozen=True):
    """A row of table 2: a server's number of tools, and the mean tokens of a definition."""

    server: str
    tools: int
    tokens: int

    @property
    def domain(self) -> Domain:
        return vocabulary.domain(self.server)


TABLE_2 = (
    ServerSize("github", 30, 520),
    ServerSize("filesystem", 10, 180),
    ServerSize("database", 20, 410),
    ServerSize("slack", 15, 290),
    ServerSize("web", 10, 220),
    ServerSize("jira", 35, 470),
)


class Plan(Struct, frozen=True):
    """A tool's purpose: an action on an entity of a domain."""

    domain: Domain
    entity: Entity
    action: Action

    @property
    def name(self) -> str:
        return self._filled(self.action.name)

    @property
    def tool_id(self) -> str:
        return f"{self.domain.server}:{self.name}"

    def words(self, template: str) -> str:
        """A text of the tool, with the formal names of things."""
        scope = "account" if self.domain.scope == self.entity.name else self.domain.scope
        one, many = self.entity.name, self.entity.plural
        return with_article(template.format(one=one, many=many, scope=scope, about=self.entity.about))

    @property
    def optional(self) -> Mapping[str, JsonObject]:
        """Further parameters that the tool may have."""
        known = vocabulary.parameters()
        return known.writing if self.action.writes else known.reading

    def parameters(self) -> dict[str, JsonObject]:
        """The parameters that the tool always has; those that say where come first."""
        known = vocabulary.parameters()
        always = {name: known.located[name] for name in self.domain.located}
        for template in self.action.parameters:
            name = self._filled(template)
            always.setdefault(name, known.known.get(name) or self._own(template, name))
        if self.action.sets_fields:
            always |= {name: self._own(name, name) for name in self.entity.fields if name not in always}
        return always

    def required(self) -> list[str]:
        """The required parameters: where, which one and, for tools that set fields, the first field."""
        names = [self._filled(p) for p in self.action.parameters if "{one}" in p or p in ("query", "sql")]
        fields = [] if names or not self.action.sets_fields else self.entity.fields[:1]
        return list(dict.fromkeys([*self.domain.located, *names, *fields]))

    def _own(self, template: str, name: str) -> JsonObject:
        if template.endswith("_id"):
            which = "other " if template.startswith("other") else ""
            return _text(f"Id of the {which}{self.entity.name}, as lists and searches return it.")
        words = name.replace("_", " ")
        return _text(f"{words.capitalize()} of the {self.entity.name}.")

    def _filled(self, template: str) -> str:
        one, many = (form.replace(" ", "_").lower() for form in (self.entity.name, self.entity.plural))
        return template.format(one=one, many=many)


def _text(about: str) -> JsonObject:
    return {"type": "string", "description": about}


class Testbed(Struct, frozen=True, dict=True):
    """Tools in server order with their plans; `tokens` has each definition's tokens as compact JSON."""

    __test__ = False

    plans: tuple[Plan, ...]
    tools: tuple[Tool, ...]
    tokens: Mapping[str, int]

    @cached_property
    def by_id(self) -> Mapping[str, Tool]:
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def writing(self) -> frozenset[str]:
        """The ids of the tools that change something."""
        return frozenset(plan.tool_id for plan in self.plans if plan.action.writes)

    @property
    def full(self) -> int:
        """The tokens of all definitions."""
        return sum(self.tokens.values())

    def average(self, server: str) -> float:
        """The mean tokens of the server's definitions."""
        return mean(tokens for tool_id, tokens in self.tokens.items() if tool_id.startswith(f"{server}:"))


def build_testbed(count: Count, seed: int = 0, total: int = 120) -> Testbed:
    """The testbed with `total` tools (up to 1,000) in the mix of table 2.

    `count` returns a text's tokens. The same arguments give the same testbed.
    """
    plans: list[Plan] = []
    tools: list[Tool] = []
    for size, share in zip(TABLE_2, _shares(total), strict=True):
        mine = plans_of(size.domain, share)
        plans += mine
        tools += _sized(mine, size.tokens, count, seed)
    return Testbed(tuple(plans), tuple(tools), {tool.id: tokens_of(tool, count) for tool in tools})


def tokens_of(tool: Tool, count: Count) -> int:
    """A definition's tokens as compact JSON."""
    return count(compact(definition(tool)))


def plans_of(domain: Domain, number: int) -> list[Plan]:
    """The first `number` tools of a domain: the most common actions on the most important things.

    Raises ValueError if the vocabulary has too few.
    """
    ranked: list[tuple[int, int, Plan]] = []
    for index, entity in enumerate(domain.entities):
        actions = dict.fromkeys([*entity.actions, *domain.usual])
        for order, name in enumerate(actions):
            ranked.append((index + _BREADTH * order, index, Plan(domain, entity, vocabulary.actions()[name])))
    ranked.sort(key=lambda entry: entry[:2])
    plans = list({plan.name: plan for _, _, plan in reversed(ranked)}.values())[::-1]
    if number > len(plans):
        raise ValueError(f"{domain.server} has words for {len(plans)} tools, not for {number}")
    return plans[:number]


def _shares(total: int) -> list[int]:
    """`total` divided in the proportions of table 2; the largest remainders are rounded up."""
    whole = sum(size.tools for size in TABLE_2)
    exact = [total * size.tools / whole for size in TABLE_2]
    shares = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: shares[i] - exact[i])
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return shares


def _sized(plans: Sequence[Plan], average: int, count: Count, seed: int) -> Sequence[Tool]:
    """A server's tools, whose definitions have `average` tokens on average.

    A parameter's tokens are known only roughly in advance, so the aim is corrected by each result.
    """
    smallest = [tokens_of(_tool(plan, seed, ()), count) for plan in plans]
    known = vocabulary.parameters()
    costs = {name: count(compact({name: spec})) for name, spec in {**known.reading, **known.writing}.items()}
    aim = float(average)
    best: tuple[float, Sequence[Tool]] = (math.inf, ())
    for _ in range(_CORRECTIONS):
        targets = _targets(plans, smallest, aim, seed)
        tools = [_grown(*entry, costs, seed) for entry in zip(plans, targets, smallest, strict=True)]
        reached = mean(tokens_of(tool, count) for tool in tools)
        best = min(best, (abs(reached - average), tools), key=lambda entry: entry[0])
        aim += average - reached
    return best[1]


def _targets(plans: Sequence[Plan], smallest: Sequence[int], average: float, seed: int) -> Sequence[float]:
    """Each tool's target size: at least its smallest size, and `average` on average."""
    factors = [_factor(plan, seed) for plan in plans]
    low, high = 0.0, 4.0 * average
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        sizes = [max(least, middle * factor) for least, factor in zip(smallest, factors, strict=True)]
        low, high = (middle, high) if mean(sizes) < average else (low, middle)
    return [max(least, low * factor) for least, factor in zip(smallest, factors, strict=True)]


def _factor(plan: Plan, seed: int) -> float:
    """A tool's size relative to the average: log-normal, mean 1."""
    sigma = math.sqrt(math.log1p(VARIATION**2))
    return Random(f"size {seed} {plan.tool_id}").lognormvariate(-(sigma**2) / 2, sigma)


def _grown(plan: Plan, target: float, tokens: int, costs: Mapping[str, int], seed: int) -> Tool:
    """The tool with the optional parameters that bring it closest to its target size."""
    always = plan.parameters()
    names = [name for name in plan.optional if name not in always]
    Random(f"optional {seed} {plan.tool_id}").shuffle(names)
    taken: list[str] = []
    for name in names:
        if abs(target - tokens - costs[name]) < abs(target - tokens):
            taken.append(name)
            tokens += costs[name]
    return _tool(plan, seed, taken)


def _tool(plan: Plan, seed: int, optional: Sequence[str]) -> Tool:
    schema = {
        "type": "object",
        "properties": {**plan.parameters(), **{name: plan.optional[name] for name in optional}},
        "required": plan.required(),
        "additionalProperties": False,
    }
    annotations = Annotations(read_only=not plan.action.writes)
    return Tool(plan.domain.server, plan.name, _description(plan, seed), schema, annotations)


def _description(plan: Plan, seed: int) -> str:
    """A sentence about what the tool does, usually with notes; it does not depend on other tools."""
    random = Random(f"description {seed} {plan.tool_id}")
    sentence = random.choice(plan.action.sentences)
    notes = [note for note in plan.action.notes if random.random() < _NOTED]
    if "{about}" not in sentence and random.random() < _NOTED:
        notes.insert(0, "A {one} is {about}.")
    return " ".join(plan.words(part) for part in (sentence, *notes))
