"""Generates catalogs of a given size with 420 tokens per tool on average.

The same seed gives the same catalog. Sizes are log-normal, as those of published MCP servers are: a few tools
have most of the tokens.
"""

import math
from dataclasses import replace
from itertools import cycle, islice
from random import Random

from inspector.core.tool import Tool, definition
from inspector.research.source import NamedCatalog
from inspector.schema.json_value import compact
from inspector.tokens.count.measure import BudgetMeter
from inspector.tokens.count.segment import piece

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
        _sized(_named(number, server_size, random), target, meter, random)
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


def _sized(tool: Tool, target: int, meter: BudgetMeter, random: Random) -> Tool:
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
