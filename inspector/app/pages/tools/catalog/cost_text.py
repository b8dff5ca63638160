"""What a tool costs: its tokens by part, bound in every call, and deferred."""

from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.fact import fact
from inspector.app.draw.style import MUTED
from inspector.domain.budget import Tokenizer, ToolCost
from inspector.domain.number import bar, count, money, percent
from inspector.domain.price import Prices
from widgets import plain

_BAR = 20
_LABELS = 18


@dataclass(frozen=True, slots=True)
class ToolBill:
    """A tool's cost, and what to compare it with.

    `all_tools` are the tokens of every permitted tool, `tools` is their number; `mention` are the tokens of
    the tool's name in the manifest, 0 if the manifest does not name it.
    """

    cost: ToolCost
    all_tools: int
    tools: int
    mention: int
    tokenizer: Tokenizer
    prices: Prices | None = None


def bill_lines(bill: ToolBill, width: int = 0) -> Content:
    """Return the bill in lines of `width`: parts first, then what the tool costs bound and deferred."""
    total = bill.cost.tokens
    head = Content.assemble((f"{total:,} tokens", "bold"), _share(bill))
    parts = (
        ("name", bill.cost.name),
        ("description", bill.cost.description),
        ("parameters", bill.cost.schema),
        ("JSON around them", bill.cost.framing),
    )
    return Content("\n").join(
        [
            head,
            Content(""),
            *(_part(label, tokens, total) for label, tokens in parts),
            Content(""),
            fact("bound", plain(_bound(bill)), _LABELS, width),
            fact("deferred", plain(_deferred(bill)), _LABELS, width),
            Content(""),
            Content.styled(
                f"tokens counted by {bill.tokenizer.label} in the compact JSON that is sent", MUTED
            ),
        ]
    )


def _part(label: str, tokens: int, total: int) -> Content:
    share = tokens / total if total else 0.0
    return Content.assemble(
        (f"{label:<{_LABELS}}", MUTED), f"{tokens:>7,}  {percent(share):>5}  ", bar(share, _BAR)
    )


def _share(bill: ToolBill) -> str:
    if not bill.all_tools:
        return ""
    share = percent(bill.cost.tokens / bill.all_tools, 1)
    return f"   {share} of the {bill.all_tools:,} for all {count(bill.tools, 'tool')}"


def _bound(bill: ToolBill) -> str:
    text = f"{bill.cost.tokens:,} tokens in every model call"
    if bill.prices is None:
        return text
    price = money(bill.cost.tokens * bill.prices.input)
    return f"{text}: {price} per call at {bill.prices.model} prices, without a prompt cache"


def _deferred(bill: ToolBill) -> str:
    named = f"{count(bill.mention, 'token')} for its name in the manifest" if bill.mention else "nothing"
    return f"{named} until a search finds it, then {bill.cost.tokens:,} in every call"
