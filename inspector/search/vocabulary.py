"""A curated vocabulary of words that describe what tools do, and the splitting of text into whole words.

Words are compared in lower case without stemming, as the published keyword rankers do; a plural in -s counts
as its curated singular.
"""

import re

from inspector.search.term import STOP_WORDS, split_words

MINIMUM_LENGTH = 3
MAX_QUERY_LENGTH = 2_000

VERBS = frozenset(
    re.findall(
        r"\w+",
        """
        add analyze append approve archive assign browse build calculate call cancel capture clear click
        clone close comment commit compare complete compute connect convert copy create delete deploy
        describe detect download draw edit evaluate execute export extract fetch filter find forecast format
        generate get import insert inspect install invite list load lookup merge monitor move navigate open
        parse pause plot post publish pull push query read refund register remove rename render reply reset
        resolve restart resume retrieve revoke run save schedule search send set share sort start stop
        submit subscribe summarize sync tag test track transfer translate trigger update upload validate
        verify write
        """,
    )
)
NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        account address agent alert api appointment attachment audio balance board bookmark branch browser
        bucket calendar card cart cell channel chart chat code collection column comment commit contact
        container content coupon currency customer dashboard data database date deployment device diagram
        directory document domain email event expression feed field file folder form graph group history
        image index inventory invoice issue item job key knowledge label language link location log mail map
        meeting member memory message metric model news note notification number order organization page
        password path payment permission playlist post price product profile project query record refund
        repository report request reservation review role row schema screenshot secret sheet shipment site
        slide snapshot spreadsheet stock storage string subscription summary table tag task team template
        text thread ticket time timezone token transaction translation url user variable video weather web
        webhook website workflow workspace
        """,
    )
)
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
