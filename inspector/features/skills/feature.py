"""Skills of folders and of servers, and what clients make of them."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.features.skills.inventory import Inventory
    from inspector.session.workbench import Workbench

SKILLS: "Part[Callable[[], Inventory]]" = Part(beside_session=True)


def has_skills(_bench: "Workbench", parts: Parts) -> bool:
    """Whether there is a skill where a client looks."""
    read = parts.get(SKILLS)
    return read is not None and bool(read().skills)


FEATURE = Feature(
    "skills",
    pages=(
        PageInfo(
            "skills",
            "skills",
            "What real clients list of your skills, and what that costs.",
            "tools",
            at="page:SkillsScreen",
            has_content=has_skills,
        ),
    ),
    commands=(CommandInfo("skills", "command:skills", "See", shows=("skills",)),),
    compose="catalog:compose",
    provide="command:provide",
    lends={
        "skill lists": "facts:list_costs",
        "skill place": "measured:place_of",
        "skills measured": "measured:compared",
        "skill findings": "facts:check_findings",
    },
)
