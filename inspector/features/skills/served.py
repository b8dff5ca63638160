"""Skills that servers serve: by SEP-2640 (`skills/list`), or as `skill://` resources alone."""

from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from inspector.core.report import COUNT, NAME, NUMBER, Block, Column, Table, cut
from inspector.core.text import one_line
from inspector.features.skills.facts import measured
from inspector.features.skills.rule import RULES
from inspector.mcp.reading import Offer, declares
from inspector.session.workbench import Workbench

_SCHEME, _FILE = "skill://", "/SKILL.md"
_LONGEST = 200
_UNKNOWN_METHOD = "-32601"


class ServedSkill(Struct, frozen=True):
    """A skill as its server lists it, `by` which method; `size` is that of its `files`, in bytes."""

    server: str
    skill: str
    description: str
    uri: str
    by: str
    files: int
    size: int | None

    @classmethod
    def of(cls, server: str, one: Offer) -> "ServedSkill":
        """The skill of an entry."""
        return cls(server, one.name, one.description, one.id, f"{one.list}/list", one.files, one.size)


async def served_skills(bench: Workbench) -> tuple[list[ServedSkill], list[str]]:
    """The skills of each server, and what went wrong. No file of them is read, as SEP-2640 demands."""
    skills, problems = dict[tuple[str, str], ServedSkill](), list[str]()
    for server, state in bench.state.servers.items():
        offers = bench.offers(server)
        if offers is None or state.info is None:
            continue
        # In older revisions no server can say which extensions it has.
        lists = [await offers.listed("skills")]
        lists += [await offers.listed("resources")] if declares(state.info, "resources") else []
        for one in chain.from_iterable(each.offers for each in lists):
            is_file = one.id.startswith(_SCHEME) and one.id.endswith(_FILE) and not one.is_template
            if one.list == "skills" or is_file:
                skills.setdefault((server, one.id), ServedSkill.of(server, one))
        told = chain.from_iterable(each.troubles for each in lists)
        problems += (f"{server}: {one}" for one in told if _UNKNOWN_METHOD not in one)
    return list(skills.values()), problems


_SERVED = (
    Column("server", kind=NAME),
    Column("skill"),
    Column("description", lambda one: cut(one_line(one.description), _LONGEST)),
    Column("files", lambda one: one.files or None, NUMBER),
    Column("bytes", "size", COUNT),
    Column("listed by", "by"),
)


def served_report(skills: list[ServedSkill], problems: list[str]) -> Iterator[Block]:
    """What servers serve, and who shows it."""
    if skills:
        yield Table.of(_SERVED, skills)
        yield f"served, shown by no client of those measured: {measured(RULES.values())}"
    else:
        yield "No server serves skills: none lists any by skills/list or as skill:// resources."
    yield from problems
