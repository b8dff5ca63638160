"""What a vocabulary is made of: things, what is done with them, and where."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# After the actions that an entity is most often used with come these.
USUAL_ORDER = (
    "list",
    "get",
    "search",
    "create",
    "update",
    "delete",
    "count",
    "history",
    "export",
    "watch",
    "compare",
    "archive",
    "restore",
    "copy",
)


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that tools work on.

    `said` is what people call it when they ask, `about` what a description says of it, `objects` how one of
    them is pointed at, `fields` what can be set, `actions` what is most often done with it, the first first.
    """

    name: str
    said: tuple[str, ...]
    about: str
    objects: tuple[str, ...]
    fields: tuple[str, ...]
    actions: tuple[str, ...]

    @property
    def plural(self) -> str:
        return plural(self.name)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is done with an entity.

    `name` is the tool's, with {one} or {many}; `sentences` open its description, `notes` may follow;
    `queries` are how people ask for it; `parameters` are those that it always has. `writes` needs a scope.
    """

    name: str
    sentences: tuple[str, ...]
    queries: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    writes: bool = False
    sets_fields: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
    """A server's vocabulary. `scope` is what its things belong to, `where` how people say that.

    `located` are the parameters that say where, `usual` the actions that every entity has in the end.
    """

    server: str
    scope: str
    where: tuple[str, ...]
    located: tuple[str, ...]
    entities: tuple[Entity, ...]
    usual: tuple[str, ...] = USUAL_ORDER


def entities(text: str) -> tuple[Entity, ...]:
    """Entities from paragraphs of five lines, in the order of the fields of `Entity`.

    The first is `name = said; said`, the third is split at semicolons, the last two at spaces.
    """
    found = []
    for paragraph in text.strip().split("\n\n"):
        title, about, objects, fields, actions = (line.strip() for line in paragraph.strip().splitlines())
        name, _, said = title.partition(" = ")
        found.append(
            Entity(name, _parts(said), about, _parts(objects), tuple(fields.split()), tuple(actions.split()))
        )
    return tuple(found)


def with_article(sentence: str) -> str:
    """The sentence with `an` for `a` before a vowel that is heard."""
    return _BEFORE_VOWEL.sub(r"\1n", sentence)


_BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeio](?!ne\b)| u(?!s|ni|r))")


def plural(noun: str) -> str:
    """The English plural of a noun by its ending: that of its last word before a preposition."""
    head = _AFTER_HEAD.split(noun, maxsplit=1)[0]
    rest = noun[len(head) :]
    for ending, replacement in _ENDINGS.items():
        if head.endswith(ending):
            return head.removesuffix(ending) + replacement + rest
    return f"{head}s{rest}"


_AFTER_HEAD = re.compile(
    r" (?=(?:of|for|in|on|to|under|up|with|below|beside|inside|somebody|called|that|from|per)\b)"
)
_ENDINGS: Mapping[str, str] = {
    "series": "series",
    "ay": "ays",
    "ey": "eys",
    "y": "ies",
    "ch": "ches",
    "sh": "shes",
    "ss": "sses",
    "us": "uses",
    "as": "ases",
    "x": "xes",
    "person": "people",
    "s": "s",
}


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())
