"""What is known of a race and of how it ended, as page and terminal say it and as programs read it."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from inspector.config.profile import PROFILES
from inspector.core.number import count, large_saving, money, money_decimals, saving, tokens
from inspector.core.report import NOTHING, Table
from inspector.features.lab.comparison import ANSWERED, STATIC
from inspector.features.lab.race.race import Race, RaceFrame, Racer, Verdict

_MEANS = {STATIC: "every tool in every call", "toolsight": "tools found when needed"}
NOT_COMPARABLE = "NOT COMPARABLE"


def racer_title(profile: str) -> str:
    """A racer's profile and what it means."""
    means = _MEANS.get(profile) or (PROFILES[profile].title if profile in PROFILES else "")
    return "  ".join(filter(None, (profile, means)))


def racer_facts(racer: Racer) -> list[str]:
    """What a racer has sent so far, beside the tokens for tools."""
    if not racer.model_calls:
        return []
    return [
        count(racer.model_calls, "model call"),
        f"{count(racer.bound, 'tool')} bound",
        f"all input {tokens(racer.input_tokens)}",
        *([] if racer.dollars is None else [money(racer.dollars)]),
    ]


def answered(racer: Racer) -> str:
    """Whether a racer answered; an answer without a solved step is no success yet."""
    if racer.outcome != ANSWERED:
        return f"✕ {racer.outcome or 'no answer'}"
    return "✓ answered" if racer.steps else "✓ answered without a solved step"


def so_far(frame: RaceFrame) -> str:
    """What both racers have sent so far."""
    static, other = frame.racers
    bound, found = static.discovery_tokens, other.discovery_tokens
    if not (bound and found):
        return "Starting servers and indexing tools …"
    numbers = f"{other.profile} {tokens(found)} tokens for tools, static {tokens(bound)}"
    return f"call {frame.call}: {numbers}, {saving(1 - found / bound)}"


def big_share(verdict: Verdict) -> str:
    """What is saved for the large number; "" if nothing was sent for tools."""
    if verdict.shortfall:
        return NOT_COMPARABLE
    return "" if verdict.saved is None else large_saving(verdict.saved)


def headline(verdict: Verdict) -> str:
    """The result in a sentence: the saving, or why there is none."""
    static, other = verdict.racers
    if verdict.saved is None:
        return "no tokens were sent for tools"
    numbers = f"for tools: {tokens(other.discovery_tokens)} instead of {tokens(static.discovery_tokens)}"
    return (
        f"{verdict.shortfall}\nTokens {numbers}"
        if verdict.shortfall
        else f"{saving(verdict.saved)} {numbers}"
    )


def sides(verdict: Verdict) -> Table:
    """Both sides in numbers, a fact a row, with the share saved."""
    rows = (*_tokens(verdict), *_money(verdict))
    return Table("", ("", *(racer.profile for racer in verdict.racers), "saved"), rows, frozenset({1, 2, 3}))


def _tokens(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    all_input, billed = (
        "" if share is None or verdict.shortfall else saving(share)
        for share in (verdict.input_saved, verdict.billed_saved)
    )
    yield "definitions", f"{static.tool_tokens:,}", f"{other.tool_tokens:,}", ""
    yield "searches", f"{static.search_tokens:,}", f"{other.search_tokens:,}", ""
    yield "all input", f"{static.input_tokens:,}", f"{other.input_tokens:,}", all_input
    if static.billed is not None and other.billed is not None and (static.has_cache or other.has_cache):
        yield "with prompt cache", f"{static.billed:,.0f}", f"{other.billed:,.0f}", billed
    yield "model calls", str(static.model_calls), str(other.model_calls), ""
    yield "solved steps", str(static.steps), str(other.steps), ""


def _money(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    rows = (
        ("input price", static.dollars, other.dollars),
        ("per solved step", static.dollars_per_step, other.dollars_per_step),
    )
    for label, one, two in rows:
        if one is not None and two is not None:
            decimals = money_decimals((one, two))
            yield label, money(one, decimals), money(two, decimals), ""


def notes(verdict: Verdict) -> list[str]:
    """What to know before trusting the number, and whose prices were taken."""
    told, prices = list(verdict.notes), verdict.prices
    if prices is not None and all(racer.dollars is not None for racer in verdict.racers):
        told.append(f"Prices: {', '.join(filter(None, (prices.model, prices.date)))}.")
    return told


def race_report(race: Race, verdict: Verdict) -> Iterator[str | Table]:
    """The end of a race, and the tokens of every model call."""
    other = verdict.racers[1]
    yield f"Race  {race.scenario.title}"
    yield "   ".join(filter(None, (other.model, other.tokenizer)))
    for racer in verdict.racers:
        yield f"{racer_title(racer.profile)}   {'   '.join((answered(racer), *racer_facts(racer)))}"
    yield f"\n{headline(verdict)}"
    yield sides(verdict)
    yield from (f"· {note}" for note in notes(verdict))
    heads = ("call", *(head for profile in race.profiles for head in (profile, "total")))
    rows = tuple(map(_row, race.frames()[1:]))
    yield Table("Tool tokens per model call", heads, rows, frozenset(range(len(heads))))


def _row(frame: RaceFrame) -> tuple[str, ...]:
    cells = [str(frame.call)]
    for racer in frame.racers:
        present = f"{racer.present:,}" if racer.model_calls == frame.call else NOTHING
        cells += [present, f"{racer.discovery_tokens:,}"]
    return tuple(cells)


def race_json(race: Race, verdict: Verdict, sessions: Sequence[str]) -> dict[str, Any]:
    """A race that is over."""
    prices = verdict.prices
    return {
        "title": race.scenario.title,
        "sessions": list(sessions),
        "lanes": [_lane(racer) for racer in verdict.racers],
        "shortfall": verdict.shortfall,
        "saved": verdict.saved,
        "input_saved": verdict.input_saved,
        "billed_saved": verdict.billed_saved,
        "prices": prices and to_builtins(prices),
        "notes": verdict.notes,
        "frames": [
            {
                "call": frame.call,
                "lanes": [
                    {"tokens": racer.discovery_tokens, "present": racer.present} for racer in frame.racers
                ],
            }
            for frame in race.frames()
        ],
    }


def _lane(racer: Racer) -> dict[str, Any]:
    return {
        "profile": racer.profile,
        "model": racer.model,
        "tokenizer": racer.tokenizer,
        "calls": racer.model_calls,
        "searches": racer.searches,
        "bound": racer.bound,
        "tool_tokens": racer.tool_tokens,
        "search_tokens": racer.search_tokens,
        "input_tokens": racer.input_tokens,
        "billed": racer.billed,
        "dollars": racer.dollars,
        "last": racer.last,
        "outcome": racer.outcome,
        "refused": racer.refused,
        "failed": racer.failed,
        "solved": racer.steps,
        "tokens": racer.discovery_tokens,
        "dollars_per_step": racer.dollars_per_step,
    }
