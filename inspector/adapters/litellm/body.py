"""What the body of a provider's error says: its own sentence, and a code. Anything may have answered."""

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

_LONGEST_READ = 100_000
_DEEPEST = 6
# From the most to the least telling; OpenRouter passes on in `raw` what the model's own provider said.
_SENTENCES = ("raw", "message", "msg", "detail", "error", "errors", "metadata")
_CODES = ("code", "type", "status", "reason")
_TITLE = re.compile(r"<(title|h1)[^>]*>(.*?)</\1", re.IGNORECASE | re.DOTALL)
_WAIT = re.compile(r"(?:try again|retry)\w* (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """A body as text and, if it is JSON, as `data`; `is_page` if it is a web page."""

    text: str = ""
    data: Any = None
    is_page: bool = False

    @property
    def sentence(self) -> str:
        """What it says of the error, in its own words; "" if nothing."""
        if self.is_page:
            titles = (found[2].strip() for found in _TITLE.finditer(self.text))
            return next(filter(None, titles), "")
        return self.text if self.data is None else _sentence(self.data)

    @property
    def codes(self) -> frozenset[str]:
        """Every code, type and status that it gives the error, in lower case."""
        return frozenset(_codes(self.data))

    @property
    def wait(self) -> str:
        """How long it says to wait, such as `20s`; "" if it does not."""
        told = _first(self.data, "retryDelay") or (found[1] if (found := _WAIT.search(self.text)) else "")
        return str(told)

    @property
    def pretty(self) -> str:
        """The text to read: JSON a line a field."""
        return self.text if self.data is None else json.dumps(self.data, indent=2, ensure_ascii=False)


def read_body(text: str) -> Body:
    """Read a body; litellm hands on some as the text of Python's `bytes`."""
    text = _decoded(text[:_LONGEST_READ]).strip()
    if text[:1] == "<" and "<html" in text[:1000].lower():
        return Body(text, is_page=True)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Body(text)
    return Body(text, data) if isinstance(data, dict | list) else Body(text)


def _decoded(text: str) -> str:
    if not text.startswith(("b'", 'b"')):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else text


def _sentence(value: Any, depth: int = 0) -> str:
    """The most telling text within a value."""
    if isinstance(value, str):
        inner = read_body(value) if value[:1] in "{[<" else Body(value)
        return value if inner.data is None and not inner.is_page else inner.sentence
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return ""
    if isinstance(value, list):
        return next(filter(None, (_sentence(item, depth + 1) for item in value[:5])), "")
    if isinstance(place := value.get("loc"), list) and isinstance(value.get("msg"), str):
        return f"{'.'.join(map(str, place))}: {value['msg']}"
    # What was passed on says more than that something was.
    metadata = value.get("metadata")
    passed = metadata.get("raw") if isinstance(metadata, dict) else None
    parts = (passed, *(value.get(name) for name in _SENTENCES))
    return next(filter(None, (_sentence(part, depth + 1) for part in parts)), "")


def _codes(value: Any, depth: int = 0) -> list[str]:
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return []
    if isinstance(value, list):
        return [code for item in value[:5] for code in _codes(item, depth + 1)]
    own = [str(value[name]).lower() for name in _CODES if isinstance(value.get(name), str | int)]
    return own + [code for part in value.values() for code in _codes(part, depth + 1)]


def _first(value: Any, name: str, depth: int = 0) -> Any:
    """The first value of a field, anywhere within."""
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict) and isinstance(value.get(name), str):
        return value[name]
    parts = value if isinstance(value, list) else value.values()
    return next((found for part in parts if (found := _first(part, name, depth + 1))), None)
