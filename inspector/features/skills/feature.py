"""Skills of folders and of servers, and what clients make of them."""

from inspector.core.feature import CommandInfo, Feature

FEATURE = Feature(
    "skills",
    commands=(CommandInfo("skills", "command:skills", "See"),),
    compose="catalog:compose",
    lends={"skill place": "measured:place_of", "skills measured": "measured:compared"},
)
