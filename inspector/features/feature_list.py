"""The features; the shells make pages, commands and help of this list.

Pages of a place and commands of a section stand in its order.
"""

from collections.abc import Iterator

from inspector.core.feature import CommandInfo, Feature
from inspector.features.access import feature as access
from inspector.features.agents import feature as agents
from inspector.features.bench import feature as bench
from inspector.features.chat import feature as chat
from inspector.features.check import feature as check
from inspector.features.clients import feature as clients
from inspector.features.cost import feature as cost
from inspector.features.demo import feature as demo
from inspector.features.gateway import feature as gateway
from inspector.features.lab import feature as lab
from inspector.features.marketplace import feature as marketplace
from inspector.features.registry import feature as registry
from inspector.features.search import feature as find
from inspector.features.setup import feature as setup
from inspector.features.skills import feature as skills
from inspector.features.tools import feature as tools
from inspector.features.trace import feature as trace

FEATURES: tuple[Feature, ...] = (
    demo.FEATURE,
    tools.FEATURE,
    find.FEATURE,
    check.FEATURE,
    clients.FEATURE,
    skills.FEATURE,
    registry.FEATURE,
    marketplace.FEATURE,
    cost.FEATURE,
    chat.FEATURE,
    bench.FEATURE,
    lab.FEATURE,
    trace.FEATURE,
    agents.FEATURE,
    gateway.FEATURE,
    setup.FEATURE,
    access.FEATURE,
)


def commands_of(group: str) -> Iterator[tuple[str, CommandInfo, Feature]]:
    """The commands of a group by their last word; those of the program if it is ""."""
    for feature in FEATURES:
        for command in feature.commands:
            above, _, word = command.words.rpartition(" ")
            if above == group:
                yield word, command, feature
