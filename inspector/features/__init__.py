"""The features, each in a folder of its own; the shells make pages, commands and help of this list.

Pages of a place and commands of a section stand in its order.
"""

from collections.abc import Iterator

from inspector.core.feature import CommandInfo, Feature
from inspector.features import (
    access,
    agents,
    bench,
    chat,
    check,
    clients,
    cost,
    demo,
    find,
    lab,
    marketplace,
    registry,
    setup,
    tools,
    trace,
)

FEATURES: tuple[Feature, ...] = (
    demo.FEATURE,
    tools.FEATURE,
    find.FEATURE,
    check.FEATURE,
    clients.FEATURE,
    registry.FEATURE,
    marketplace.FEATURE,
    cost.FEATURE,
    chat.FEATURE,
    bench.FEATURE,
    lab.FEATURE,
    trace.FEATURE,
    agents.FEATURE,
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
