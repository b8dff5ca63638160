"""Words: how texts are split into terms, a curated vocabulary of what tools do, and tags of tools.

Words are compared in lower case without stemming, as the published keyword rankers do; a plural in -s counts
as its curated singular.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from pathlib import Path

from msgspec import Struct, field

from inspector.core.access import values_for
from inspector.core.tool import Tool


def word_lines(name: str) -> tuple[str, ...]:
    """The lines of a list of words or sentences of this name."""
    words = Path(__file__).parents[1] / "words"
    return tuple((words / f"{name}.txt").read_text(encoding="utf-8").splitlines())


# Tool names use camelCase, snake_case, kebab-case and digits; queries use plain words. Splitting both the
# same way lets “create page” find `createPage` and `create_page`.

_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be been but by can could do does for from had has have how i if in into is it its
        let me my no not of on or our out please s should so t than that the their them then there these they
        this to us was we were what when where which who will with would you your
        """,
    )
)


def split_words(text: str) -> list[str]:
    """The words of a text or name as written, splitting camelCase, snake_case, kebab-case and digits."""
    return _WORD.findall(_CAMEL_BOUNDARY.sub(" ", text))


@lru_cache(maxsize=65_536)
def spaced(name: str) -> str:
    """A name as words: `listOrders` and `list_orders` become “list orders”."""
    return " ".join(split_words(name)).lower()


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """A name without case and separators: `mcp__Notes__createPage` equals `mcp notes create-page`."""
    return "".join(split_words(name)).casefold()


def written_words(text: str) -> tuple[str, ...]:
    """Lower-case words in order as they are written, stop words too."""
    return tuple(chain.from_iterable(map(_written, _WORD.findall(text))))


def whole_words(prose: str) -> list[str]:
    """The words of prose that have capitals inside, in lower case: YouTube is one word there."""
    return [word.lower() for word in _WORD.findall(prose) if len(_written(word)) > 1]


# Texts repeat their words, and a search for boundaries in all of a text is slow.
@lru_cache(maxsize=65_536)
def _written(word: str) -> Sequence[str]:
    return tuple(map(str.lower, _CAMEL_BOUNDARY.split(word)))


def terms(text: str) -> tuple[str, ...]:
    """Lower-case, stemmed words in order, without stop words unless there are only stop words."""
    return stems(written_words(text))


def stems(words: Sequence[str]) -> tuple[str, ...]:
    """The stems of lower-case words, without stop words unless there are only stop words."""
    return tuple(map(stem, [word for word in words if word not in STOP_WORDS] or words))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball English stem (Porter2)."""
    from snowballstemmer import stemmer

    stemmed: str = stemmer("english").stemWord(word)
    return stemmed


MINIMUM_LENGTH = 3
MAX_QUERY_LENGTH = 2_000

VERBS, NOUNS = (frozenset(" ".join(word_lines(name)).split()) for name in ("verbs", "nouns"))
VOCABULARY = VERBS | NOUNS


def words(text: str) -> list[str]:
    """Lower-case words without stop words; camelCase, snake_case, kebab-case and digits are split."""
    lowered = [word.lower() for word in split_words(text)]
    return [word for word in lowered if word not in STOP_WORDS]


def query_words(query: str) -> tuple[str, ...]:
    """The distinct words of the first `MAX_QUERY_LENGTH` characters of a query, in order."""
    return tuple(dict.fromkeys(words(query[:MAX_QUERY_LENGTH])))


def is_domain_term(word: str) -> bool:
    """Whether a lower-case word or its singular is in the curated vocabulary."""
    return word in VOCABULARY or word.removesuffix("s") in VOCABULARY


# A model reads each tag that it is offered in every request.
MOST_OFFERED = 32
_CLAIMS = (
    ("read_only", "read-only"),
    ("destructive", "destructive"),
    ("idempotent", "idempotent"),
    ("open_world", "open-world"),
)


class TagOrigin(StrEnum):
    """Who gave a tool its tag."""

    SERVER = "from its server's configuration"
    SETTING = "discovery.tags"
    METADATA = "sent by its server"
    CLAIM = "from its annotations"


class Tags(Struct, frozen=True):
    """The tags of servers, by name, and of tools, by id (`*` and `?` match), besides what servers say."""

    by_server: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_tool: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def of(self, tool: Tool) -> dict[str, TagOrigin]:
        """A tool's tags, each once, with where it comes from."""
        given = (
            (TagOrigin.SERVER, self.by_server.get(tool.server, ())),
            (TagOrigin.SETTING, chain.from_iterable(values_for(tool.id, self.by_tool))),
            (TagOrigin.METADATA, tool.tags),
            (TagOrigin.CLAIM, (tag for name, tag in _CLAIMS if getattr(tool.annotations, name))),
        )
        found: dict[str, TagOrigin] = {}
        for origin, tags in given:
            for tag in tags:
                found.setdefault(tag, origin)
        return found

    def missing(self, tool: Tool, wanted: Iterable[str]) -> tuple[str, ...]:
        """The wanted tags that a tool lacks, each once."""
        had = self.of(tool)
        return tuple(tag for tag in dict.fromkeys(wanted) if tag not in had)

    def known(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """Every tag of any of the tools, in order."""
        return tuple(dict.fromkeys(chain.from_iterable(map(self.of, tools))))

    def offered(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """The tags that a model may choose from: those of most tools, without mere claims."""
        counts = Counter(
            tag for tool in tools for tag, origin in self.of(tool).items() if origin is not TagOrigin.CLAIM
        )
        return tuple(tag for tag, _count in counts.most_common(MOST_OFFERED))


def as_written(query: str, sought: Iterable[str]) -> tuple[str, ...]:
    """Terms as the query has them, not stemmed; a term that it does not have stays as it is."""
    written: dict[str, str] = {}
    for word in (*split_words(query), *whole_words(query)):
        written.setdefault(stem(word.lower()), word.lower())
    return tuple(written.get(term, term) for term in sought)
