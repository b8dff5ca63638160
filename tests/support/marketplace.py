"""A small marketplace for tests: a plugin that converts money, one for plants, and one that needs a key."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from inspector.core.package_run import PackageKind
from inspector.core.report import Fact
from inspector.core.tool import Tool
from inspector.features.marketplace.facts import installation_facts
from inspector.features.marketplace.marketplace import marketplace_of, with_marketplace
from inspector.features.marketplace.plugin import Package, Plugin, PluginTool, Variable
from inspector.features.marketplace.reader import Catalogs, read_catalog
from inspector.session.assembly import Ports
from inspector.session.server_change import NO_VALUES
from inspector.session.workbench import Workbench
from tests.support.memory_servers import MemoryEditor, MemoryServer
from tests.support.workbench import READS, Compose, shop_and_weather

RATES = "exchange rate of the euro"


def plugin(name: str, description: str, *tools: PluginTool, **package: object) -> Plugin:
    """A plugin that is started by a command of its own name."""
    known = {
        "kind": PackageKind.MODULE,
        "identifier": name,
        "command": f"run-{name}",
        "args": (f"{name}.py",),
    }
    return Plugin(
        name,
        description,
        Package(**(known | package)),  # type: ignore[arg-type]
        category="test",
        price=0.0,
        rating=4.5,
        publisher="Somebody",
        origin="tests",
        version="1.2.3",
        tools=tools,
    )


CURRENCY = plugin(
    "currency",
    "Converts money between currencies at the exchange rate of the day.",
    PluginTool("convert_currency", "Convert an amount of euro or dollar at the exchange rate."),
)
PLANTS = plugin("plants", "Says when to water which plant.", PluginTool("watering_plan", "When to water."))
KEYED = plugin(
    "keyed",
    "Quotes of shares.",
    PluginTool("get_quote", "The price of a share."),
    variables=(Variable("QUOTE_TOKEN", "The key of your account", required=True, secret=True),),
)


def money_server() -> MemoryServer:
    """What runs once the currency plugin is installed."""
    about = "Convert an amount of euro or dollar at the exchange rate."
    return MemoryServer([Tool("currency", "convert_currency", about, annotations=READS)])


def servers_and_money(**more: MemoryServer) -> dict[str, MemoryServer]:
    """The usual servers, and those that a plugin may start."""
    return {**shop_and_weather(), "currency": money_server(), **more}


def market(*plugins: Plugin, editor: MemoryEditor | None = None, problems: Sequence[str] = ()) -> Compose:
    """What puts a marketplace with these plugins, by default the three of this module, into the ports."""
    found = Catalogs(plugins or (CURRENCY, PLANTS, KEYED), tuple(problems))

    def compose(ports: Ports) -> Ports:
        return with_marketplace(replace(ports, editor=editor or MemoryEditor()), lambda _files: found)

    return compose


def facts_of(bench: Workbench, name: str, values: Mapping[str, str] = NO_VALUES) -> tuple[Fact, ...]:
    """What a person reads before a plugin is installed."""
    market = marketplace_of(bench)
    return installation_facts(market.find(name), market.plan(name, values))


def shipped_market() -> Compose:
    """The demo's catalog, on a machine whose places are always the same."""
    places = {"TOOLSIGHT_PYTHON": "/usr/bin/python3", "TOOLSIGHT_FIXTURES": "/opt/toolsight"}
    path = Path(__file__).resolve().parents[2] / "fixtures" / "marketplace" / "catalog.json"
    text = '{\n  "mcpServers": {\n    "shop": {"command": "shop"}\n  }\n}\n'
    return market(*read_catalog(path, places).plugins, editor=MemoryEditor(text))
