"""How Mistral Vibe searches: BM25 over the TypeScript that its model gets, with names and descriptions again.

The text of a tool holds its name nine times, in types and paths, its description twice, its server's name
five times, the types of its arguments and of its result with their descriptions, and a fixed frame. A word of
the name, the description or the server's name counts double. k1 = 1.2, b = 0.75; no stems, no stop words; a
word that the query repeats counts once. Equal tools are in the order of the alphabet.

Vibe searches 15 functions of its own with them, whose lengths and words are in `words/vibe.json`: they change
what a word weighs, and take places among the results, which is not done here.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject, as_list, as_object, as_text, compact
from inspector.schema.schema import resolve
from inspector.search.index.embedded_text import MAX_INDEXED
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH
from inspector.search.ranker.client_ranker import Counts, OneTextRanker, OtherTexts, called
from inspector.search.ranker.step_ranker import by_alphabet

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile("[A-Za-z0-9]+")
_FRAME = "declare namespace function promise provided by mcp server" + " type returned" * 2 + " tools arg" * 3
# Constraints that stand in the comment of a parameter.
_LIMITS = ("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TAGS = (*_LIMITS, "minProperties", "maxProperties")
_PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
# What a schema may cost, whatever it says.
_DEEPEST, _MOST_TYPES = 30, 2_000


class VibeRanker(OneTextRanker):
    """Mistral Vibe's search_tool_functions."""

    name = "vibe"
    double = (Signal.NAME, Signal.DESCRIPTION, Signal.SERVER)

    def __init__(self, tools: Sequence[Tool]) -> None:
        names = [f"{called(tool.server)}.{called(tool.name)}" for tool in tools]
        super().__init__(tools, list(map(_counts, tools)), _own_functions(), by_alphabet(names))

    def _asked(self, query: str) -> Counter[str]:
        return Counter(dict.fromkeys(_words(query[:MAX_QUERY_LENGTH]), 1))


@cache
def _own_functions() -> OtherTexts:
    """Vibe's own functions with a provider of one's own, as measured: each word was searched for."""
    known = json.loads((files("inspector.search") / "words" / "vibe.json").read_text(encoding="utf-8"))
    holders = {word: int(number) for number, words in known["words"].items() for word in words.split()}
    return OtherTexts(known["functions"], known["length"], holders)


def _counts(tool: Tool) -> Counts:
    server, name, joined = f"mcp_{called(tool.server)} ", f"{called(tool.name)} ", f"{_joined(tool.name)} "
    types = _Types(tool.input_schema, "Input").text(), _Types(tool.output_schema or {}, "Output").text()
    texts = {
        Signal.NAME: name * 5 + joined * 4,
        Signal.DESCRIPTION: f"{tool.description[:MAX_INDEXED]} " * 2,
        Signal.SERVER: server * 4 + tool.server,
        Signal.PARAMETERS: _FRAME + " ".join(types)[:MAX_INDEXED],
    }
    return {signal: Counter(_words(text)) for signal, text in texts.items()}


def _joined(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in called(name).split("_"))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_BOUNDARY.sub(" ", text))]


class _Types:
    """A schema as the words of TypeScript; what `$ref` leads to becomes a type of its own, once."""

    def __init__(self, root: JsonObject, prefix: str) -> None:
        self._root, self._prefix = root, prefix
        self._named: dict[str, str] = {}
        self._left = _MOST_TYPES

    def text(self) -> str:
        """The type of the schema with its description, and those that it refers to."""
        whole = self._type(self._root, 0)
        return " ".join((as_text(self._root.get("description")), whole, *self._named.values()))

    def _type(self, schema: object, depth: int) -> str:
        known = as_object(schema)
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return "unknown"
        if reference := as_text(known.get("$ref")):
            return self._named_type(reference, depth)
        for key in ("enum", "const"):
            if key in known:
                return " ".join(map(compact, as_list(known[key]) or [known[key]]))
        for key in ("anyOf", "oneOf", "allOf"):
            if key in known:
                # A union beside parameters is one that it does not write.
                is_lost = key != "allOf" and "properties" in known
                return "unknown" if is_lost else self._all(as_list(known[key]), depth)
        kind = known.get("type")
        if isinstance(kind, list):
            return self._all([{**known, "type": one} for one in kind], depth)
        return self._plain_type(known, depth) + " null" * bool(known.get("nullable"))

    def _all(self, schemas: Iterable[object], depth: int) -> str:
        return " ".join(dict.fromkeys(self._type(one, depth + 1) for one in schemas))

    def _plain_type(self, known: JsonObject, depth: int) -> str:
        kind = as_text(known.get("type"))
        if kind == "array":
            if tuples := as_list(known.get("prefixItems")):
                return " ".join(self._type(one, depth + 1) for one in tuples)
            return f"array {self._type(known.get('items'), depth + 1)}"
        if kind != "object" and "properties" not in known:
            return _PLAIN.get(kind, "unknown")
        if parameters := as_object(known.get("properties")):
            lines = ((_comment(one), name, self._type(one, depth + 1)) for name, one in parameters.items())
            return " ".join(word for line in lines for word in line)
        more = known.get("additionalProperties")
        return f"record string {'never' if more is False else self._type(more, depth + 1)}"

    def _named_type(self, reference: str, depth: int) -> str:
        label = f"{self._prefix}{_joined(reference.rsplit('/', 1)[-1])}"
        if label not in self._named:
            self._named[label] = ""
            found = resolve({"$ref": reference}, self._root)
            target = {} if "$ref" in found else found
            self._named[label] = f"{_comment(target)} type {label} {self._type(target, depth + 1)}"
        return label


def _comment(schema: object) -> str:
    """The description of a parameter, and those constraints that stand beside it."""
    known = as_object(schema)
    return " ".join(
        (as_text(known.get("description")), *(f"{tag} {known[tag]}" for tag in _TAGS if tag in known))
    )
