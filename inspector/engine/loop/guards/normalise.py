"""Normalizes arguments, so that equivalent ones are equal (semantic tool discovery, section 7.2).

These differences are ignored:

- the order of an object's keys, keys with null, and the keys that the caller ignores
- white space around a text, and the amount of white space inside
- number formats: 3, 3.0, "3" and "3.00" are equal; "3.10" is not 3.1, since it may be a version
- slashes at the end of a path or any other text
- in http(s) URLs: the case of scheme and host, the default port, slashes at the end of the path, the
  fragment, the order of query parameters, and the parameters in `_TRACKING`

All other differences count: the order of lists, the case of text, "007" and "1e3", true and 1.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from inspector.domain.jsonvalue import JsonObject

_MAX_DEPTH = 32
_TRACKING = frozenset(
    {"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_ga", "_", "cachebuster"}
)  # and all of utm_*
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_URL = re.compile(r"(https?)://([^/?# ]+)([^?# ]*)(?:\?([^# ]*))?(?:#[^ ]*)?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def normalised(arguments: JsonObject, ignored: Collection[str] = ()) -> JsonObject:
    """The normalized arguments, without the `ignored` top-level keys.

    Numbers become text, so that 1 differs from true in Python too. Values nested more than 32 levels deep
    become a digest. Idempotent; never raises for JSON, whatever its texts, size or depth.
    """
    return _object({key: value for key, value in arguments.items() if key not in ignored}, 0)


def _object(values: JsonObject, depth: int) -> dict[str, Any]:
    return {key: _value(value, depth + 1) for key, value in _present(values)}


def _present(values: JsonObject) -> list[tuple[str, Any]]:
    return sorted((item for item in values.items() if item[1] is not None), key=lambda item: item[0])


def _value(value: Any, depth: int) -> Any:
    nested = isinstance(value, Mapping | list | tuple)
    if nested and depth > _MAX_DEPTH:
        return _digest(value)
    if isinstance(value, Mapping):
        return _object(value, depth)
    return [_value(item, depth + 1) for item in value] if nested else _scalar(value)


def _digest(value: Any) -> str:
    """A digest for a value of any depth, without recursion."""
    state, pending = hashlib.sha256(), [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            present = _present(item)
            state.update(f"object {len(present)} ".encode())
            pending.extend(part for pair in present for part in pair)
        elif isinstance(item, list | tuple):
            state.update(f"list {len(item)} ".encode())
            pending.extend(item)
        else:
            state.update(f"{_scalar(item)!r} ".encode())
    return f"sha256:{state.hexdigest()}"


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _number(_digits(value))


def _digits(number: int | float) -> str:
    """A number without an exponent, as people write it."""
    if isinstance(number, float):
        return format(Decimal(repr(number)), "f")
    try:
        return str(number)
    except ValueError:  # Python writes at most 4300 decimal digits
        return hex(number)


def _text(text: str) -> str:
    text = " ".join(text.split())
    if _URL.fullmatch(text) is None:
        text = text.rstrip("/ ") or text[:1]
    url = _URL.fullmatch(text)
    return _number(text) if url is None else _url(url)


def _number(text: str) -> str:
    if _NUMBER.fullmatch(text) is None:
        return text
    whole, _, fraction = text.partition(".")
    if fraction.strip("0"):
        return text
    return "0" if whole == "-0" else whole


def _url(url: re.Match[str]) -> str:
    scheme, authority, path, query = (part or "" for part in url.groups())
    parameters = [part for part in query.split("&") if part and not _is_tracking(_name(part))]
    kept = "&".join(sorted(parameters, key=_name))
    address = f"{scheme.lower()}://{_authority(scheme.lower(), authority)}{path.rstrip('/')}"
    return f"{address}?{kept}" if kept else address


def _authority(scheme: str, authority: str) -> str:
    user, at, host = authority.rpartition("@")
    name, _, port = host.lower().rpartition(":")
    is_whole_name = name and (":" not in name or name.endswith("]"))
    return f"{user}{at}{name if is_whole_name and port == _DEFAULT_PORTS[scheme] else host.lower()}"


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith("utm_")
