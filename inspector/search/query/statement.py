"""Whether a sentence asks for nothing.

Where something is asked, what is merely said beside it is not looked for. These are rules of thumb for
English: a subject and its verb make a statement, unless the sentence asks, or goes on with an imperative
(“our edits are done, publish the site”).
"""

import re

from inspector.search.query.imperative import STEP_VERBS, further_steps

_ASKS = re.compile(
    r"\?|\b(?:could|can|would|will)\s+you\b|\bplease\b|\b(?:i|we)(?:[’']d|\s+would)\s+like\b"
    r"|\b(?:i|we)\s+(?:\w+\s+)?(?:need|want|wish)\b"
    r"|\blooking\s+for\b|\blet\s+me\s+know\b|\btell\s+me\b|\bhelp\s+me\b",
    re.IGNORECASE,
)
# A subject that nobody searches for, after any number of interjections.
_SUBJECT = re.compile(
    r"""\W*(?:(?:so|well|okay|ok|oh|ah|hm+|wow|yes|no|yeah|fine|sure|anyway|honestly|sometimes|then|now|just|and
          |but|maybe|again|at\s+least|to\s+be\s+honest|in\s+my\s+opinion|of\s+course)\W+)*
    (?: (?:i|we|you|it|there|he|she|they|that|this)(?:[’'](?:m|ve|ll|d|re|s))?
      | my | our | the | his | her | their | these | those
      | (?:no|every|some|any)(?:body|one|thing) | nothing | people | what\s+an? | not
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTION_WORD = re.compile(
    r"\W*(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could"
    r"|may|should|will|would|am|any|don|let)\b",
    re.IGNORECASE,
)
_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|am)(?:n[’']t)?\b|[’'](?:re|ve|ll|m)\b"
    r"|\b(?:don|won|can|couldn|wouldn)[’']t\b",
    re.IGNORECASE,
)
# What comes after one of these, or after a comma, says more of a thing that is asked for.
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whom|whose|what|where|when|whenever|wherever|why|how|if|whether|there|until|once"
    r"|because|since|as|while|unless)\b|,(?!$)",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"(?:\s[-–—]|:)\s+([a-z]+)", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\W*(\w+)")


def is_statement(sentence: str) -> bool:
    """Whether a sentence says something and asks for nothing. A few words without a verb are a request."""
    if _ASKS.search(sentence) or _has_imperative(sentence):
        return False
    return bool(_SUBJECT.match(sentence)) or _begins_with_subject_and_verb(sentence)


def _has_imperative(sentence: str) -> bool:
    """Whether one follows what is said first."""
    after_colon = (match[1].lower() for match in _AFTER_COLON.finditer(sentence))
    return any(further_steps(sentence)) or any(word in STEP_VERBS for word in after_colon)


def _begins_with_subject_and_verb(sentence: str) -> bool:
    first = _FIRST_WORD.match(sentence)
    if first is None or first[1].lower() in STEP_VERBS or _QUESTION_WORD.match(sentence):
        return False
    verb = _FINITE_VERB.search(sentence)
    return verb is not None and not _SUBORDINATE.search(sentence[: verb.start()].strip())
