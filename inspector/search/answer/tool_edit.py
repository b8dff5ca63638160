"""What editing a tool would change: its rank for a query, labelled requests, collisions."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EvalCase
from inspector.core.error import ToolsightError
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import fields, resolve
from inspector.search.answer.confusable import Closeness
from inspector.search.answer.search import SearchRules
from inspector.search.answer.standing import Standing, Standings, Verdict, position_of
from inspector.search.index.document import Vocabulary, texts_by_key
from inspector.search.index.embedded_text import Key, key_of
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranker


class ParameterText(Struct, frozen=True):
    """The texts of a top-level parameter; `original` is its name on the server."""

    original: str
    name: str
    description: str


class ToolText(Struct, frozen=True):
    """The texts of a tool that its author can choose."""

    name: str
    description: str
    parameters: tuple[ParameterText, ...] = ()


def wording_of(tool: Tool) -> ToolText:
    """The tool's current texts."""
    parameters = (ParameterText(f.name, f.name, f.description) for f in fields(tool.input_schema))
    return ToolText(tool.name, tool.description, tuple(parameters))


def reworded(tool: Tool, wording: ToolText) -> Tool:
    """The tool with other texts; equal to the original if the texts are.

    Parameters that the tool does not have are ignored. Raises ToolsightError for an empty name and for two
    parameters with the same name.
    """
    if not wording.name.strip():
        raise ToolsightError("a tool needs a name", hint="Enter one, or restore the server's text.")
    known = {parameter.name: parameter for parameter in wording_of(tool).parameters}
    changed = {p.original: p for p in wording.parameters if p != known.get(p.original, p)}
    texts = {name: p.description for name, p in changed.items() if p.description != known[name].description}
    schema = tool.input_schema
    if changed:
        schema = _schema(schema, {name: p.name for name, p in changed.items()}, texts)
    return replace(tool, name=wording.name, description=wording.description, input_schema=schema)


def _schema(schema: JsonObject, names: Mapping[str, str], texts: Mapping[str, str]) -> JsonObject:
    """The schema with new parameter names and descriptions, both keyed by the old name."""
    resolved = resolve(schema, schema)
    properties: dict[str, object] = {}
    for name, value in resolved["properties"].items():
        new = names.get(name, name)
        if name in names and not new.strip():
            raise ToolsightError(f"the parameter '{name}' needs a name", hint="Enter one.")
        if new in properties:
            raise ToolsightError(f"two parameters are named '{new}'", hint="Rename one of them.")
        properties[new] = _described(value, texts[name]) if name in texts else value
    required = resolved.get("required")
    if isinstance(required, list):
        required = [names.get(name, name) if isinstance(name, str) else name for name in required]
        return {**schema, "properties": properties, "required": required}
    return {**schema, "properties": properties}


def _described(value: object, description: str) -> object:
    own = value if isinstance(value, Mapping) else {}
    others = {key: inner for key, inner in own.items() if key != "description"}
    return {**others, "description": description} if description else others


def draft(index: ToolIndex, edited: Tool, original_id: str) -> ToolIndex:
    """The index with the edited tool in place of the original, embedded if the index is semantic.

    `index` itself does not change, so this may run in a thread while searches and embedding continue. The new
    vectors are not stored. Raises ToolsightError if the original is not in the index or the edited id is
    taken, ModelError if the texts cannot be embedded.
    """
    position = position_of(index, original_id)
    if index.tools[position] == edited:
        return index
    if index.position.get(edited.id, position) != position:
        raise ToolsightError(
            f"a tool '{edited.id}' already exists", hint="Give the edited tool another name."
        )
    tools = (*index.tools[:position], edited, *index.tools[position + 1 :])
    own = apart(index)
    changed = own.updated(tools)
    if own.semantics is None or not index.is_semantic:
        return changed
    texts = _new_texts(changed, index, edited)
    if texts:
        own.semantics.embed(texts, keep=False)
    return changed.with_new_vectors()


def apart(index: ToolIndex) -> ToolIndex:
    """The same index with its own vocabulary and new vectors, since both grow as tools are read."""
    apart = copy(index)
    apart.vocabulary = Vocabulary(index.vocabulary)
    if index.semantics is not None:
        apart.semantics = copy(index.semantics)
        # Vectors added since the index was built would count as an effect of the edit.
        apart.semantics.settle(apart.semantics.extended(index.vectors))
    return apart


def _new_texts(changed: ToolIndex, index: ToolIndex, edited: Tool) -> Mapping[Key, str]:
    """The texts the edit added; texts missing before stay missing, or they would count as an effect."""
    texts = dict(texts_by_key([edited], lined=index.lined))
    texts |= {key_of(text): text for text in changed.server_texts.values()}
    known = set(index.keys())
    return {key: text for key, text in texts.items() if key not in known}


AROUND = 10


class Neighbor(Struct, frozen=True):
    """A tool ranked near the edited one, or the edited tool itself, with its id after the edit."""

    tool_id: str
    before: Standing
    after: Standing


class CaseChange(Struct, frozen=True):
    """A labelled request and the rank of the first relevant tool, None if none is returned."""

    id: str
    query: str
    before: int | None
    after: int | None


class CaseEffect(Struct, frozen=True):
    """Those of the `measured` cases whose first relevant tool rose or fell; some tool fits each."""

    measured: int = 0
    better: tuple[CaseChange, ...] = ()
    worse: tuple[CaseChange, ...] = ()


class QueryEffect(Struct, frozen=True):
    """The effect of an edit. `around` holds the edited tool and its AROUND neighbors as ranked afterwards.

    The search says `answer_before` with `probability_before`, afterwards the others; a probability is None
    where none is estimated. Collisions count the tools that are close to
    it in meaning (a cosine of the summaries of at least 0.8) or have its name on another server.
    """

    original_id: str
    edited_id: str
    query: str
    ranker: str
    before: Standing
    after: Standing
    around: tuple[Neighbor, ...]
    answer_before: Answer
    answer_after: Answer
    probability_before: float | None
    probability_after: float | None
    cases: CaseEffect
    collisions_before: int
    collisions_after: int


class EditTrial(Struct, frozen=True):
    """An edit prepared once and measured on many queries. It changes nothing and is safe in a thread.

    In cases the original's id refers to the edited tool.
    """

    rankers: CatalogRankers
    changed: CatalogRankers
    original_id: str
    edited_id: str
    ranker_name: str

    @classmethod
    def of(cls, rankers: CatalogRankers, edited: Tool, original_id: str, ranker_name: str) -> Self:
        """Index and embed the edited tool. Raises what `draft` raises."""
        changed = edited_rankers(rankers, edited, original_id)
        return cls(rankers, changed, original_id, edited.id, ranker_name)

    def on(self, query: str, rules: SearchRules) -> QueryEffect:
        """The effect on one query under the rules of searches, with empty `cases`."""
        position = position_of(self.rankers.index, self.original_id)
        index = self.changed.index
        asked = (self.ranker_name, SearchRequest(query), rules)
        was, now = (Verdict.of(rankers, *asked) for rankers in (self.rankers, self.changed))
        before, after = was.standings, now.standings
        return QueryEffect(
            original_id=self.original_id,
            edited_id=self.edited_id,
            query=query,
            ranker=self.ranker_name,
            before=before[position],
            after=after[position],
            around=tuple(Neighbor(index.ids[p], before[p], after[p]) for p in _around(after, position)),
            answer_before=was.told,
            answer_after=now.told,
            probability_before=before.ranking.probability,
            probability_after=after.ranking.probability,
            cases=CaseEffect(),
            collisions_before=Closeness(self.rankers.index).collisions(position),
            collisions_after=Closeness(index).collisions(position),
        )

    def over(self, cases: Sequence[EvalCase], stopped: Callable[[], bool] = lambda: False) -> CaseEffect:
        """The effect on labelled requests; `stopped` is checked before each and ends the run early."""
        position = self.rankers.index.position
        # Both indexes have their tools at the same positions; the edited one keeps its old id in the labels.
        labels = {self.edited_id: self.original_id}
        changes: list[CaseChange] = []
        for case in cases:
            if not case.is_possible:
                continue
            if stopped():
                break
            named = (labels.get(tool, tool) for group in case.relevant for tool in group)
            wanted = [position[tool] for tool in named if tool in position]
            # Case by case, so that each query is embedded only once for both rankers.
            both = [Standings(ranker.rank(case.query)) for ranker in self._both]
            first = (
                min((standings[one].rank for one in wanted if standings[one].kept), default=None)
                for standings in both
            )
            changes.append(CaseChange(case.id, case.query, *first))
        better, worse = (tuple(one for one in changes if way * _rise(one) > 0) for way in (1, -1))
        return CaseEffect(len(changes), better, worse)

    @property
    def _both(self) -> tuple[Ranker, Ranker]:
        return self.rankers.get(self.ranker_name), self.changed.get(self.ranker_name)


def edited_rankers(rankers: CatalogRankers, edited: Tool, original_id: str) -> CatalogRankers:
    """The rankers of a draft, or the same rankers if nothing changed. Raises what `draft` raises."""
    index = draft(rankers.index, edited, original_id)
    if index is rankers.index:
        return rankers
    return CatalogRankers(index, rankers.settings, rankers.used)


def _around(standings: Standings, position: int) -> list[int]:
    """The positions of the tool and its AROUND neighbors, in rank order."""
    row, count = standings[position].rank - 1, len(standings.order)
    first = max(0, min(row - AROUND // 2, count - AROUND - 1))
    return [int(p) for p in standings.order[first : first + AROUND + 1]]


def _rise(change: CaseChange) -> float:
    """By how many ranks a case improved; infinite if nothing relevant was returned before."""
    if change.before == change.after:
        return 0.0
    before, after = (float("inf") if rank is None else rank for rank in (change.before, change.after))
    return before - after
