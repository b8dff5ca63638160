"""The server manifest and the `search_tools` definition that carries it (PRD sections 2.2 and 2.3).

A manifest over its token budget is shortened by these rules in order. Each rule is applied to the servers
from the last to the first, and only as far as needed:

1. a summary is cut to its first sentence, and that to 80 characters;
2. a summary is left out;
3. a server lists at most `listed_of_many` names, if that is shorter;
4. a server lists no names, only their number;
5. a server is left out, and the last line says how many are.

If not even one server fits, the header alone gives the number of servers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.domain.number import plural
from inspector.domain.settings import ManifestSettings
from inspector.domain.summary_pool import first_sentence, one_line, shortened, without_breaks
from inspector.domain.tool import Tool, function_definition

SEARCH_TOOLS = "search_tools"
_HEADER = "Available tool servers (use this tool to load their definitions):"
_PURPOSE = (
    "Search for and load tool definitions from available MCP servers. "
    "Use this before calling a tool that isn't currently loaded."
)
_ADVICE = (
    "All tools are loaded already and can be called at once. "
    "Use this to find out which of them is the right one for a task."
)
_SENTENCE_LIMIT = 80
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": (
                "Natural language capability search across all deferred tools "
                "(e.g. 'create a calendar event'). Uses keyword matching."
            ),
        },
        "server_name": {"type": "string", "description": "Filter results to a specific server by name."},
        "tool_names": {
            "type": "array",
            "items": {"type": "string"},
            "description": (
                "Load specific tools by exact name. "
                "Most token-efficient when you know the tool name from the manifest."
            ),
        },
    },
}
_ADVICE_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What the tool has to do, in natural language (e.g. 'create a calendar event').",
        },
        "server_name": {"type": "string", "description": "Only tools of this server."},
        "tool_names": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Only the tools of exactly these names.",
        },
    },
}


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One server in the manifest: its name, its permitted deferred tools, and a one-line summary."""

    server: str
    tools: tuple[str, ...]
    summary: str = ""


def entries(deferred: Iterable[Tool], summaries: Mapping[str, str]) -> tuple[ManifestEntry, ...]:
    """Group deferred tools by server, in catalog order."""
    names: dict[str, list[str]] = {}
    for tool in deferred:
        names.setdefault(tool.server, []).append(tool.name)
    return tuple(ManifestEntry(s, tuple(tools), summaries.get(s, "")) for s, tools in names.items())


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest, its tokens, and the rules that shortened it, in words and in order."""

    text: str
    tokens: int
    rules: tuple[str, ...]


def fitted_manifest(
    servers: Sequence[ManifestEntry], settings: ManifestSettings, count: Callable[[str], int]
) -> Manifest:
    """Shorten the manifest to at most `settings.max_tokens` tokens by the rules above; 0 means no limit.

    Only the bare header may exceed the limit. A larger budget never shows less, whatever `count` is: the
    binary search takes the same steps until the larger budget takes the longer half.
    """
    if not servers:
        return Manifest("", 0, ())
    forms = _Forms(servers, settings)
    text = forms.text(0)
    tokens = count(text)
    if not settings.max_tokens or tokens <= settings.max_tokens:
        return Manifest(text, tokens, ())
    low, high = 1, forms.steps
    while low < high:
        middle = (low + high) // 2
        if count(forms.text(middle)) <= settings.max_tokens:
            high = middle
        else:
            low = middle + 1
    text = forms.text(high)
    return Manifest(text, count(text), forms.rules(high))


class _Forms:
    """Every form of a manifest, from 0 steps (complete) to `steps` (the header alone).

    Each step applies one rule to one server.
    """

    def __init__(self, servers: Sequence[ManifestEntry], settings: ManifestSettings) -> None:
        self._few = settings.listed_of_many
        self._servers = [_server_forms(entry, settings) for entry in servers]
        self._shortenings = [
            (rule, position)
            for rule in range(1, 5)
            for position in reversed(range(len(servers)))
            if self._servers[position][rule] != self._servers[position][rule - 1]
        ]
        self.steps = len(self._shortenings) + len(servers)

    def text(self, steps: int) -> str:
        rules = [0] * len(self._servers)
        for rule, position in self._shortenings[:steps]:
            rules[position] = rule
        left_out = self._left_out(steps)
        kept = len(rules) - left_out
        if left_out and not kept:
            return f"{_HEADER} {_counted(left_out, 'server')}"
        shown = [forms[rule] for forms, rule in zip(self._servers[:kept], rules[:kept], strict=True)]
        return "\n\n".join([_HEADER, *shown, *([_more(left_out)] if left_out else [])])

    def rules(self, steps: int) -> tuple[str, ...]:
        """What the first `steps` steps did, one text per rule."""
        texts = []
        for rule in range(1, 5):
            done = sum(applied == rule for applied, _ in self._shortenings[:steps])
            total = sum(applied == rule for applied, _ in self._shortenings)
            if done:
                texts.append(_rule_text(rule, done, total, self._few))
        left_out = self._left_out(steps)
        if left_out:
            texts.append(f"{left_out} of {_counted(len(self._servers), 'server')} left out")
        return tuple(texts)

    def _left_out(self, steps: int) -> int:
        return max(0, steps - len(self._shortenings))


def _server_forms(entry: ManifestEntry, settings: ManifestSettings) -> tuple[str, ...]:
    """The entry in full, and after each of rules 1 to 4."""
    few = settings.listed_of_many
    listed = len(entry.tools) if len(entry.tools) <= settings.listed_in_full else few
    # If `listed_of_many` is 0, rule 3 would do the same as rule 4.
    fewer = min(listed, few) if few else listed
    line, with_few = _line(entry, listed), _line(entry, fewer)
    summary = one_line(entry.summary)
    sentence = shortened(first_sentence(entry.summary) or summary, _SENTENCE_LIMIT)
    return (
        f"{line}\n  {summary}" if summary else line,
        f"{line}\n  {sentence}" if summary else line,
        line,
        min(line, with_few, key=len),
        _line(entry, 0),
    )


def _line(entry: ManifestEntry, listed: int) -> str:
    names = [without_breaks(name) for name in entry.tools[:listed]]
    line = f"- {without_breaks(entry.server)} ({_counted(len(entry.tools), 'tool')})"
    rest = len(entry.tools) - len(names)
    if not names:
        return line
    return f"{line}: {', '.join(names)}" + (f", ... and {rest} more" if rest else "")


def _more(servers: int) -> str:
    return f"... and {servers} more {plural(servers, 'server')}; search to find their tools"


def _counted(number: int, noun: str) -> str:
    return f"{number} {plural(number, noun)}"


def _rule_text(rule: int, done: int, total: int, few: int) -> str:
    everywhere, partly = {
        1: ("summaries cut to their first sentence", "long summaries cut to their first sentence"),
        2: ("summaries left out", "summaries left out"),
        3: (
            f"servers with more than {_counted(few, 'tool')} list {few} of them",
            f"servers that listed more than {_counted(few, 'tool')} list {few} of them",
        ),
        4: ("servers list none of their tools", "servers list none of their tools"),
    }[rule]
    return everywhere if done == total else f"the last {done} of {total} {partly}"


def search_tools_definition(manifest: str, *, advisory: bool = False) -> dict[str, Any]:
    """The meta-tool of PRD section 2.3, as an entry in the `tools` array.

    The advisory form is for sessions in which every tool is loaded. An empty manifest is left out.
    """
    purpose = _ADVICE if advisory else _PURPOSE
    description = f"{purpose}\n\n<manifest>\n{manifest}\n</manifest>" if manifest else purpose
    return function_definition(SEARCH_TOOLS, description, _ADVICE_PARAMETERS if advisory else _PARAMETERS)
