"""Splits a request into steps: one action each, in the user's words."""

import re

MAX_STEPS = 5
MAX_CHARACTERS = 4_000

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*(?:'\w[^']*)*'(?!\w)|`[^`]*`")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]?\s+|\s*;\s*|\n+")
_THEN = re.compile(r",?\s+(?:and\s+)?(?:then|afterwards|after that)\s+", re.IGNORECASE)
_VERBS = (
    "add|answer|append|archive|arrange|assign|book|calculate|call|cancel|change|check|clear|close|comment"
    "|compare|compute|convert|copy|count|create|delete|deploy|describe|dim|disable|download|draft|email"
    "|enable|evaluate|fetch|file|find|forward|get|give|invite|label|list|load|lock|look|mail|make|mark|merge"
    "|message|move|notify|open|pay|pin|plan|play|post|print|publish|put|read|refund|remind|remove|rename"
    "|reply|report|reserve|restore|run|save|schedule|search|send|set|share|ship|show|start|stop|summarise"
    "|summarize|switch|tag|tell|translate|turn|unlock|update|upload|write"
)
_OBJECT = (
    r"the|a|an|it|them|that|this|these|those|my|me|us|our|all|each|every|any|on|off|up|down|to|for|in|out|how"
    r"|what|which|whether|\d|[A-Z\x00\"'“‘]"
)
# A noun can look like a verb ("orders and mail"), so a verb counts only before its object.
_AND_VERB = re.compile(
    rf"(?:,\s*(?:and\s+|also\s+|please\s+)*|\s+and\s+(?:also\s+|please\s+)*)"
    rf"(?=(?i:{_VERBS})\s+(?:(?i:{_OBJECT.replace('A-Z', '')})\b|(?:{_OBJECT})))"
)
_LEADING = re.compile(r"^(?:and|also|please|then|,)\s+", re.IGNORECASE)


def split(text: str) -> tuple[str, ...]:
    """The steps in order, at most MAX_STEPS; quoted text is never split."""
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match.group())
        # A sentence may end inside its last quote.
        follows = re.match(r"\s+[A-Z]", match.string[match.end() :])
        end = "\n" if follows and match.group()[-2:-1] in {".", "!", "?"} else ""
        return f"\0{len(quotes) - 1}\0{end}"

    hidden = _QUOTED.sub(hide, text.replace("\0", " ")[:MAX_CHARACTERS])
    pieces = [hidden]
    for pattern in (_SENTENCE, _THEN, _AND_VERB):
        pieces = [part for piece in pieces for part in pattern.split(piece)]
    steps = [_tidy(piece, quotes) for piece in pieces]
    return tuple(step for step in steps if any(char.isalnum() for char in step))[:MAX_STEPS]


def _tidy(piece: str, quotes: list[str]) -> str:
    bare = _LEADING.sub("", piece.strip()).strip(" ,")
    return re.sub(r"\x00(\d+)\x00", lambda match: quotes[int(match.group(1))], bare).replace("\0", " ")


def quoted(text: str) -> tuple[str, ...]:
    """The quoted texts, without their quotes."""
    return tuple(
        match.group()[1:-1].strip() for match in _QUOTED.finditer(text) if match.group()[1:-1].strip()
    )


def without_quotes(text: str) -> str:
    """The text without its quoted parts."""
    return _QUOTED.sub(" ", text)
