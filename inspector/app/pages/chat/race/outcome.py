"""How a race ended: the number for the whole screen, the table of both sides, and what limits them."""

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.number import money, money_decimals, percent, tokens
from inspector.scenario.race import Racer, Verdict
from widgets import visible

_CELL = 11


def big_share(verdict: Verdict) -> str:
    """Return the saved share for the large number; empty if there is none that one could be proud of."""
    return "" if verdict.saved is None or verdict.shortfall else percent(verdict.saved).replace(" ", "")


def headline(verdict: Verdict) -> Content:
    """Return the result in a sentence: the saving, or why there is none."""
    static, other = verdict.racers
    if verdict.saved is None:
        return Content("no tokens were sent for tools")
    numbers = f"for tools: {tokens(other.tokens)} instead of {tokens(static.tokens)}"
    if verdict.shortfall:
        return Content.assemble((visible(verdict.shortfall, limit=400), "bold"), f"\nTokens {numbers}")
    verb, color = ("saved", "$text-success") if verdict.saved >= 0 else ("more", "$text-warning")
    return Content.assemble(
        (f"{percent(abs(verdict.saved))} {verb}", f"bold {color}"), (f" {numbers}", "bold")
    )


def rows(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Return both sides in numbers: what it is, static binding, discovery, and the share saved."""
    static, other = verdict.racers
    return [
        ("", _short(static), _short(other), ""),
        *_tokens(verdict),
        *_money(verdict),
        ("model calls", str(static.calls), str(other.calls), ""),
        ("solved steps", str(static.solved.count), str(other.solved.count), ""),
    ]


def measured(title: str, verdict: Verdict) -> str:
    """Return in one sentence what was measured."""
    static, other = verdict.racers
    said = f"“{title}”, asked once with every tool bound ({static.profile}) and once with {other.profile}"
    answered = f"; answered by {other.model}" if other.model else ""
    return visible(f"{said}{answered}; tokens counted by {other.tokenizer}.", limit=600, newlines=False)


def table(verdict: Verdict) -> Content:
    """Return both sides in numbers, a fact a line."""
    found = rows(verdict)
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
    share = "" if saved is None else f"{percent(abs(saved))} {'less' if saved >= 0 else 'more'}"
    return label, write(static), write(other), share


def notes(verdict: Verdict) -> Content:
    """Return what to know before trusting the number, and whose prices were taken."""
    told = list(verdict.notes)
    if verdict.prices is not None and all(racer.dollars is not None for racer in verdict.racers):
        told.append(f"Prices: {prices(verdict)}.")
    return Content("\n").join(_noted(told))


def _noted(told: Sequence[str]) -> Iterator[Content]:
    return (Content.assemble(("· ", MUTED), visible(note, limit=300, newlines=False)) for note in told)


def result(verdict: Verdict) -> Content:
    """Return everything below one another, for where there is no room for a large number."""
    return Content("\n").join([headline(verdict), table(verdict), notes(verdict)])


def prices(verdict: Verdict, *, source: bool = False) -> str:
    """Return the model and date of the input prices, with `source` also their list."""
    known = verdict.prices
    facts = (known.model, known.source if source else "", known.date) if known is not None else ()
    return visible(", ".join(fact for fact in facts if fact), limit=200, newlines=False)
