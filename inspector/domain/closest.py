"""Which of the known names someone may have meant."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_CUTOFF = 0.6
_CONTAINED, _WHOLE = 0.6, 0.85
_SHORTEST_CONTAINED = 3


def closest(
    name: str, candidates: Iterable[str], limit: int = 3, *, cutoff: float = _CUTOFF
) -> tuple[str, ...]:
    """The candidates most like `name`, best first, down to a likeness of `cutoff` (0 to 1).

    Case and separators do not count (`getWeather`, `get-weather` and `get_weather` are one name), nor does
    the order of words; a server's prefix is no obstacle.
    """
    wanted = _words(name)
    joined, in_order = "".join(wanted), "".join(sorted(wanted))
    matcher, sorted_matcher = _matcher(joined), _matcher(in_order)
    scored = []
    for position, candidate in enumerate(dict.fromkeys(candidates)):
        words = _words(candidate)
        text = "".join(words)
        score = max(
            _ratio(matcher, text, cutoff),
            _ratio(sorted_matcher, "".join(sorted(words)), cutoff),
            _containment(joined, text),
        )
        if score >= cutoff:
            scored.append((-score, position, candidate))
    return tuple(candidate for _score, _position, candidate in sorted(scored)[: max(limit, 0)])


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)] or [name.casefold()]


def _matcher(text: str) -> SequenceMatcher[str]:
    # SequenceMatcher keeps what it learns of its second text: the fixed one goes there.
    return SequenceMatcher(None, "", text, autojunk=False)


def _ratio(matcher: SequenceMatcher[str], text: str, cutoff: float) -> float:
    """Likeness from 0 to 1; 0 as soon as a cheap bound shows that it is below the cut."""
    matcher.set_seq1(text)
    if matcher.real_quick_ratio() < cutoff or matcher.quick_ratio() < cutoff:
        return 0.0
    return matcher.ratio()


def _containment(wanted: str, text: str) -> float:
    """A name within another is near, the more of it the nearer."""
    shorter, longer = sorted((wanted, text), key=len)
    if len(shorter) < _SHORTEST_CONTAINED or shorter not in longer:
        return 0.0
    return _CONTAINED + (_WHOLE - _CONTAINED) * len(shorter) / len(longer)
