"""Skills as entries of the catalog, beside tools: found by a search, and read by a call."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace

from inspector.cli.options import Options
from inspector.core.error import ProtocolError
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import ServerInfo, ServerSpec, SkippedTool
from inspector.core.tool import SKILL, Annotations, Tool
from inspector.mcp.port import Connector, Opening, ServerLink, ignored
from inspector.mcp.reading import Offer, Offers, declares
from inspector.mcp.recorded_link import PassedOn, RecordedLink
from inspector.schema.json_value import JsonObject
from inspector.session.assembly import Ports

if TYPE_CHECKING:
    from inspector.features.skills.skill import Skill

_SCHEME, _FILE = "skill://", "/SKILL.md"
_UNKNOWN_METHOD = "-32601"
_READS = Annotations(read_only=True)
# Of a skill that a server serves, so that none has the name of a tool of its.
_PREFIX = "skill-"
_CHANGED = "If the server has changed it, reconnect: that lists it anew. If not, do not use this skill."


def compose(_options: Options, ports: Ports) -> Ports:
    """The ports, with skills where the configuration wants them."""
    return replace(ports, connector=WithSkills(ports.connector))


class WithSkills:
    """A Connector that lists skills, those of a folder and those of servers; all else is another one's."""

    def __init__(self, others: Connector) -> None:
        self._others = others

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if spec.is_skills:
            yield _FolderLink(spec)
            return
        async with self._others.connect(spec, opening) as link:
            yield _ServedLink(link, spec) if spec.skills else link


def _entry(server: str, name: str, description: str, place: str) -> Tool:
    no_arguments: JsonObject = {"type": "object", "properties": {}}
    return Tool(server, name, description, no_arguments, _READS, tags=("skill",), meta={SKILL: place})


class _FolderLink(RecordedLink):
    """The skills of a folder and of HOME, read anew at each call; of one name the project's counts."""

    def __init__(self, spec: ServerSpec) -> None:
        super().__init__(ServerInfo(spec.name, protocol="skills"), ())
        self._folder = Path(spec.listing)
        self._found: dict[str, Skill] = {}

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:  # noqa: ARG002
        """See `ServerLink`. What no client could show is skipped."""
        from inspector.features.skills.inventory import Inventory
        from inspector.features.skills.rule import RULES

        rules = tuple(RULES.values())
        inventory = await asyncio.to_thread(Inventory.of, self._folder, Path.home(), rules)
        named = {name: skills[0] for name, skills in inventory.by_name().items()}
        self._found = {name: one for name, one in named.items() if one.description}
        skipped = (
            SkippedTool(name, str(next(iter(one.flaws), "it has no description")))
            for name, one in named.items()
            if name not in self._found
        )
        entries = (
            _entry(self.info.name, name, one.description, str(one.path)) for name, one in self._found.items()
        )
        return ToolListing(tuple(entries), tuple(skipped))

    async def call(
        self,
        tool: str,
        arguments: JsonObject,  # noqa: ARG002 - a skill has none
        *,
        timeout: float,  # noqa: ARG002
        on_task: OnTask = ignored,  # noqa: ARG002
    ) -> ToolResult:
        """Its body as it is now, under its folder, to which the paths in it relate."""
        known = self._found[tool]
        try:
            text = await asyncio.to_thread(known.path.read_bytes)
        except OSError as error:
            raise ProtocolError(f"the skill cannot be read: {error}") from error
        return _instructions(text, f"Folder of this skill: {known.path.parent}")


class _ServedLink(PassedOn):
    """A link whose server's skills are listed behind its tools, and read as resources when called."""

    _spec: ServerSpec
    _offers: dict[str, Offer] = field(default_factory=dict)

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        listing = await self._link.list_tools(progress)
        skills, problems = await skills_of(Offers(self._link, self._spec.call_timeout), self.info)
        taken = {tool.name for tool in listing.tools}
        named = {f"{_PREFIX}{one.name}": one for one in skills}
        self._offers = {name: one for name, one in named.items() if name not in taken}
        entries = (
            _entry(self._spec.name, name, one.description, one.id) for name, one in self._offers.items()
        )
        skipped = tuple(SkippedTool("skills/list", one) for one in problems)
        return ToolListing((*listing.tools, *entries), (*listing.skipped, *skipped))

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        offer = self._offers.get(tool)
        if offer is None:
            return await self._link.call(tool, arguments, timeout=timeout, on_task=on_task)
        read = await Offers(self._link, timeout).read(offer.id)
        if offer.digest and read.digest != offer.digest:
            told = f"{offer.id} is not what its server listed: its digest is {read.digest or 'unknown'}"
            raise ProtocolError(f"{told}, not {offer.digest}", hint=_CHANGED)
        return _instructions(read.counted.text.encode(), f"Address of this skill: {offer.id}")


def _instructions(data: bytes, where: str) -> ToolResult:
    """What a model reads that loads a skill: its body, as long as a tool's result may be."""
    from inspector.features.skills.skill import Place, parse_skill
    from inspector.mcp.client.translate import tool_result

    body = parse_skill(data, "", Path(), Place("", Path(), frozenset())).body.strip()
    content: list[Any] = [{"type": "text", "text": f"{where}\n\n{body}"}]
    return tool_result({"content": content})


async def skills_of(offers: Offers, info: ServerInfo) -> tuple[Sequence[Offer], list[str]]:
    """The skills that a server lists, and what went wrong. No file of them is read, as SEP-2640 demands."""
    # In older revisions no server can say which extensions it has.
    lists = [await offers.listed("skills")]
    lists += [await offers.listed("resources")] if declares(info, "resources") else []
    skills = dict[str, Offer]()
    for one in chain.from_iterable(each.offers for each in lists):
        is_file = one.id.startswith(_SCHEME) and one.id.endswith(_FILE) and not one.is_template
        if one.list == "skills":
            skills.setdefault(one.id, one)
        elif is_file:
            # Its own name is a title, or the file's.
            folder = one.id.removesuffix(_FILE).rpartition("/")[2]
            skills.setdefault(one.id, replace(one, name=folder))
    told = chain.from_iterable(each.troubles for each in lists)
    return list(skills.values()), [one for one in told if _UNKNOWN_METHOD not in one]
