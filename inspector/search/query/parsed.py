"""A query as rankers read it: its wordings, its clauses, its steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from inspector.search.query.clause import Clause, clauses, steps
from inspector.search.query.literal import typed
from inspector.search.vocabulary import MAX_QUERY_LENGTH

MAX_STEPS = 8
# From so many steps on their mean ranks as well as the meaning of the whole text, of which a model reads only
# the beginning and which takes longest to embed.
MANY_STEPS = 5


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`wordings` are the query as it is and, if it has literals, without them.

    `clauses` are those of both that ask for something, or all where none does; `steps`, at least two and at
    most MAX_STEPS, are those of the last wording. A query of one step has none.
    """

    wordings: tuple[str, ...]
    clauses: tuple[Clause, ...]
    steps: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def parse(query: str) -> ParsedQuery:
    """Read the first MAX_QUERY_LENGTH characters of a query."""
    query = query[:MAX_QUERY_LENGTH]
    without = typed(query)
    has_literals = bool(without) and without != " ".join(query.split())
    wordings = (query, without) if has_literals else (query,)
    said = tuple(dict.fromkeys(clause for wording in wordings for clause in clauses(wording)))
    asking = tuple(clause for clause in said if not clause.is_statement)
    asked = steps(wordings[-1])
    several = tuple(_at_most(MAX_STEPS, asked)) if len(asked) > 1 else ()
    return ParsedQuery(wordings, asking or said or (Clause(query),), several)


def many_steps(text: str) -> tuple[str, ...]:
    """The steps of a text of many, whose meanings make up its own; none of any other text."""
    found = parse(text).steps
    return found if len(found) >= MANY_STEPS else ()


def _at_most(most: int, steps: Sequence[str]) -> Sequence[str]:
    """The steps, the shortest neighbors joined until there are few enough."""
    joined = list(steps)
    while len(joined) > most:
        pairs = range(len(joined) - 1)
        first = min(pairs, key=lambda i: len(joined[i]) + len(joined[i + 1]))
        joined[first : first + 2] = [f"{joined[first]}; {joined[first + 1]}"]
    return joined
