"""A small marketplace for tests: a plugin that converts money, one for plants, and one that needs a key."""

from collections.abc import Sequence
from pathlib import Path

from inspector.core.package_run import PackageKind
from inspector.core.tool import Tool
from inspector.features.marketplace.marketplace import Catalogs, MarketplacePorts
from inspector.features.marketplace.plugin import Package, Permissions, Plugin, PluginTool, Variable
from inspector.features.marketplace.reader import read_catalog
from tests.support.memory_servers import MemoryEditor, MemoryServer
from tests.support.workbench import READS, shop_and_weather

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
        permissions=Permissions(files="none"),
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


def market(
    *plugins: Plugin, editor: MemoryEditor | None = None, problems: Sequence[str] = ()
) -> MarketplacePorts:
    """The ports of a marketplace with these plugins, by default the three of this module."""
    found = Catalogs(plugins or (CURRENCY, PLANTS, KEYED), tuple(problems))
    return MarketplacePorts(lambda _files: found, editor or MemoryEditor())


def shipped_market() -> MarketplacePorts:
    """The demo's catalog, on a machine whose places are always the same."""
    places = {"TOOLSIGHT_PYTHON": "/usr/bin/python3", "TOOLSIGHT_FIXTURES": "/opt/toolsight"}
    path = Path(__file__).resolve().parents[2] / "fixtures" / "marketplace" / "catalog.json"
    text = '{\n  "mcpServers": {\n    "shop": {"command": "shop"}\n  }\n}\n'
    return market(*read_catalog(path, places).plugins, editor=MemoryEditor(text))
