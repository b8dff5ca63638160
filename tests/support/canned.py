"""What the screens show in tests: reports, a registry, a machine, long words."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.budget import Prices
from inspector.core.error import BreakerState
from inspector.core.inertia import InertiaGraph
from inspector.core.ports import TaskCalls, ToolOutcomes
from inspector.core.server import ServerInfo, ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.features.cost.audit.audit import Pricing, configuration_audit
from inspector.features.cost.audit.result import Audit, Basis, Problem, Reading, Subject
from inspector.features.registry.facts import Health
from inspector.features.registry.library import RegistryLibrary
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.features.skills.inventory import Inventory
from inspector.features.skills.rule import RULES
from inspector.features.skills.skill import Place, parse_skill
from tests.support.fakes import character_meter
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.registry import embed_all

DAY = 86_400.0
FIRST = 1_760_000_000.0
# The first tool of the list, as it was before, and before that.
REFUND = Tool("billing", "refund_invoice", "Refund an invoice in full.")
REFUNDS = (
    REFUND,
    replace(REFUND, description="Refund an invoice in full or in part."),
    replace(
        REFUND,
        description="Refund an invoice in full or in part. Mails the customer a note.",
        input_schema={"type": "object", "properties": {"invoice": {"type": "string"}}},
    ),
)
REST = (
    Tool("billing", "send_reminder", "Remind a customer of an invoice that is late."),
    Tool("warehouse", "find_parcel", "Find the parcel of a late order in the warehouse."),
    Tool("warehouse", "count_stock", "Count the pieces of a product in stock."),
)


class HeldRegistry(SqliteRegistry):
    """A registry whose file goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        super().__init__(Path(self.folder.name) / "toolsight.db")


def registry_of(*origins: tuple[str, Sequence[Tool]]) -> HeldRegistry:
    """A registry with these tools, each origin synchronised a day after the one before."""
    registry = HeldRegistry()
    for number, (origin, tools) in enumerate(origins):
        registry.sync(origin, tools, at=FIRST + number * DAY)
    embed_all(registry, MemoryEmbedder())
    return registry


HEALTH = Health(
    {"billing:refund_invoice": ToolOutcomes(4, 3, FIRST), "shop:track_parcel": ToolOutcomes(2, 0, FIRST)},
    {"warehouse": BreakerState.OPEN},
)


def library_of(*origins: tuple[str, Sequence[Tool]]) -> RegistryLibrary:
    """A library with these tools."""
    registry, embedder = registry_of(*origins), MemoryEmbedder()
    return RegistryLibrary(lambda: registry, lambda: embedder, health_of=lambda _sight: HEALTH)


def canned_library() -> RegistryLibrary:
    """The office's own tools, a tool with three versions, and others of servers that are not connected."""
    own = [(name, server.tools) for name, server in office().items()]
    others = (*(("billing.json", [version]) for version in REFUNDS), ("acme.jsonl", REST))
    return library_of(*own, *others)


PRICES = Prices("m", 2e-6, 8e-6, cache_read=0.5e-6, cache_write=2.5e-6, source="a list", date="today")
_PRICING = Pricing(PRICES, PRICES.terms, judges=True)


@cache
def machine() -> Audit:
    """Two configurations that were measured in part, one that was not, and a file that cannot be read."""
    meter = character_meter(200_000)
    many = {
        "tracker": Reading(_tools("tracker", 800), at=1_790_000_000.0),
        "mail": Reading(reason="needs MAIL_TOKEN", hint="Set MAIL_TOKEN."),
    }
    subjects = (
        _subject("Claude Code", "user", "/srv/claude.json", many),
        _subject("Cursor", "project /srv/engine", "/srv/cursor.json", {"crm": Reading(_tools("crm", 4))}),
        _subject("VS Code", "user", "/srv/code.json", {"files": Reading(reason="not approved")}),
    )
    return Audit(
        Basis("m", meter.tokenizer, meter.window, PRICES, terms=PRICES.terms),
        tuple(configuration_audit(subject, meter, _PRICING) for subject in subjects),
        (Problem("Windsurf", "user", "/srv/windsurf.json", "/srv/windsurf.json:2:1: expecting a name"),),
        (),
    )


def skills() -> Inventory:
    """Four skills in two places of a project: one is flawed, one is long, one is in both."""
    everybody = frozenset(RULES)
    own, claude = (
        Place(label, Path(f"/srv/shop/{label}"), frozenset(clients))
        for label, clients in (
            (".agents/skills", everybody - {"claude-code", "continue-cli", "gptme"}),
            (".claude/skills", {"claude-code", "opencode", "copilot-cli", "continue-cli", "fast-agent"}),
        )
    )
    texts = [
        (own, "deploy", "Use it when: somebody deploys the shop"),
        (own, "refunds", f"Refund an order. {'It says who may do that, and up to which amount. ' * 12}"),
        (own, "release-notes", "Write release notes from merged pull requests."),
        (claude, "release-notes", "Write the notes of a release."),
    ]
    found = tuple(
        parse_skill(
            f"---\nname: {name}\ndescription: {about}\n---\nDo it step by step.\n".encode(),
            name,
            place.path / name / "SKILL.md",
            place,
        )
        for place, name, about in texts
    )
    return Inventory.of_folders([found], tuple(RULES.values()))


def _tools(server: str, number: int) -> tuple[Tool, ...]:
    return tuple(
        Tool(server, f"tool_{n}", f"Does thing {n} of {server}, and says so.") for n in range(number)
    )


def _subject(client: str, scope: str, source: str, readings: dict[str, Reading]) -> Subject:
    configuration = Configuration(source, tuple(ServerSpec(name, name) for name in readings))
    return Subject(client, scope, configuration, readings, Settings())


RULE = "Never lend to a reader with fines."
"""The rule at the end of the instructions, which a client that cuts them does not show."""
INSTRUCTIONS = f"The loans of a library.\n{'Open on every weekday. ' * 250}\n{RULE}"
DESCRIPTION = f"Search the catalogue. {'Titles come from every branch. ' * 560}Add reference=true for all."
LONG_NAME = "reserve_" + "for_collection_" * 8 + "later"
COMBINED = {
    "type": "object",
    "properties": {"isbn": {"type": "string", "pattern": "^97[89]", "description": "The title"}},
    "oneOf": [{"required": ["isbn"]}],
}
TOOLS = (
    Tool("town.library", "search_catalogue", DESCRIPTION),
    Tool("town.library", LONG_NAME, "Reserve a title."),
    Tool("town.library", "lend", "Lend a copy.", COMBINED),
    Tool("town.library", "loan.renew", "Renew a loan."),
)


def library() -> dict[str, MemoryServer]:
    """One such server."""
    return {"town.library": MemoryServer(TOOLS, info=ServerInfo("library", instructions=INSTRUCTIONS))}


def graphs_of(tasks: Iterable[TaskCalls]) -> dict[str, InertiaGraph]:
    """A graph for each persona."""
    graphs: dict[str, InertiaGraph] = {}
    for task in tasks:
        graphs.setdefault(task.persona, InertiaGraph()).add(task)
    return graphs
