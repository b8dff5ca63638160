"""Splits text into terms, the words a lexical ranker compares.

Tool names use camelCase, snake_case, kebab-case and digits; queries use plain words. Splitting both the same
way lets “create page” find `createPage` and `create_page`.
"""

import re
from functools import lru_cache

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


@lru_cache(maxsize=16_384)
def spaced(name: str) -> str:
    """A name as words: `listOrders` and `list_orders` become “list orders”."""
    return " ".join(split_words(name)).lower()


def written_words(text: str) -> tuple[str, ...]:
    """Lower-case words in order as they are written, stop words too."""
    return tuple(word.lower() for word in split_words(text))


def terms(text: str) -> tuple[str, ...]:
    """Lower-case, stemmed words in order, without stop words unless there are only stop words."""
    words = [word.lower() for word in split_words(text)]
    content_words = [word for word in words if word not in STOP_WORDS]
    return tuple(stem(word) for word in (content_words or words))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball English stem (Porter2)."""
    from snowballstemmer import stemmer

    stemmed: str = stemmer("english").stemWord(word)
    return stemmed
