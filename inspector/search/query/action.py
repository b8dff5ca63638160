"""What a text asks to be done, or a tool's name says it does, by groups of verbs of like meaning.

A request to delete is not served by a tool that lists, however much the two have in common. A verb in several
groups (“save”: make or copy) agrees with either.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from inspector.search.term import split_words, stem

_GROUPS = (
    "get list show find search read fetch view look lookup check retrieve query see display "
    "browse tell what which who when where how describe inspect count open",
    "create add make new insert generate build write post register set up draft compose start "
    "schedule book plan log record file",
    "delete remove drop erase clear cancel discard trash uninstall revoke unsubscribe close end "
    "stop terminate purge wipe destroy kill void",
    "update edit change modify rename replace alter adjust move reschedule reassign patch mark "
    "tag label assign set configure",
    "send email mail message post share forward reply notify publish submit invite",
    "copy duplicate clone fork backup export download save archive",
    "upload import sync load attach push",
    "convert transform translate parse format compress encode decode resize merge split render",
    "enable activate turn resume unlock restore undelete unarchive recover reopen restart",
    "disable deactivate pause suspend lock block mute archive freeze hide ban",
    "calculate compute evaluate solve measure compare analyze estimate predict forecast summarize",
    "run execute deploy trigger launch call invoke play",
    "pay charge refund buy order purchase transfer sell subscribe",
    "approve reject accept decline confirm sign verify validate test",
)


# What people say for an action without its verb.
_SAID = (
    (r"\bmoney\s+back\b|\breimburse", "refund"),
    (
        r"\b(?:get|got)\s+rid\s+of\b|\bthrow\w*\s+(?:\w+\s+){0,3}(?:away|out)\b|\btake\w*\s+(?:\w+\s+){0,3}down\b",
        "delete",
    ),
    (
        r"\b(?:call|called)\s+off\b|\bno\s+longer\s+(?:want|need)|\bdon[’']?t\s+(?:want|need)\b.*\bany\s?more\b",
        "cancel",
    ),
    (r"\blet\s+\w+(?:\s+\w+)?\s+in\b", "unlock"),
)


@lru_cache(maxsize=1)
def _by_stem() -> dict[str, int]:
    bits: dict[str, int] = {}
    for number, group in enumerate(_GROUPS):
        for verb in group.split():
            bits[stem(verb)] = bits.get(stem(verb), 0) | 1 << number
    return bits


def actions(words: Iterable[str]) -> int:
    """The groups of all verbs among the words, one bit each."""
    found = 0
    for word in words:
        found |= _by_stem().get(stem(word.lower()), 0)
    return found


@lru_cache(maxsize=16_384)
def offered(tool_name: str) -> int:
    """The groups of all verbs in a tool's name."""
    return actions(split_words(tool_name))


def asked_action(text: str) -> int:
    """The groups of the first verb of a text; 0 if it has none."""
    bits = [actions([word]) for word in split_words(text)]
    return next(filter(None, bits), 0)


def asks_for(text: str, tool_name: str, verb: str = "") -> bool:
    """Whether a text names, or paraphrases, an action of the kind that a tool does.

    `verb` says what it does, by default the first verb of its name. The name's other words are what it is
    done to, and ask for nothing: whoever mentions an order does not ask to refund one.
    """
    words = split_words(tool_name)
    verb = verb or next(filter(lambda word: actions([word]), words), "")
    objects = {stem(word.lower()) for word in words} - {stem(verb.lower())}
    asked = [word for word in split_words(text) if stem(word.lower()) not in objects]
    said = [done for pattern, done in _SAID if re.search(pattern, text, re.IGNORECASE)]
    return bool(actions([*asked, *said]) & actions([verb]))
