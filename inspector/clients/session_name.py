"""Names imported sessions: the same transcript gets the same id each time, and no other one gets it."""

import hashlib
import re

from inspector.clients.transcript import Answered, Asked, Begun, Called, Entry, Searched

UNKNOWN_AGENT = "agent"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME, _DIGEST = 8, 8


def session_id(begun: Begun, file: str, first: str = "") -> str:
    """The id of an imported session: agent, and the agent's own name of it.

    Where the transcript has no name of its own, the file's name and the `first` entry stand for it.
    """
    own = begun.session or file
    name = _UNSAFE.sub("-", own)[:_NAME].strip("-.")
    key = "\0".join((begun.agent, begun.parent, own, *(() if begun.session else (first,))))
    agent = _UNSAFE.sub("-", begun.agent).strip("-.") or UNKNOWN_AGENT
    return "-".join(filter(None, (agent, name, digest(key))))


def apart(session: str, question: str) -> str:
    """The id of a session that has another one's id and another first question."""
    return f"{session}-{digest(question)}"


def entry_key(entry: Entry) -> str:
    """What identifies this entry, and stays the same when more is appended to it."""
    match entry:
        case Asked(said):
            told = said
        case Answered(id_):
            told = id_
        case Searched(call_id) | Called(call_id):
            told = call_id
        case _:
            told = ""
    return digest("\0".join((type(entry).__name__, str(entry.at), told)))


def digest(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
