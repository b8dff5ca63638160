"""The fields of an elicitation form, read from its flat schema, and what is wrong with a value.

The schema is the server's: what cannot be read of it becomes a field for text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from math import isfinite
from typing import Any, Literal
from urllib.parse import urlsplit

from inspector.config.suspect import asks_for_a_secret
from inspector.core.secret_value import looks_secret
from inspector.mcp.elicitation import FormRequest, impersonation
from inspector.schema.json_value import JsonObject

FieldKind = Literal["string", "integer", "number", "boolean", "choice", "choices"]
MAX_FIELDS = 100
_KINDS: Mapping[str, FieldKind] = {"integer": "integer", "number": "number", "boolean": "boolean"}
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)*")
_LONGEST_EMAIL = 320
_SECRET = "It seems to ask for a secret ({}), which a form must never do. Decline, or leave it empty."


@dataclass(frozen=True, slots=True)
class FormField:
    """One value that a server asks for. `options` are the values of a choice with their titles.

    `low` and `high` bound a number, the letters of a text, or how many are chosen; None for no bound.
    """

    name: str
    kind: FieldKind = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    options: tuple[tuple[str, str], ...] = ()
    format: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def is_secret(self) -> bool:
        """Whether it asks for what a form must not ask for: a password, a key, a token."""
        texts = (self.name, self.title, self.description)
        return (
            self.format == "password"
            or looks_secret(self.name)
            or looks_secret(self.title)
            or any(map(asks_for_a_secret, texts))
        )

    def problem(self, value: Any) -> str:
        """What is wrong with a value of the field's type, as the end of a sentence; "" for nothing."""
        if self.kind == "string":
            return self._text_problem(value)
        if self.kind in ("integer", "number"):
            return self._range_problem(value, "at least {:g}", "at most {:g}")
        if self.kind == "choices":
            return self._range_problem(len(value), "choose at least {:g}", "choose at most {:g}")
        return ""

    def _text_problem(self, value: str) -> str:
        wrong = self._range_problem(len(value), "at least {:g} characters", "at most {:g} characters")
        return wrong or _format_problem(self.format, value)

    def _range_problem(self, value: float, too_low: str, too_high: str) -> str:
        if self.low is not None and value < self.low:
            return too_low.format(self.low)
        return too_high.format(self.high) if self.high is not None and value > self.high else ""


def form_fields(schema: JsonObject) -> tuple[FormField, ...]:
    """The fields in the schema's order; a form of a server that floods is cut at MAX_FIELDS."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    entries = list(properties.items())[:MAX_FIELDS]
    return tuple(_field(str(name), part, name in names) for name, part in entries)


def form_warnings(request: FormRequest, fields: Sequence[FormField]) -> tuple[str, ...]:
    """What to look at before filling in a form: what it asks for, and in whose name."""
    secret = [field.title or field.name for field in fields if field.is_secret]
    if not secret and asks_for_a_secret(request.message):
        secret = ["its text says so"]
    parts = (part for field in fields for part in (field.name, field.title, field.description))
    asked = _SECRET.format(", ".join(secret)) if secret else ""
    said = "\n".join((request.message, *parts))
    return tuple(filter(None, (asked, impersonation(f"the server {request.server}", said))))


def without_secrets(fields: tuple[FormField, ...], content: JsonObject) -> JsonObject:
    """The answers to record: those to fields that ask for a secret are left out."""
    kept = {field.name for field in fields if not field.is_secret}
    return {name: value for name, value in content.items() if name in kept}


def _field(name: str, part: object, required: bool) -> FormField:
    if not isinstance(part, Mapping):
        return FormField(name, required=required)
    kind, options = _kind(part)
    low, high = _bounds(part, kind)
    field = FormField(
        name,
        kind,
        _text(part, "title"),
        _text(part, "description"),
        required,
        options=options,
        format=_text(part, "format"),
        low=low,
        high=high,
    )
    default = part.get("default")
    return replace(field, default=default) if _fits(field, default) else field


def _kind(part: Mapping[str, Any]) -> tuple[FieldKind, tuple[tuple[str, str], ...]]:
    if part.get("type") == "array":
        items = part.get("items")
        return "choices", tuple(_options(items)) if isinstance(items, Mapping) else ()
    if options := tuple(_options(part)):
        return "choice", options
    return _KINDS.get(str(part.get("type")), "string"), ()


def _options(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values with their titles: `enum`, `enum` with `enumNames`, or `oneOf`/`anyOf` of constants."""
    values, names = part.get("enum"), part.get("enumNames")
    if isinstance(values, list):
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        yield from (
            (value, str(title)) for value, title in zip(values, titles, strict=True) if _is_text(value)
        )
        return
    for keyword in ("oneOf", "anyOf"):
        listed = part.get(keyword)
        for option in listed if isinstance(listed, list) else ():
            if isinstance(option, Mapping) and _is_text(option.get("const")):
                yield option["const"], _text(option, "title") or option["const"]


def _bounds(part: Mapping[str, Any], kind: FieldKind) -> tuple[float | None, float | None]:
    keys = {"string": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}
    low, high = keys.get(kind, ("minimum", "maximum"))
    return _number(part.get(low)), _number(part.get(high))


def _fits(field: FormField, value: Any) -> bool:
    """Whether the field can hold a default: servers' schemas contradict themselves."""
    known = {option for option, _ in field.options}
    number = _number(value)
    match field.kind:
        case "choices":
            return isinstance(value, list) and all(_is_text(each) and each in known for each in value)
        case "choice":
            return _is_text(value) and value in known
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return number is not None and number.is_integer()
        case "number":
            return number is not None
        case _:
            return _is_text(value)


def _format_problem(name: str, value: str) -> str:
    match name:
        case "email":
            is_good = len(value) <= _LONGEST_EMAIL and bool(_EMAIL.fullmatch(value))
            return "" if is_good else "an e-mail address such as ada@example.com"
        case "uri":
            return "" if _is_uri(value) else "an address such as https://example.com"
        case "date":
            return "" if _is_date(value) else "a date such as 2026-07-28"
        case "date-time":
            return "" if _is_time(value) else "a date and time such as 2026-07-28T09:30:00Z"
    return ""


def _is_uri(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not any(map(str.isspace, value))


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None and "T" in value.upper()
    except ValueError:
        return False


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _number(value: object) -> float | None:
    """A finite number; None for anything else, also for one that no float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
