"""Trust as facts: hidden characters, names that collide, descriptions of other servers' tools.

Nothing here judges words. Rules over words find few poisoned descriptions and accuse many benign servers.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from inspector.config.suspect import skeleton
from inspector.core.number import count
from inspector.core.text import shortened
from inspector.core.tool import Tool, wire_name
from inspector.features.check.finding import Finding, Stage, rules
from inspector.schema.schema import fields

RULES = rules(
    Stage.TRUST,
    """
    hidden-characters | error | Hidden characters
      A model reads what no person sees, or sees in another order. Remove these characters.
    look-alike-name | warning | Names that look alike
      A name in other letters passes for another tool or server. Use plain letters.
    names-other-server | warning | A description names another server's tool
      A description can steer how tools of other servers are used. Read it, or describe only the own tool.
    """,
)
HIDDEN, LOOK_ALIKE, OTHER_SERVER = RULES

# Most places and names that a finding tells; the rest is counted.
_MOST_TOLD = 8
_QUOTED = 120
_PLAIN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[\w-]+(?::[\w-]+)?")
# A name of several words is no word of a sentence.
_HAS_PARTS = re.compile(r"[A-Za-z0-9][_-][A-Za-z0-9]|[a-z][A-Z]")

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_UNUSUAL = re.compile(r"[^ -~\n\t\r]")
_JOINERS, _STYLES = frozenset("\u200c\u200d"), frozenset("\ufe0e\ufe0f")
_KEYCAPS, _SYMBOLS = frozenset("#*0123456789"), frozenset({"So", "Sm", "Po"})
_TAGS = range(0xE0020, 0xE007F)


class Hidden(Struct, frozen=True):
    """A hidden character of a definition: where it stands, and after how many characters (from 0)."""

    where: str
    position: int
    character: str

    @property
    def text(self) -> str:
        """Its place, code point and name."""
        name = unicodedata.name(self.character, "") or unicodedata.category(self.character)
        return f"{self.where}, character {self.position + 1:,}: U+{ord(self.character):04X} {name}"


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing, or changes the order of what is shown."""
    return unicodedata.category(character) in _HIDDEN or _BLANK.match(character) is not None


def hidden_in(where: str, text: str) -> Iterator[Hidden]:
    """The hidden characters of a text.

    Line ends and tabs are none, nor is what joins emoji or letters of scripts that are written joined.
    """
    for found in _UNUSUAL.finditer(text):
        if is_hidden(found[0]) and not _is_joining(text, found.start()):
            yield Hidden(where, found.start(), found[0])


def _is_joining(text: str, position: int) -> bool:
    """Whether a character does there what it is for: style a symbol, or join it or a letter with the next."""
    character, before, after = (
        text[position],
        text[position - 1 : position],
        text[position + 1 : position + 2],
    )
    if character in _STYLES:
        return before in _KEYCAPS or (before != "" and unicodedata.category(before) in _SYMBOLS)
    is_between = not (before.isascii() or after.isascii() or is_hidden(after))
    return character in _JOINERS and is_between and (before in _STYLES or not is_hidden(before))


def hidden_characters(tool: Tool) -> Iterator[Hidden]:
    """The hidden characters of all texts of a definition."""
    for where, text in _texts(tool):
        yield from hidden_in(where, text)


def _texts(tool: Tool) -> Iterator[tuple[str, str]]:
    """Every text of a definition with its place; without recursion, as schemas may be deep."""
    yield from (("name", tool.name), ("title", tool.title), ("description", tool.description))
    waiting: list[tuple[str, object]] = [
        ("outputSchema", tool.output_schema),
        ("inputSchema", tool.input_schema),
        ("tags", tool.tags),
        ("_meta", tool.meta),
    ]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, Mapping):
            yield from ((f"a key of {path}", str(key)) for key in item)
            waiting += [(f"{path}.{key}", item[key]) for key in item]
        elif isinstance(item, list | tuple):
            waiting += [(f"{path}[{number}]", one) for number, one in enumerate(item)]


def hidden_text(hidden: Sequence[Hidden]) -> str:
    """Where the characters stand; and what they spell, where they stand for letters."""
    spelled = "".join(chr(ord(one.character) - 0xE0000) for one in hidden if ord(one.character) in _TAGS)
    said = f"; they spell “{shortened(spelled, _QUOTED)}”" if spelled else ""
    return _listed([one.text for one in hidden]) + said


def _listed(texts: Sequence[str]) -> str:
    """The first of the texts, and how many more there are."""
    more = len(texts) - _MOST_TOLD
    return "; ".join((*texts[:_MOST_TOLD], *((f"and {more:,} more",) if more > 0 else ())))


def trust_findings(tools: Sequence[Tool], instructions: Mapping[str, str]) -> Iterator[Finding]:
    """The facts about whole catalogs and across servers; `instructions` are those of each server."""
    for server, text in instructions.items():
        yield from _hidden(server, "", list(hidden_in("instructions", text)))
    for tool in tools:
        yield from _hidden(tool.server, tool.name, list(hidden_characters(tool)))
    yield from _look_alikes(tools)
    yield from _other_servers(tools, instructions)


def _hidden(server: str, tool: str, hidden: Sequence[Hidden]) -> Iterator[Finding]:
    if hidden:
        what = "The definition has" if tool else "The instructions have"
        message = f"{what} {count(len(hidden), 'hidden character')}."
        yield Finding(HIDDEN, server, tool, message, hidden_text(hidden))


def _look_alikes(tools: Sequence[Tool]) -> Iterator[Finding]:
    """Names that pass for others: written with letters of other scripts, or with digits for letters."""
    servers = dict.fromkeys((tool.server, "") for tool in tools)
    names = dict.fromkeys((tool.server, tool.name) for tool in tools)
    for group in (servers, names):
        alike: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for server, tool in group:
            alike[skeleton(tool or server)].append((server, tool))
        for found in alike.values():
            for server, tool in found:
                name = tool or server
                others = [one for one in found if one[0] != server and _differs(name, one[1] or one[0])]
                if others or _is_disguised(name):
                    yield _look_alike(server, tool, others)


def _look_alike(server: str, tool: str, others: Sequence[tuple[str, str]]) -> Finding:
    ids = [f"{other}:{name}" if name else other for other, name in others]
    strange = [one for one in dict.fromkeys(tool or server) if not one.isascii()]
    proof = [f"U+{ord(one):04X} {unicodedata.name(one, '?')}" for one in strange]
    message = f"Its name looks like {_listed(ids)}." if ids else "Its name passes for one in plain letters."
    return Finding(LOOK_ALIKE, server, tool, message, _listed(proof))


def _differs(one: str, other: str) -> bool:
    """Whether names that look alike differ in more than case and signs."""
    return _PLAIN.sub("", one).casefold() != _PLAIN.sub("", other).casefold()


def _is_disguised(name: str) -> bool:
    """Whether letters of other scripts stand in a name where plain ones could, and no others do."""
    strange = [one for one in name if not one.isascii() and one.isalnum()]
    return bool(strange) and all(map(skeleton, strange))


def _other_servers(tools: Sequence[Tool], instructions: Mapping[str, str]) -> Iterator[Finding]:
    """Texts that name a tool of another server, by an id or by a name that can mean nothing else.

    What several servers have can, as can a parameter of the tool, or one of its choices.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    for tool in tools:
        for name in (tool.id, wire_name(tool.server, tool.name), tool.name):
            if name != tool.name or _HAS_PARTS.search(name):
                owners[name].add(tool.server)
    for tool in tools:
        own = {str(word) for one in fields(tool.input_schema) for word in (one.name, *one.choices)}
        yield from _naming(tool.server, tool.name, tool.description, owners, own)
    for server, text in instructions.items():
        yield from _naming(server, "", text, owners)


def _naming(
    server: str, tool: str, text: str, owners: Mapping[str, Set[str]], own: Set[str] = frozenset()
) -> Iterator[Finding]:
    """Names of other servers' tools in a text; those of its own server's tools and parameters mean these."""
    words = (word for word in dict.fromkeys(_WORD.findall(text)) if word not in own)
    found = ((word, *owners[word]) for word in words if len(owners.get(word, ())) == 1)
    named = [f"{word}, a tool of {owner}" for word, owner in found if owner != server]
    if named:
        what = "Its description names" if tool else "The instructions name"
        message = f"{what} {count(len(named), 'tool')} of other servers."
        yield Finding(OTHER_SERVER, server, tool, message, _listed(named))
