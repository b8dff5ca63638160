"""Which tools of the catalog fit a turn: preconditions, gate (Tool Attention, sections 4 and 5).

    active = the top k of the tools whose score is at least the threshold and whose preconditions hold

Pinned tools are bound whatever they score, and tools that a precondition keeps out are skipped: neither count
among the k.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from inspector.config.predicate import BUILT_IN, MAX_LENGTH, Facts, Predicate, parse_predicate
from inspector.core.error import ConfigError
from inspector.core.events import GateApplied, GateScore
from inspector.core.message import AssistantMessage, Message, ToolMessage, UserMessage
from inspector.core.ports import Clock, OwnPredicate
from inspector.core.settings import GateSettings
from inspector.core.stream import LiveSettings
from inspector.core.text import closest

if TYPE_CHECKING:
    from inspector.search.index.tool_index import ToolIndex
    from inspector.search.ranker.catalog_rankers import CatalogRankers

Table = Mapping[str, tuple[str, ...]]

_MAX_REASON = 120
_parsed = lru_cache(maxsize=1024)(parse_predicate)


class Preconditions:
    """Evaluates the settings' predicates, each once per check; a failing predicate counts as not holding."""

    def __init__(self, live: LiveSettings, own: Mapping[str, OwnPredicate]) -> None:
        self._live = live
        self._predicates: Mapping[str, OwnPredicate] = {**own, **BUILT_IN}

    def unmet(self, tool_id: str, facts: Facts) -> tuple[str, ...]:
        """The texts of the predicates that keep this tool closed, including errors; () if it is open."""
        return self.closed((tool_id,), facts).get(tool_id, ())

    def closed(self, tool_ids: Iterable[str], facts: Facts) -> Mapping[str, tuple[str, ...]]:
        """The closed tools among these, each with the predicates that keep it closed."""
        rules = self._live.settings.access.preconditions
        unique = dict.fromkeys(text for texts in rules.values() for text in texts)
        reasons = {text: reason for text in unique if (reason := self._reason(text, facts))}
        barred = {pattern: [reasons[t] for t in texts if t in reasons] for pattern, texts in rules.items()}
        barred = {pattern: texts for pattern, texts in barred.items() if texts}
        by_tool = {
            tool_id: dict.fromkeys(
                text for pattern, texts in barred.items() if fnmatchcase(tool_id, pattern) for text in texts
            )
            for tool_id in (tool_ids if barred else ())
        }
        return {tool_id: tuple(texts) for tool_id, texts in by_tool.items() if texts}

    def check(self) -> None:
        """Raise ConfigError for a predicate that is unreadable, unknown, or has the wrong arguments."""
        for pattern, texts in self._live.settings.access.preconditions.items():
            for text in texts:
                try:
                    self._check(parse_predicate(text))
                except ConfigError as error:
                    place = f"access.preconditions {pattern[:80]!r}"
                    raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error

    def _check(self, predicate: Predicate) -> None:
        function = self._function(predicate)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return
        hint = f"Its signature is {predicate.name}({', '.join(list(signature.parameters)[1:])})."
        try:
            signature.bind(Facts(), *predicate.args, **predicate.kwargs)
        except TypeError as error:
            raise ConfigError(
                f"{predicate.text!r:.80} has the wrong arguments: {error}", hint=hint
            ) from error
        given = (*predicate.args, *predicate.kwargs.values())
        if predicate.name in BUILT_IN and not all(isinstance(value, str) for value in given):
            raise ConfigError(f"{predicate.text!r:.80} needs a string", hint=hint)

    def _function(self, predicate: Predicate) -> OwnPredicate:
        if predicate.name in self._predicates:
            return self._predicates[predicate.name]
        near = closest(predicate.name, self._predicates, limit=1)
        known = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(self._predicates)}."
        raise ConfigError(f"there is no predicate {predicate.name!r:.80}", hint=known)

    def _reason(self, text: str, facts: Facts) -> str:
        """Why the predicate does not hold: its text, with the error if it failed; "" if it holds."""
        try:
            predicate = _parsed(text)
            holds = self._function(predicate)(facts, *predicate.args, **predicate.kwargs)
            if not isinstance(holds, bool):
                raise TypeError(f"it returned {type(holds).__name__}, not True or False")
        except KeyboardInterrupt:
            raise
        # A user's predicate may raise anything, even SystemExit; the session goes on.
        except BaseException as error:
            return f"{text[:MAX_LENGTH]} (failed: {_failure(error)})"
        return "" if holds is not predicate.negated else text


def _failure(error: BaseException) -> str:
    try:
        message = error.message if isinstance(error, ConfigError) else str(error)
    except Exception:
        message = ""
    line = " ".join(f"{type(error).__name__}: {message[: 4 * _MAX_REASON]}".split())
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"


# Of what a turn is about, so much text at most.
_SUMMARY, _OBSERVATION = 600, 300
_ROLLING = 4
_HASH_BYTES = 8


class Gate:
    """Scores every tool in an index for a turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latencies: list[float] = []

    def apply(
        self,
        rankers: "CatalogRankers",
        messages: Sequence[Message],
        settings: GateSettings,
        *,
        pinned: Collection[str],
        unmet: Mapping[str, Sequence[str]],
        tokens: Callable[[str], int],
        call: int = 0,
        pool_tokens: int = 0,
    ) -> GateApplied:
        """Select the tools for model call `call`, besides those that are `pinned`.

        `unmet` holds the unmet preconditions by tool; `pool_tokens` is the size of the resident summaries.

        Raises ToolsightError for an unknown ranker, ModelError if embedding fails.
        """
        started = self._clock.monotonic()
        query = gate_query(messages, settings.query)
        # What was used before is no reason to reach the threshold.
        ranker = rankers.plain(settings.ranker)
        ranking = ranker.rank(query)
        if settings.query == "either":
            ranking = ranking.better(ranker.rank(gate_query(messages, "user")))
        tools = rankers.index.tools
        fits = ranking.values >= settings.threshold
        always = [rankers.index.position[tool_id] for tool_id in pinned if tool_id in rankers.index.position]
        fits[always] = False
        passed = [position for position in ranking.order() if fits[position]]
        candidates = [
            GateScore(tools[at].id, float(ranking.values[at]), tuple(unmet.get(tools[at].id, ())))
            for at in passed
        ]
        active = [one.tool for one in candidates if not one.unmet][: settings.top_k]
        elapsed = (self._clock.monotonic() - started) * 1000
        self._latencies.append(elapsed)
        from statistics import median

        return GateApplied(
            query=query,
            active=tuple(active),
            candidates=tuple(candidates),
            threshold=settings.threshold,
            below=len(tools) - len(always) - len(passed),
            tokens=sum(tokens(tool_id) for tool_id in active),
            milliseconds=elapsed,
            note=ranking.note,
            call=call,
            query_hash=_query_hash(rankers.index, query),
            gated_out=tuple(one.tool for one in candidates if one.unmet),
            pool_tokens=pool_tokens,
            p50_milliseconds=median(self._latencies),
        )


def _query_hash(index: "ToolIndex", query: str) -> str:
    """Identifies the query by its vector or, while there is none, by its text."""
    vector = index.query_vector(query)
    content = vector.tobytes() if vector is not None else query.encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=_HASH_BYTES).hexdigest()


def gate_query(messages: Sequence[Message], mode: str) -> str:
    """The gate's query: the last user message alone, with earlier messages, or with the last result since.

    With `either`, tools are compared with what this returns and with the message alone.
    """
    requests = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    if not requests:
        return ""
    request, before, since = messages[requests[-1]], messages[: requests[-1]], messages[requests[-1] + 1 :]
    if mode in ("rolling", "either"):
        said = [m.text for m in before if isinstance(m, UserMessage | AssistantMessage) and m.text]
        return f"{request.text} {' '.join(said[-_ROLLING:])[-_SUMMARY:]}".strip()
    if mode == "observation":
        results = [m.text for m in since if isinstance(m, ToolMessage)]
        return f"{request.text} {''.join(results[-1:])[:_OBSERVATION]}".strip()
    return request.text
