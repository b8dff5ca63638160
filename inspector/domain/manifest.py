"""The server manifest and the `search_tools` definition that carries it (PRD sections 2.2 and 2.3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.domain.manifest_form import ManifestEntry, ManifestForms
from inspector.domain.search_offer import SearchOffer
from inspector.domain.settings import ManifestSettings
from inspector.domain.tool import Tool, function_definition

SEARCH_TOOLS = "search_tools"
_PURPOSE = (
    "Search for and load tool definitions from available MCP servers. "
    "Use this before calling a tool that isn't currently loaded."
)
_ADVICE = (
    "All tools are loaded already and can be called at once. "
    "Use this to find out which of them is the right one for a task."
)


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
    """Shorten the manifest to at most `settings.max_tokens` tokens, see ManifestForms; 0 means no limit.

    Only the bare header may exceed the limit. A larger budget never shows less, whatever `count` is: the
    binary search takes the same steps until the larger budget takes the longer half.
    """
    if not servers:
        return Manifest("", 0, ())
    forms = ManifestForms(servers, settings)
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


def search_tools_definition(
    manifest: str, offer: SearchOffer | None = None, *, advisory: bool = False
) -> dict[str, Any]:
    """The meta-tool of PRD section 2.3, as an entry in the `tools` array.

    Without an `offer` it is that of the default settings. The advisory form is for sessions in which every
    tool is loaded. An empty manifest is left out.
    """
    purpose = _ADVICE if advisory else _PURPOSE
    description = f"{purpose}\n\n<manifest>\n{manifest}\n</manifest>" if manifest else purpose
    parameters = (offer or SearchOffer()).parameters(advisory=advisory)
    return function_definition(SEARCH_TOOLS, description, parameters)
