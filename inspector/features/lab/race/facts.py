"""What is known of a race and of how it ended, as page and terminal say it and as programs read it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.config.profile import PROFILES
from inspector.core.number import large_saving, money, money_decimals, saving, tokens
from inspector.features.lab.comparison import ANSWERED, STATIC
from inspector.features.lab.race.race import Race, RaceFrame, Racer, Verdict
from widgets import visible

_MEANS = {STATIC: "every tool in every call", "toolsight": "tools found when needed"}
_CELL = 11
NOT_COMPARABLE = "NOT COMPARABLE"


def racer_title(profile: str) -> Content:
    """Return a racer's profile and what it means."""
    means = _MEANS.get(profile) or PROFILES[profile].title if profile in PROFILES else ""
    name = visible(profile, limit=40, newlines=False)
    return Content.assemble((name, "bold"), (f"  {means}", MUTED) if means else "")


def answered(racer: Racer) -> Content:
    """Return whether a racer answered; an answer without a solved step is no success yet."""
    if racer.outcome != ANSWERED:
        return Content.styled(
            f"✕ {visible(racer.outcome, limit=40, newlines=False) or 'no answer'}", "$text-error"
        )
    if not racer.steps:
        return Content.styled("✓ answered without a solved step", MUTED)
    return Content.styled("✓ answered", "$text-success")


def so_far(frame: RaceFrame) -> Content:
    """Return what both racers have sent so far."""
    static, other = frame.racers
    bound, found = static.discovery_tokens, other.discovery_tokens
    if not (bound and found):
        return Content.styled("Starting servers and indexing tools …", MUTED)
    share, name = 1 - found / bound, visible(other.profile, limit=40, newlines=False)
    return Content.assemble(
        (f"call {frame.call}", "bold"),
        f": {name} {tokens(found)} tokens for tools, static {tokens(bound)}, ",
        (saving(share), "bold"),
    )


def big_share(verdict: Verdict) -> str:
    """Return what is saved for the large number; "" if nothing was sent for tools."""
    if verdict.shortfall:
        return NOT_COMPARABLE
    return "" if verdict.saved is None else large_saving(verdict.saved)


def headline(verdict: Verdict) -> Content:
    """Return the result in a sentence: the saving, or why there is none."""
    static, other = verdict.racers
    if verdict.saved is None:
        return Content("no tokens were sent for tools")
    numbers = f"for tools: {tokens(other.discovery_tokens)} instead of {tokens(static.discovery_tokens)}"
    if verdict.shortfall:
        return Content.assemble((visible(verdict.shortfall, limit=400), "bold"), f"\nTokens {numbers}")
    color = "$text-success" if verdict.saved >= 0 else "$text-warning"
    return Content.assemble((saving(verdict.saved), f"bold {color}"), (f" {numbers}", "bold"))


def table_rows(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Return both sides in numbers: what it is, static binding, discovery, and the share saved."""
    static, other = verdict.racers
    return [
        ("", _short(static), _short(other), ""),
        *_tokens(verdict),
        *_money(verdict),
        ("model calls", str(static.model_calls), str(other.model_calls), ""),
        ("solved steps", str(static.steps), str(other.steps), ""),
    ]


def measured(title: str, verdict: Verdict) -> str:
    """Return in one sentence what was measured."""
    static, other = verdict.racers
    said = f"“{title}”, asked once with every tool bound ({static.profile}) and once with {other.profile}"
    answered = f"; answered by {other.model}" if other.model else ""
    return visible(f"{said}{answered}; tokens counted by {other.tokenizer}.", limit=600, newlines=False)


def table(verdict: Verdict) -> Content:
    """Return both sides in numbers, a fact a line."""
    found = table_rows(verdict)
    first = max(len(row[0]) for row in found)
    return Content("\n").join(
        Content.assemble(
            (label.ljust(first), MUTED),
            one.rjust(_CELL),
            two.rjust(_CELL),
            (f"  {share}" if share else "", MUTED),
        )
        for label, one, two, share in found
    )


def _short(racer: Racer) -> str:
    return visible(racer.profile, limit=_CELL - 1, newlines=False)[: _CELL - 1]


def _tokens(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    yield _row("definitions", static, other, lambda racer: f"{racer.tool_tokens:,}")
    yield _row("searches", static, other, lambda racer: f"{racer.search_tokens:,}" if racer.searches else "–")
    shares = (None, None) if verdict.shortfall else (verdict.input_saved, verdict.billed_saved)
    yield _row("all input", static, other, lambda racer: f"{racer.input_tokens:,}", shares[0])
    if other.billed is not None and static.billed is not None and (other.has_cache or static.has_cache):
        yield _row("with prompt cache", static, other, lambda racer: f"{racer.billed or 0:,.0f}", shares[1])


def _money(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    if static.dollars is None or other.dollars is None:
        return
    decimals = money_decimals((static.dollars, other.dollars))
    yield _row("input price", static, other, lambda racer: money(racer.dollars or 0.0, decimals))
    if static.dollars_per_step is not None and other.dollars_per_step is not None:
        steps = money_decimals((static.dollars_per_step, other.dollars_per_step))
        yield _row(
            "per solved step", static, other, lambda racer: money(racer.dollars_per_step or 0.0, steps)
        )


def _row(
    label: str, static: Racer, other: Racer, write: Callable[[Racer], str], saved: float | None = None
) -> tuple[str, str, str, str]:
    share = "" if saved is None else saving(saved)
    return label, write(static), write(other), share


def note_lines(verdict: Verdict) -> Content:
    """Return what to know before trusting the number, and whose prices were taken."""
    told = list(verdict.notes)
    prices = verdict.prices
    if prices is not None and all(racer.dollars is not None for racer in verdict.racers):
        told.append(f"Prices: {', '.join(filter(None, (prices.model, prices.date)))}.")
    return Content("\n").join(
        Content.assemble(("· ", MUTED), visible(note, limit=300, newlines=False)) for note in told
    )


def result(verdict: Verdict) -> Content:
    """Return everything below one another, for where there is no room for a large number."""
    return Content("\n").join([headline(verdict), table(verdict), note_lines(verdict)])


def race_json(race: Race, verdict: Verdict, sessions: Sequence[str], *, asked: bool) -> dict[str, Any]:
    """A race that is over; `asked` says that it was one of a question."""
    prices = verdict.prices
    return {
        "title": race.scenario.title,
        "scripted": race.scripted,
        "question": asked,
        "sessions": list(sessions),
        "lanes": [_lane(racer) for racer in verdict.racers],
        "shortfall": verdict.shortfall,
        "saved": verdict.saved,
        "input_saved": verdict.input_saved,
        "billed_saved": verdict.billed_saved,
        "prices": prices and asdict(prices),
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
        "message": racer.message,
        "calls": racer.model_calls,
        "searches": racer.searches,
        "bound": racer.bound,
        "present": racer.present,
        "tool_tokens": racer.tool_tokens,
        "search_tokens": racer.search_tokens,
        "input_tokens": racer.input_tokens,
        "billed": racer.billed,
        "dollars": racer.dollars,
        "last": racer.last,
        "outcome": racer.outcome,
        "is_over": racer.is_over,
        "refused": racer.refused,
        "failed": racer.failed,
        "solved": racer.steps,
        "tokens": racer.discovery_tokens,
        "dollars_per_step": racer.dollars_per_step,
    }
