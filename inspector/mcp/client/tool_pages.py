"""What a server says of itself, and the pages of its tools, as Toolsight's own types."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import repeat
from typing import Any

from mcp import Client, types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace

from inspector.core.definition import with_beside
from inspector.core.error import ProtocolError
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerInfo, SkippedTool, Skipping
from inspector.core.tool import Annotations, Tool, acting_meta, task_support
from inspector.mcp.client.translate import BAD_CURSOR, LISTED, MAX_INSTRUCTIONS, NULL_CURSOR, SKIPPED, summary

_TAG_SPACES = ("fastmcp", "_fastmcp")
_MOST_TAGS, _LONGEST_TAG = 32, 64


def translated(server: str, tool: types.Tool, page: int = 1) -> Tool:
    """Convert the SDK's tool on a page of its server's list to Toolsight's."""
    claims = tool.annotations or types.ToolAnnotations()
    return Tool(
        server=server,
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        annotations=Annotations(
            read_only=claims.read_only_hint,
            destructive=claims.destructive_hint,
            idempotent=claims.idempotent_hint,
            open_world=claims.open_world_hint,
        ),
        output_schema=tool.output_schema,
        title=tool.title or claims.title or "",
        tags=_tags(tool.meta),
        meta=acting_meta(tool.meta),
        task_support=task_support(tool.execution.model_dump(by_alias=True) if tool.execution else None),
        page=page,
    )


def _tags(meta: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The tags that FastMCP puts into a tool's `_meta`, in either of its namespaces, or that stand there."""
    spaces = [meta or {}, *((meta or {}).get(name) for name in _TAG_SPACES)]
    given = [space.get("tags") for space in spaces if isinstance(space, Mapping)]
    tags = (tag for each in given if isinstance(each, list) for tag in each)
    named = {tag.strip()[:_LONGEST_TAG] for tag in tags if isinstance(tag, str) and tag.strip()}
    return tuple(sorted(named)[:_MOST_TAGS])


def server_info(client: Client) -> ServerInfo:
    """What the server says about itself."""
    said = client.server_info
    return ServerInfo(
        name=said.name if said else "",
        version=said.version if said else "",
        protocol=client.protocol_version,
        era=Era.MODERN if client.protocol_version in MODERN_PROTOCOL_VERSIONS else Era.LEGACY,
        instructions=(client.instructions or "").strip()[:MAX_INSTRUCTIONS],
        summary=summary(client.instructions, *((said.title, said.description) if said else ())),
        capabilities=capabilities(client.server_capabilities),
    )


def capabilities(declared: types.ServerCapabilities | None) -> tuple[str, ...]:
    """What the server says it can do, each with what it adds in parentheses: `tools (listChanged)`."""
    known = declared.model_dump(by_alias=True, exclude_none=True, mode="json") if declared else {}
    return tuple(_capability(name, details) for name, details in known.items())


def takes_tasks(declared: types.ServerCapabilities | None) -> bool:
    """Whether the server lets tools be called as tasks (2025-11-25)."""
    requests = declared.tasks.requests if declared is not None and declared.tasks is not None else None
    return requests is not None and requests.tools is not None and requests.tools.call is not None


def _capability(name: str, details: object) -> str:
    extras = [key for key, value in details.items() if value] if isinstance(details, dict) else []
    return f"{name} ({', '.join(extras)})" if extras else name


MAX_PAGES = 5_000
_AGAIN = "listed again; the first one is used"


async def read_pages(
    server: str,
    page: Callable[[str | None], Awaitable[types.ListToolsResult]],
    progress: Callable[[int], None],
) -> ToolListing:
    """The tools of all pages, up to one that lists nothing new: a server may name next pages for ever.

    `page` gives the one at a cursor. A page that fails is skipped, with those after it; `progress` gets the
    number of tools before each further one. Raises what `page` raises for the first.
    """
    tools: dict[str, Tool] = {}
    skipped, again = _Skipped(), _Skipped()
    cursor, lost = None, ""
    for number in range(1, MAX_PAGES + 1):
        known = len(tools) + len(skipped)
        try:
            found = await page(cursor)
        except ProtocolError as error:
            if number == 1:
                raise
            skipped.add(_lost(number, error.message))
            break
        meta = found.meta or {}
        skipped.add(*(SkippedTool(*one) for one in meta.get(SKIPPED, ())))
        for tool, raw in zip(found.tools, meta.get(LISTED) or repeat({}), strict=False):
            if tool.name in tools:
                again.add(SkippedTool(tool.name, _AGAIN, "again", definition=raw))
            else:
                tools[tool.name] = with_beside(translated(server, tool, number), raw)
        cursor, lost = found.next_cursor, meta.get(BAD_CURSOR, "")
        kind: Skipping = "page" if lost else "endless"
        if cursor is not None and len(tools) + len(skipped) == known:
            lost = f"page {number:,} lists nothing new, but names another"
        elif cursor is not None and number == MAX_PAGES:
            lost = f"the tool list has more than {MAX_PAGES:,} pages"
        if lost:
            skipped.add(replace(_lost(number + 1, lost), kind=kind, place="nextCursor"))
        skipped.add(*_odd_cursor(number, cursor, is_null=NULL_CURSOR in meta))
        if lost or cursor is None:
            break
        progress(len(tools))
    return ToolListing(tuple(tools.values()), (*skipped.values(), *again.values()))


class _Skipped(dict[tuple[str, str], SkippedTool]):
    """What was skipped, by name and reason; what is skipped again is counted."""

    def add(self, *ones: SkippedTool) -> None:
        for one in ones:
            known = self.get((one.label, one.reason))
            self[one.label, one.reason] = one if known is None else replace(known, times=known.times + 1)


def _odd_cursor(page: int, cursor: str | None, *, is_null: bool) -> Iterator[SkippedTool]:
    if is_null:
        yield SkippedTool("", "its nextCursor is null, not text", "cursor", number=page)
    elif cursor == "":
        yield SkippedTool("", "its nextCursor is empty, which is no end of the list", "end", number=page)


def _lost(page: int, reason: str) -> SkippedTool:
    return SkippedTool("", f"{reason}; this page and later ones are not listed", "page", number=page)
