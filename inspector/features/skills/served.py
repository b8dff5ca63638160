"""Skills that servers serve: by SEP-2640 (`skills/list`, `skills/get`), or as `skill://` resources alone."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from inspector.core.error import ToolsightError
from inspector.core.report import COUNT, NAME, NUMBER, Block, Column, Table, cut
from inspector.core.text import one_line
from inspector.features.skills.facts import measured
from inspector.features.skills.rule import RULES
from inspector.mcp.reading import Offers, declares
from inspector.schema.json_value import as_object, as_objects, as_text
from inspector.session.workbench import Workbench

_SCHEME, _FILE = "skill://", "/SKILL.md"
_MOST_PAGES, _LONGEST = 100, 200
_LISTS = (("skills/list", "skills"), ("resources/list", "resources"))


class ServedSkill(Struct, frozen=True):
    """A skill as its server lists it, `by` which method. It may leave out `files` and their `bytes`."""

    server: str
    skill: str
    description: str
    uri: str
    by: str
    files: int | None = None
    bytes: int | None = None


async def served_skills(bench: Workbench) -> tuple[list[ServedSkill], list[str]]:
    """The skills of each server, and what went wrong. No file of them is read, as SEP-2640 demands."""
    skills, problems = dict[tuple[str, str], ServedSkill](), list[str]()
    for server, state in bench.state.servers.items():
        offers = bench.offers(server)
        for method, key in _LISTS:
            # Which extensions there are, a server that speaks an older revision may not be able to say.
            if offers is None or (key == "resources" and not (state.info and declares(state.info, key))):
                continue
            try:
                for one in await _listed(offers, server, method, key):
                    skills.setdefault((server, one.uri), one)
            except ToolsightError as error:
                if "-32601" not in error.message:
                    problems.append(f"{server}: {error.message}")
    return list(skills.values()), problems


async def _listed(offers: Offers, server: str, method: str, key: str) -> list[ServedSkill]:
    """The skills of all pages, up to one whose cursor was there before."""
    found, params, seen = list[ServedSkill](), dict[str, Any](), set[str]()
    for _ in range(_MOST_PAGES):
        page = await offers.link.request(method, params, timeout=offers.seconds)
        found += filter(None, (_read(server, method, entry) for entry in as_objects(page.get(key))))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen:
            break
        seen.add(cursor)
        params = {"cursor": cursor}
    return found


def _read(server: str, method: str, entry: dict[str, Any]) -> ServedSkill | None:
    """The skill of an entry; None for a resource that is none."""
    uri, told = as_text(entry.get("uri")), as_object(entry.get("frontmatter")) or entry
    name = as_text(told.get("name")) or uri.removesuffix(_FILE).rpartition("/")[2]
    found = ServedSkill(server, name, as_text(told.get("description")), uri, method)
    if method == "resources/list":
        return found if uri.startswith(_SCHEME) and uri.endswith(_FILE) else None
    if not isinstance(entry.get("resources"), list):
        return found
    files = as_objects(entry["resources"])
    size = sum(file["size"] for file in files if isinstance(file.get("size"), int))
    return ServedSkill(server, name, found.description, uri, method, len(files), size)


_SERVED = (
    Column("server", kind=NAME),
    Column("skill"),
    Column("description", lambda one: cut(one_line(one.description), _LONGEST)),
    Column("files", kind=NUMBER),
    Column("bytes", kind=COUNT),
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
