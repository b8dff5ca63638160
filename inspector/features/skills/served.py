"""Skills that servers serve: by SEP-2640 (`skills/list`), or as `skill://` resources alone."""

from collections.abc import Iterator
from typing import Any

from inspector.core.report import COUNT, NAME, NUMBER, Block, Column, Table
from inspector.features.skills.catalog import skills_of
from inspector.features.skills.facts import measured, shortened
from inspector.features.skills.rule import RULES
from inspector.mcp.reading import Offer
from inspector.session.workbench import Workbench

ServedSkill = tuple[str, Offer]
"""A skill behind the name of its server."""


async def served_skills(bench: Workbench) -> tuple[list[ServedSkill], list[str]]:
    """The skills of each server, and what went wrong."""
    skills, problems = list[ServedSkill](), list[str]()
    for server, state in bench.state.servers.items():
        offers = bench.offers(server)
        if offers is None or state.info is None:
            continue
        found, told = await skills_of(offers, state.info)
        skills += ((server, one) for one in found)
        problems += (f"{server}: {one}" for one in told)
    return skills, problems


def served_json(server: str, one: Offer) -> dict[str, Any]:
    """A skill as its server lists it; its `bytes` are those of its files."""
    told = {"server": server, "skill": one.name, "description": one.description, "uri": one.id}
    return {**told, "by": f"{one.list}/list", "files": one.files, "bytes": one.size}


_SERVED = (
    Column("server", lambda pair: pair[0], NAME),
    Column("skill", lambda pair: pair[1].name),
    Column("description", lambda pair: shortened(pair[1].description)),
    Column("files", lambda pair: pair[1].files or None, NUMBER),
    Column("bytes", lambda pair: pair[1].size, COUNT),
    Column("listed by", lambda pair: f"{pair[1].list}/list"),
)


def served_report(skills: list[ServedSkill], problems: list[str]) -> Iterator[Block]:
    """What servers serve, and who shows it."""
    if skills:
        yield Table.of(_SERVED, skills)
        yield f"served, shown by no client of those measured: {measured(RULES.values())}"
    else:
        yield "No server serves skills: none lists any by skills/list or as skill:// resources."
    yield from problems
