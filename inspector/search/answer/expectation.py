"""Expectations: which tool a request has to find, as a person writes them, and whether a search finds it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EvalCase
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.text import did_you_mean, one_line, shortened
from inspector.core.tool import Catalog
from inspector.search.answer.answer_text import told_apart
from inspector.search.answer.search import SearchRules
from inspector.search.answer.standing import Verdict
from inspector.search.ranker.catalog_rankers import CatalogRankers

ARROW = "->"
NOTHING = "nothing"
# Of a text that is refused, so many characters are told.
_LONGEST = 120
_FORM = 'Write "REQUEST -> TOOL", "REQUEST -> TOOL@5" or "REQUEST -> TOOL>=0.6".'
_TARGET = re.compile(r"(?P<tool>.+?)(?:@(?P<within>[^@:/>]*))?(?:>=(?P<confidence>.*))?", re.DOTALL)


class Expectation(Struct, frozen=True):
    """A request and the tool that it has to find, or any one of several; without one, nothing may be found.

    `within` is the last rank that counts. `confidence` (0 to 1) is the least that the tool needs; with 0, its
    rank alone counts.
    """

    query: str
    tools: frozenset[str]
    within: int = 1
    confidence: float = 0.0

    @property
    def text(self) -> str:
        """The expectation as it is written."""
        wanted = " or ".join(sorted(self.tools)) or NOTHING
        within = f"@{self.within}" if self.within > 1 else ""
        return f"{self.query} {ARROW} {wanted}{within}" + (f">={self.confidence:g}" * (self.confidence > 0))


class ExpectationResult(Struct, frozen=True):
    """What a search does with an expectation; `problem` says why it does not hold, "" if it does.

    `tool` is the expected one that ranks best, `rank` its rank, None if it is no result. `confidence` is how
    likely it does what is asked, if that was asked for and the ranker says it. `first` is the first result,
    "" for none. `answer` is what the search says, `place` the tool's rank among all, None without a tool.
    """

    expectation: Expectation
    tool: str = ""
    rank: int | None = None
    confidence: float | None = None
    first: str = ""
    problem: str = ""
    answer: Answer = Answer.NOTHING
    place: int | None = None

    @property
    def holds(self) -> bool:
        return not self.problem


def parse(text: str) -> Expectation:
    """Read `REQUEST -> TOOL`; of several arrows the last one counts. Raises ConfigError.

    `REQUEST -> nothing` expects that no tool fits.
    """
    query, arrow, target = (part.strip() for part in text.rpartition(ARROW))
    if not arrow or not query or not target:
        lacks = "arrow" if not arrow else "request" if not query else "tool"
        raise ConfigError(f"{_named(text)} has no {lacks}", hint=_FORM)
    match = _TARGET.fullmatch(target)
    assert match is not None
    tool, within, confidence = match["tool"].strip(), match["within"], match["confidence"]
    return Expectation(
        query,
        frozenset() if tool == NOTHING else frozenset({tool}),
        1 if within is None else _whole(text, within),
        0.0 if confidence is None else _share(text, confidence),
    )


def _named(text: str) -> str:
    return f"the expectation '{shortened(one_line(text), _LONGEST)}'"


def _whole(text: str, number: str) -> int:
    if not re.fullmatch(r"\s*0*[1-9]\d{0,5}\s*", number):
        hint = "Write how many results may count, from 1: `-> TOOL@5`."
        raise ConfigError(f"{_named(text)}: '{number:.40}' is not a number of results", hint=hint)
    return int(number)


def _share(text: str, number: str) -> float:
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        hint = "Write a number from 0 to 1: `-> TOOL>=0.6`."
        raise ConfigError(f"{_named(text)}: '{number:.40}' is not a confidence", hint=hint)
    return share


def expected(case: EvalCase) -> Iterator[Expectation]:
    """A labelled request as expectations: of its tools, each stands among as many as there are."""
    if not case.is_possible:
        yield Expectation(case.query, frozenset())
    for group in case.relevant:
        yield Expectation(case.query, group, len(case.relevant))


def as_case(one: Expectation, number: int) -> EvalCase:
    """The expectation as a labelled request."""
    return EvalCase(f"expected-{number:04d}", one.query, (one.tools,) if one.tools else (), "expected")


def resolved(one: Expectation, catalog: Catalog, *, is_whole: bool) -> Expectation:
    """The expectation with the ids of its tools. Raises ConfigError with the closest names for unknown ones.

    In a catalog that is not whole, because servers failed, unknown tools keep their names.
    """
    ids = set()
    for name in one.tools:
        try:
            ids.add(catalog.require(name).id)
        except ToolsightError as error:
            known = [tool.id for tool in catalog.named(name)]
            if is_whole or known:
                hint = error.hint or did_you_mean("Tools", name, [tool.id for tool in catalog.tools])
                raise ConfigError(f"{_named(one.text)}: {error.message}", hint=hint) from error
            ids.add(name)
    return replace(one, tools=frozenset(ids))


def results(
    expectations: Sequence[Expectation], rankers: CatalogRankers, ranker_name: str, rules: SearchRules
) -> Iterator[ExpectationResult]:
    """What a search does with each expectation. Raises ModelError if a query cannot be embedded."""
    found: dict[str, Verdict] = {}
    # So many results as the widest expectation looks at.
    rules = replace(rules, limit=max([rules.limit, *(one.within for one in expectations)]))
    for one in expectations:
        if one.query not in found:
            found[one.query] = Verdict.of(rankers, ranker_name, SearchRequest(one.query), rules)
        yield _result(one, found[one.query])


def _result(one: Expectation, verdict: Verdict) -> ExpectationResult:
    index = verdict.rankers.index
    # Whoever names a tool asks where it stands; whether a search would dare to say so is its confidence.
    says = () if verdict.told is Answer.NOTHING else verdict.results
    results = list(verdict.matches if one.tools and not one.confidence else says)
    first = index.ids[results[0]] if results else ""
    if not one.tools:
        is_right = verdict.told is not Answer.FOUND
        return ExpectationResult(
            one,
            first=first,
            problem="" if is_right else f"finds {first}, and nothing should fit",
            answer=verdict.told,
        )
    there = [index.position[tool] for tool in sorted(one.tools) if tool in index.position]
    if not there:
        gone = "no connected server has the tool"
        return ExpectationResult(one, first=first, problem=gone, answer=verdict.told)
    best = min(there, key=lambda position: verdict.standings[position].rank)
    fit = verdict.standings.ranking.fit if one.confidence else None
    rank = results.index(best) + 1 if best in results else None
    sure, place = None if fit is None else float(fit[best]), verdict.standings[best].rank
    found = ExpectationResult(one, index.ids[best], rank, sure, first, answer=verdict.told, place=place)
    return replace(found, problem=_problem(found, verdict, best))


def _problem(found: ExpectationResult, verdict: Verdict, position: int) -> str:
    """Why an expectation does not hold; "" if it does."""
    wanted = found.expectation
    if found.rank is None:
        rank = verdict.standings[position].rank
        return f"{found.tool} is no result: {verdict.cut(position)} (rank {rank})"
    if found.rank > wanted.within:
        return f"{found.tool} has rank {found.rank}; {found.first} is first"
    if wanted.confidence and found.confidence is None:
        return "the ranker states no confidence"
    if found.confidence is not None and found.confidence < wanted.confidence:
        own, needed = told_apart(found.confidence, wanted.confidence)
        return f"{found.tool} has a confidence of {own}, not {needed}"
    return ""


def missed(found: Iterable[ExpectationResult]) -> dict[str, list[str]]:
    """The requests that miss a tool that they should find, by that tool."""
    by_tool: dict[str, list[str]] = {}
    for one in found:
        if one.tool and not one.holds:
            by_tool.setdefault(one.tool, []).append(one.expectation.query)
    return by_tool
