"""A small table of synonyms for words that are common in tool names."""

from collections.abc import Mapping
from functools import cache

from inspector.engine.discovery.term import stem

_TABLE: Mapping[str, tuple[str, ...]] = {
    # Verbs.
    "add": ("put in", "attach"),
    "analyze": ("look into", "examine"),
    "archive": ("put away",),
    "calculate": ("work out", "figure out"),
    "cancel": ("call off",),
    "change": ("alter", "adjust"),
    "check": ("look at", "see whether"),
    "close": ("shut", "finish"),
    "compare": ("tell apart", "put side by side"),
    "convert": ("turn", "transform"),
    "copy": ("duplicate",),
    "create": ("make", "add"),
    "delete": ("remove", "get rid of"),
    "describe": ("explain", "tell me about"),
    "download": ("save locally",),
    "edit": ("change", "revise"),
    "evaluate": ("work out",),
    "execute": ("run",),
    "export": ("save out",),
    "fetch": ("get me", "retrieve"),
    "find": ("look for", "where is"),
    "generate": ("make", "produce"),
    "get": ("what is", "tell me"),
    "import": ("bring in", "load"),
    "install": ("set up",),
    "list": ("show", "which are"),
    "lookup": ("find",),
    "merge": ("combine", "join"),
    "move": ("relocate", "shift"),
    "open": ("start", "bring up"),
    "publish": ("make public", "release"),
    "query": ("ask",),
    "read": ("open", "show me"),
    "remove": ("delete", "take away"),
    "rename": ("give another name to",),
    "reply": ("answer",),
    "resolve": ("settle",),
    "retrieve": ("fetch", "give me"),
    "return": ("show", "give me"),
    "run": ("execute", "start"),
    "save": ("keep", "store"),
    "schedule": ("plan", "arrange"),
    "search": ("look for", "find"),
    "send": ("write", "pass on"),
    "set": ("change", "put"),
    "share": ("give access to",),
    "show": ("display", "let me see"),
    "start": ("begin", "launch"),
    "stop": ("halt", "end"),
    "summarize": ("sum up",),
    "translate": ("say in another language",),
    "update": ("change", "modify"),
    "upload": ("send up", "put online"),
    "validate": ("check",),
    "write": ("put down",),
    # Nouns.
    "alert": ("warning",),
    "appointment": ("meeting",),
    "article": ("text",),
    "comment": ("remark",),
    "customer": ("client", "buyer"),
    "directory": ("folder",),
    "document": ("file", "paper"),
    "email": ("mail",),
    "error": ("failure",),
    "event": ("appointment", "happening"),
    "folder": ("directory",),
    "forecast": ("outlook", "prediction"),
    "image": ("picture", "photo"),
    "invoice": ("bill",),
    "issue": ("problem", "ticket"),
    "job": ("task",),
    "location": ("place",),
    "log": ("record",),
    "message": ("text",),
    "order": ("purchase",),
    "price": ("cost",),
    "product": ("article", "item"),
    "repository": ("code base",),
    "task": ("to-do", "piece of work"),
    "user": ("person", "member"),
    "website": ("site", "web page"),
}


def synonyms(word: str) -> tuple[str, ...]:
    """Synonyms of a word in any of its forms; empty if the table has none."""
    return _by_stem().get(stem(word.lower()), ())


@cache
def _by_stem() -> Mapping[str, tuple[str, ...]]:
    return {stem(word): others for word, others in _TABLE.items()}
