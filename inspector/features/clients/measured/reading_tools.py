"""What a conversation shows of definitions: their names, which of them are sent, texts and schemas."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.clients.client import Topic
from inspector.core.tool import ALWAYS_LOAD
from inspector.features.clients.measured.marks import SERVER, START, Key, cut, plain
from inspector.features.clients.measured.reading import Reading, Said, shown
from inspector.schema.json_value import JsonObject, compact

_SECOND, _ODD, _SCHEMAS = "marked-second", "marked-odd", "marked-schemas"
_HASH = r"_-?[0-9a-z]{6,40}"
_ALONE = {
    "marked-empty": "A tool with an empty inputSchema",
    "marked-boolean": "A tool with a parameter whose schema is true",
    "marked-new": "A server that knows 2026-07-28 alone",
    "marked-old": "A server that knows no server/discover",
}


def _is_told(reading: Reading) -> bool:
    """Whether the model is told all names at once; else a tool may be there that no search has found."""
    talk, first = reading.talk, reading.first.number
    known = {key for exchange, _, key in talk.sent if exchange.number <= first and key is not None}
    return len(known) > len(reading.marks.tools) // 2


def _absent(reading: Reading) -> str:
    """What is said of a tool that was never sent."""
    return "does not reach the model" if _is_told(reading) else "is not found by its name"


def _names(reading: Reading) -> Iterator[Said]:
    # A search that finds one tool may only have brought the other server's ping.
    tool = next((one for one in ("ping", "picture", "echo") if (SERVER, one) in reading.sent), "")
    if not tool:
        return
    exchange, sent = reading.sent[SERVER, tool]
    name = sent.full_name
    server = next((one for one in (SERVER, plain(SERVER)) if one in name), "")
    form = (name.replace(server, "{server}", 1) if server else name).replace(tool, "{tool}", 1)
    rules: dict[str, Any] = {"form": form}
    if always := re.search(rf"{tool}({_HASH})$", name):
        hashed = {"over": "hash", "hashed": "always", "digits": len(always[1]) - 1}
        rules = {"form": form.removesuffix(always[1]), **hashed}
    reading.rules["names"] |= rules
    yield Topic.NAMES, f"{tool} of {SERVER} is {name}.", shown(exchange, sent.at)
    if second := reading.sent.get((_SECOND, "ping")):
        says = f"That of {_SECOND}, which has a tool of the same name, is {second[1].full_name}."
        yield Topic.NAMES, says, shown(second[0], second[1].at)
    elif (_SECOND, "bash") in reading.sent:
        says = f"Of two servers' tools with the same name, that of {_SECOND} does not reach the model."
        yield Topic.NAMES, says, "all requests"
    yield from _odd_names(reading, server)
    yield from _lengths(reading, rules["form"], server or SERVER)


def _odd_names(reading: Reading, server: str) -> Iterator[Said]:
    """What becomes of characters that not every API takes, and of names that are equal without them."""
    odd = {name: found for (one, name), found in reading.sent.items() if one == _ODD}
    if not odd:
        return
    told, alike = [], set[str]()
    for name, (_, tool) in odd.items():
        names = dict.fromkeys(one.full_name for _, one in reading.talk.names_of((_ODD, name)))
        # Known by its name alone, it may be any of those that are equal but for odd characters.
        by_name = tool.parameters is None and not tool.description and len(names) > 1
        same = [other for one, other in reading.marks.tools if one == _ODD and plain(other) == plain(name)]
        alike |= {*same} if by_name else set()
        told.append(
            f"{' and '.join(same)} are {' and '.join(names)}" if by_name else f"{name} is {tool.full_name}"
        )
    left = (name for one, name in reading.marks.tools if one == _ODD and name not in odd)
    rest = "".join(f"; {name} {_absent(reading)}" for name in left if name not in alike)
    says = f"{', '.join(told)}{rest}."
    exchange, tool = next(iter(odd.values()))
    yield Topic.NAMES, says, shown(exchange, tool.at)
    if "of/a/path" in odd and (found := re.search(r"of(\W|_)a(\W|_)path", odd["of/a/path"][1].full_name)):
        by = found[1]
        kept = "A-Za-z0-9_" + "." * any("dotted.name" in sent.full_name for _, sent in odd.values())
        kept += "-" * (server != plain(SERVER))
        if by != "/":
            reading.rules["names"] |= {"replaced": f"[^{kept}]", **({} if by == "_" else {"by": by})}


def _lengths(reading: Reading, form: str, server: str) -> Iterator[Said]:
    """What becomes of long names."""
    whole: list[int] = []
    for (of, name), _ in reading.marks.tools.items():
        if of != SERVER or not name.startswith("name_of_"):
            continue
        expected = form.format(server=server, tool=name)
        known = reading.sent.get((of, name))
        if known is not None and known[1].full_name == expected:
            whole.append(len(expected))
            continue
        # Where no name at all is found by a search, nothing follows from this one.
        if known is None and not whole and not _is_told(reading):
            continue
        limit, over, says = max(whole, default=0), "refused", _absent(reading)
        if known is not None:
            got = known[1].full_name
            is_hash = re.search(rf"x{_HASH}$", got)
            limit = len(got)
            over = "hash" if is_hash else "cut" if expected.startswith(got) else "middle"
            says = f"is {len(got)} characters long: {over} ({got})"
        if "over" not in reading.rules["names"]:
            reading.rules["names"] |= {"limit": limit, "over": over}
        longest = f"One of {max(whole):,} characters is sent as it is; " if whole else ""
        at = shown(known[0], known[1].at) if known is not None else "all requests"
        yield Topic.NAMES, f"{longest}one of {len(expected):,} {says}.", at
        return
    if whole:
        says = f"Names of up to {max(whole):,} characters are sent as they are."
        yield Topic.NAMES, says, "all requests"


def _listing(reading: Reading) -> Iterator[Said]:
    first, marks = reading.first, reading.marks
    every = [key for key in marks.tools if key != marks.later and key[0] not in reading.missing]
    tools = [tool for tool in first.heard.tools if tool.way == "tool" and not tool.deferred]
    bound = list(dict.fromkeys(filter(None, map(marks.key_of, tools))))
    named = {
        key for exchange, _, key in reading.talk.sent if exchange.number <= first.number and key is not None
    }
    texts = "\n".join(text.text for text in first.heard.texts)
    ways = sorted({tool.name for tool in first.heard.tools if tool.way in ("search", "hosted", "code")})
    is_deferred = len(bound) < len(every) // 2 and bool(ways)
    known = len(named - set(bound)) > len(every) // 2
    is_server = plain(SERVER) in plain(texts)
    before = "names" if known else "servers" if is_server else "nothing"
    before = before if is_deferred else "definitions"
    told_of = marks.instructions[:START] in texts
    reading.rules["listing"] |= {"before": before, "instructions": told_of}
    where = f"request {first.number}: tools and texts"
    says = f"Before a search, {len(bound)} of {len(every)} definitions are sent"
    says += f"; of the others, {before} are known." if is_deferred and before != "nothing" else "."
    yield Topic.LISTING, says, where
    yield from _order(reading, bound, where)
    if is_deferred:
        yield Topic.DEFERRAL, f"Tools are deferred; the model reaches them by {', '.join(ways)}.", where
        acts = (SERVER, "always_loaded") in bound
        reading.rules["listing"] |= {"always": ALWAYS_LOAD} if acts else {}
        deferred = "is not deferred" if acts else "is deferred too"
        yield Topic.DEFERRAL, f'A tool with _meta "{ALWAYS_LOAD}" {deferred}.', where
    reaches = (SERVER, "of_the_app") in reading.sent
    reading.rules["listing"]["hides_app_tools"] = not reaches
    how = "reaches the model" if reaches else _absent(reading)
    says = f'A tool with _meta "ui": {{"visibility": ["app"]}} {how}.'
    yield Topic.LISTING, says, "all requests"
    yield from _lists(reading)


def _order(reading: Reading, bound: list[Key], where: str) -> Iterator[Said]:
    """In which order the first server's definitions are sent."""
    own = [key for key in bound if key[0] == SERVER]
    declared = [key for key in reading.marks.tools if key in own]
    if len(own) > START:
        is_sorted = own == sorted(own, key=lambda key: reading.sent[key][1].full_name)
        order = (
            "in the server's order"
            if own == declared
            else "sorted by name"
            if is_sorted
            else "in another order"
        )
        yield Topic.LISTING, f"Definitions are sent {order}.", where


def _lists(reading: Reading) -> Iterator[Said]:
    """Which pages are asked for, and which servers' tools arrive."""
    lists = [one for one in reading.messages if one.get("method") == "tools/list" and one["server"] == SERVER]
    pages = any((one.get("params") or {}).get("cursor") for one in lists)
    reading.rules["listing"]["first_page"] = not pages
    says = "Every page of a list is read." if pages else "Only the first page of a list is read."
    yield Topic.LISTING, says, "to the server: tools/list"
    for server, about in _ALONE.items():
        if not any(one["server"] == server for one in reading.messages):
            continue
        declared = [key for key in reading.marks.tools if key[0] == server]
        sent = [name for one, name in declared if (one, name) in reading.sent]
        rest = [name for _, name in declared if name not in sent]
        none = "none of its server's tools reaches the model"
        says = f"reach the model: {', '.join(sent)}" if sent else none
        says += "".join(f"; {name} {_absent(reading)}" for name in rest if sent)
        yield Topic.SCHEMAS if "tool" in about else Topic.PROTOCOL, f"{about}: {says}.", "all requests"


def _cuts(reading: Reading) -> Iterator[Said]:
    for name, rule, about in (("field_end", "description", ""), ("always_loaded", "bound", " that is bound")):
        key = (SERVER, name)
        exchange, tool = reading.sent.get(key, (reading.first, None))
        # What waits for a search is not bound.
        bound = {one.full_name for one in reading.first.heard.tools}
        if tool is not None and tool.description and (rule != "bound" or tool.full_name in bound):
            kept, mark, says = cut(reading.marks.tools[key]["description"], tool.description)
            is_other = kept != reading.rules["texts"].get("description")
            reading.rules["texts"] |= {rule: kept, "mark": mark} if is_other else {}
            yield (
                Topic.CUTS,
                f"Of a tool's description{about}, {says}",
                shown(exchange, tool.at if tool.way == "listed" else f"{tool.at}.description"),
            )
    if (found := reading.sent.get((SERVER, "no_description"))) and found[1].parameters is not None:
        given = f"“{found[1].description}”" if found[1].description else "none"
        yield Topic.CUTS, f"A tool without a description gets {given}.", shown(found[0], found[1].at)
    for number, (role, text, where) in enumerate(_instructions(reading)):
        kept, _, says = cut(reading.marks.instructions, text)
        is_line = kept in (line := len(reading.marks.instructions.partition("\n")[0]), line + 1)
        if number == 0:
            reading.rules["texts"] |= {"first_line": True} if is_line else {"instructions": kept}
            place = "description" if "description" in role else "user" if "user" in role else "system"
            reading.rules["listing"]["place"] = place
        says = f"the first line of {line} characters is sent." if is_line else says
        yield Topic.CUTS, f"Of a server's instructions, in {role}, {says}", where


def _instructions(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Each kind of place where the server's instructions are, the text there, and the request."""
    start = reading.marks.instructions[:START]
    seen: set[str] = set()
    for exchange in reading.talk.exchanges:
        places = [(f"a text of {text.role}", text.text, text.at) for text in exchange.heard.texts]
        places += [
            (f"a {'tool' if tool.name else 'namespace'}'s description", tool.description, tool.at)
            for tool in (
                *exchange.heard.tools,
                *(one for each in exchange.heard.outcomes for one in each.found),
            )
        ]
        for role, text, at in places:
            if start in text and role not in seen:
                seen.add(role)
                yield role, text, shown(exchange, at)


def _schemas(reading: Reading) -> Iterator[Said]:
    for key, (exchange, tool) in reading.sent.items():
        if key[0] != _SCHEMAS or tool.parameters is None:
            continue
        declared, sent = reading.marks.tools[key]["inputSchema"], tool.parameters
        found = list(differences(declared, sent))
        if key[1].startswith("large_schema"):
            size, got = len(compact(declared)), len(compact(sent))
            if "description" not in compact(sent):
                _adds(reading, {"does": "undescribe", "value": size})
            says = f"Of a schema of {size:,} bytes {got:,} are sent"
            found = [one for one in found if "description" not in one[1]]
            says += "" if "description" in compact(sent) else ", without descriptions"
            says += _told(found) if found else ""
        else:
            orders = [[*(one.get("properties") or ())] for one in (declared, sent)]
            is_sorted = orders[0] != orders[1] and sorted(orders[0]) == orders[1]
            found += [("in another order", "properties", ", ".join(orders[1]))] if is_sorted else []
            says = f"The schema of {key[1]} is sent{_told(found)}"
            _infer(reading, key[1], found)
        yield Topic.SCHEMAS, f"{says}.", shown(exchange, tool.at)
    if reading.sent.keys() & {(_SCHEMAS, "keywords"), (_SCHEMAS, "extra")}:
        for name in ("odd_parameters", "untyped", "references"):
            if (_SCHEMAS, name) not in reading.sent:
                yield Topic.SCHEMAS, f"The tool {name} {_absent(reading)}.", "all requests"


def _infer(reading: Reading, name: str, found: list[tuple[str, str, str]]) -> None:
    """Rules of what is lost from schemas."""
    lost = {place.rpartition(".")[2] for sign, place, _ in found if sign == "lost"}
    if name == "keywords" and lost:
        _adds(reading, {"does": "lose", "keys": sorted(lost)})
    elif name.endswith("_at_top") and (top := sorted(lost & {"oneOf", "anyOf", "allOf"})):
        _adds(reading, {"does": "lose_top", "keys": top})


_MOST = 12


def _told(found: list[tuple[str, str, str]]) -> str:
    if not found:
        return " as it is declared"
    parts = [f"{place} {sign}{f' ({what})' if what else ''}" for sign, place, what in found[:_MOST]]
    more = f", and {len(found) - _MOST} differences more" if len(found) > _MOST else ""
    return f" with {', '.join(parts)}{more}"


def differences(declared: Any, sent: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    """What is lost, added or changed in a schema: the sign, where, and what it is then."""
    if isinstance(declared, Mapping) and isinstance(sent, Mapping):
        for key in [*declared, *(key for key in sent if key not in declared)]:
            at = f"{place}.{key}" if place else str(key)
            if key not in sent:
                yield "lost", at, ""
            elif key not in declared:
                yield "added", at, _short(sent[key])
            else:
                yield from differences(declared[key], sent[key], at)
    elif isinstance(declared, list) and isinstance(sent, list) and len(declared) == len(sent):
        for number, (one, other) in enumerate(zip(declared, sent, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif declared != sent or isinstance(declared, bool) != isinstance(sent, bool):
        yield "changed", place, _short(sent)


def _short(value: Any, most: int = 60) -> str:
    text = compact(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _adds(reading: Reading, change: JsonObject) -> None:
    """Adds what is done to schemas, once: of large ones, from the smallest on."""
    changes = reading.rules["schemas"].setdefault("changes", [])
    if all(one["does"] != change["does"] for one in changes):
        changes.append(change)


PARTS = (_names, _listing, _cuts, _schemas)
"""The kinds of facts that definitions show, each as a function of a reading."""
