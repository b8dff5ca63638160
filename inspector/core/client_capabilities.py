"""What Toolsight declares to a server as its client: for people, and as the protocol writes it."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.schema.json_value import JsonObject

_SECTION = "client"


def declared(client: ClientCapabilities, spec: ServerSpec) -> ClientCapabilities:
    """What is declared to a server: the same as to all, except what its own entry says."""
    return replace(client, **spec.client) if spec.client else client


def setting_values(client: ClientCapabilities) -> dict[str, Any]:
    """The settings by path that declare exactly this."""
    return {f"{_SECTION}.{name}": value for name, value in asdict(client).items()}


def is_about_client(path: str) -> bool:
    """Whether a setting decides what is declared, so that servers have to be connected anew."""
    return path.partition(".")[0] == _SECTION


def protocol_form(client: ClientCapabilities) -> JsonObject:
    """The `capabilities` of an `initialize` request, and of `_meta` under protocol 2026-07-28."""
    modes: Mapping[str, bool] = {"form": client.forms, "url": client.links}
    elicitation: dict[str, Any] = {mode: {} for mode, is_declared in modes.items() if is_declared}
    form: dict[str, Any] = {}
    if client.roots:
        form["roots"] = {"listChanged": True} if client.roots_changes else {}
    if elicitation:
        form["elicitation"] = elicitation
    if client.sampling:
        form["sampling"] = {}
    return form


def in_words(client: ClientCapabilities) -> tuple[str, ...]:
    """What is declared, a capability a text, in the words of what a server says of itself."""
    modes = [mode for mode, is_declared in (("form", client.forms), ("url", client.links)) if is_declared]
    named = (
        ("roots (listChanged)" if client.roots_changes else "roots", client.roots),
        (f"elicitation ({', '.join(modes)})", bool(modes)),
        ("sampling", client.sampling),
    )
    return tuple(text for text, is_declared in named if is_declared)
