"""The names by which a client's model knows tools: made of server and tool, cut, hashed, kept apart."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from inspector.clients.client import Change, Kind
from inspector.clients.rule import NameRule
from inspector.core.tool import Tool

_MIDDLE, _DELIMITER = "...", "__"
_FNV_START, _FNV_PRIME, _WORD = 2_166_136_261, 16_777_619, 2**32
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def sent_name(rule: NameRule, server: str, tool: str) -> str:
    """The name of a tool as the model reads it; one that is refused is returned whole."""
    called = _replaced(rule, rule.replaced, tool.lower() if rule.lower else tool)
    called = re.sub(rule.dropped, "", called) if rule.dropped else called
    name = rule.form.format(server=_server_part(rule, server), tool=called)
    plain = rule.form.format(server=server, tool=tool)
    is_long = 0 < rule.limit < len(name)
    if rule.over == "hash":
        changed = rule.hashed == "changed" and (is_long or plain != name)
        if not (is_long or changed or rule.hashed == "always"):
            return name
        if rule.hash == "codex":
            return _hashed(rule, _server_part(rule, server), server, tool)
        hashed = {"plain": plain, "sent": name}.get(rule.hash_of) or rule.hash_of.format(
            server=server, tool=tool
        )
        digest = f"_{_digest(rule, hashed)}"
        return f"{name[: rule.limit - len(digest)] if rule.limit else name}{digest}"
    if not is_long or rule.over == "refused":
        return name
    if rule.over == "cut":
        return name[: rule.limit]
    half = (rule.limit - len(_MIDDLE)) // 2
    return f"{name[:half]}{_MIDDLE}{name[-half:]}"


def sent_names(rule: NameRule, tools: Sequence[Tool]) -> list[str]:
    """The names of all tools: where twins are told apart by a hash or a number, with that."""
    if rule.twins == "hashed":
        return _codex_names(rule, tools)
    names = [sent_name(rule, tool.server, tool.name) for tool in tools]
    if rule.hashed == "clash":
        return _told_apart(rule, tools, names)
    if rule.twins != "numbered":
        return names
    taken: set[str] = set()
    return [_numbered(rule, name, taken) for name in names]


def _told_apart(rule: NameRule, tools: Sequence[Tool], names: Sequence[str]) -> list[str]:
    """The names, of which those of a server that are equal once cleaned have a hash, but for a plain one."""
    owners: dict[tuple[str, str], set[str]] = {}
    for tool, name in zip(tools, names, strict=True):
        owners.setdefault((tool.server, name), set()).add(tool.name)
    always = replace(rule, hashed="always", hash_of="plain" if rule.hash_of == "sent" else rule.hash_of)
    return [
        sent_name(always, tool.server, tool.name)
        if len(owners[tool.server, name]) > 1 and name != rule.form.format(server=tool.server, tool=tool.name)
        else name
        for tool, name in zip(tools, names, strict=True)
    ]


def _numbered(rule: NameRule, name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        end = f"_{number}"
        found = f"{name[: rule.limit - len(end)] if rule.limit else name}{end}"
    taken.add(found)
    return found


def _server_part(rule: NameRule, server: str) -> str:
    pattern = rule.server_replaced or rule.replaced
    part = _replaced(rule, pattern, server.lower() if rule.server_lower else server)
    return part[: rule.server_limit] if rule.server_limit else part


def _replaced(rule: NameRule, pattern: str, text: str) -> str:
    return re.sub(pattern, lambda _: rule.by, text) if pattern else text


def _codex_names(rule: NameRule, tools: Sequence[Tool]) -> list[str]:
    """The names as Codex keeps them apart: of servers or tools that would be equal, all get a hash."""
    servers: dict[str, set[str]] = {}
    for tool in tools:
        servers.setdefault(_server_part(rule, tool.server), set()).add(tool.server)
    called = [_replaced(rule, rule.replaced, tool.name) for tool in tools]
    twins = Counter((tool.server, name) for tool, name in zip(tools, called, strict=True))
    names = []
    for tool, name in zip(tools, called, strict=True):
        part, last = _server_part(rule, tool.server), name
        part += _identity(rule, tool.server, tool.server, "") if len(servers[part]) > 1 else ""
        last += _tool_identity(rule, tool.server, tool.name) if twins[tool.server, name] > 1 else ""
        whole = rule.form.format(server=part, tool=last)
        fits = not rule.limit or len(whole) <= rule.limit
        names.append(whole if fits else _hashed(rule, part, tool.server, tool.name))
    return names


def _hashed(rule: NameRule, part: str, server: str, tool: str) -> str:
    """The name with a hash at its end; after a server's name that leaves no room for it, the hash alone."""
    before, digest = rule.form.format(server=part, tool=""), _tool_identity(rule, server, tool)
    room = rule.limit - len(before) - len(digest)
    if room >= 0:
        return f"{before}{_replaced(rule, rule.replaced, tool)[:room]}{digest}"
    namespace = before.removesuffix(_DELIMITER)[: rule.limit - len(digest) - len(_DELIMITER)]
    return f"{namespace}{_DELIMITER}{digest}"


def _tool_identity(rule: NameRule, server: str, tool: str) -> str:
    return _identity(rule, server, server, "", tool, tool)


def _identity(rule: NameRule, *parts: str) -> str:
    """A hash as Codex makes it: of server, namespace, connector, and of a tool's callable and own name."""
    return "_" + _sha1("\0".join(parts))[: rule.digits]


def _digest(rule: NameRule, text: str) -> str:
    """The digits of a hash: SHA's first, or FNV-1a's of 32 bits, in base 36, or in base 16 with a sign."""
    if rule.hash == "sha256":
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: rule.digits]
    if rule.hash in ("codex", "sha1"):
        return _sha1(text)[: rule.digits]
    value = _FNV_START
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (value ^ (low | high << 8)) * _FNV_PRIME % _WORD
    if rule.hash == "fnv-36":
        return _in_base(value, 36).rjust(rule.digits, "0")
    sign = "-" if value >= _WORD // 2 else ""
    return (sign + _in_base(_WORD - value if sign else value, 16)).rjust(rule.digits, "0")


def _in_base(value: int, base: int) -> str:
    digits = ""
    while value:
        value, last = divmod(value, base)
        digits = _DIGITS[last] + digits
    return digits


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def name_refused(rule: NameRule, name: str) -> Change | None:
    """Why a name is refused, if it is."""
    if rule.limit and len(name) > rule.limit:
        says = f"its name has {len(name)} characters; at most {rule.limit} are allowed"
        return Change(Kind.NAME_REFUSED, says, "name", costs_server=rule.refuses == "server")
    if odd := re.sub(rule.allowed, "", name)[:1] if rule.allowed else "":
        says = f"its name has {odd!r}, which is not allowed"
        return Change(Kind.NAME_REFUSED, says, "name", costs_server=rule.refuses == "server")
    return None


def name_changes(rule: NameRule, name: str, tool: Tool) -> Iterator[Change]:
    """What becomes of a name that is sent."""
    plain = rule.form.format(server=tool.server, tool=tool.name)
    if rule.limit and len(plain) > rule.limit >= len(name):
        yield Change(Kind.NAME_CUT, f"name shortened from {len(plain)} characters", "name")
    wanted = f"{rule.replaced}|{rule.dropped}".strip("|")
    if (rule.lower and plain != plain.lower()) or (wanted and _replaced(rule, wanted, plain) != plain):
        yield Change(Kind.RENAMED, f"renamed from {plain}", "name")
