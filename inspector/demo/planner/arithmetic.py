"""Reads arithmetic written in words."""

import re

_WORDS = (
    (r"\bdivided\s+by\b|\bover\b|÷", "/"),
    (r"\bmultiplied\s+by\b|\btimes\b|×", "*"),
    (r"\bto\s+the\s+power\s+of\b", "**"),
    (r"\bplus\b", "+"),
    (r"\bminus\b|−", "-"),
    (r"\bsquared\b", "** 2"),
    (r"(\d)\s*(?:%|percent)\s+of\b", r"\1 / 100 *"),
    (r"(?<=\d)\s*x\s*(?=\d)", " * "),
)
_EXPRESSION = re.compile(r"[-(]*\d[\d.]*(?:[\s()]*(?:\*\*|[-+*/^%])[\s()-]*\d[\d.]*)+\)*")
# A day and a range look like subtractions.
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:T[\d:]+)?")


def expression(text: str) -> str:
    """The arithmetic in a text as an expression, or an empty string: `6 times 7` is `6 * 7`."""
    written = _DATE.sub(" ", text)
    for pattern, symbol in _WORDS:
        written = re.sub(pattern, symbol, written, flags=re.IGNORECASE)
    longest = max(_EXPRESSION.findall(written), key=len, default="")
    return " ".join(longest.split()).rstrip(".")
