"""What is known of agents' sessions, tools and imports: for the terminal, the pages, and programs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from inspector.core.number import byte_size, count, money, tokens
from inspector.core.report import COUNT, NAME, NOTHING, TOKENS, Block, Column, Fact, Facts, Table
from inspector.features.agents.finding import AgentReport, Findings, ServerUse, ToolUse, by_tokens
from inspector.features.agents.importing import Found, Imported
from inspector.features.agents.reported import Reported
from inspector.features.agents.transcript import Counts
from inspector.session.miss import backlog

_USE = (
    Column("server", lambda one: f"{one.server} (built-in tools)" if one.is_own else one.server, NAME),
    Column("known", lambda one: len(one.known), COUNT),
    Column("deferred", lambda one: len(one.deferred), COUNT),
    Column("loaded", lambda one: len(one.loaded), COUNT),
    Column("called", lambda one: len(one.called), COUNT),
    Column("calls", kind=COUNT),
    Column("missed", kind=COUNT),
    Column("definitions", lambda one: one.tokens or None, TOKENS),
    Column("results", lambda one: one.results or None, TOKENS),
)
_TROUBLE = Column("trouble", lambda use: _short("needs a login" if use.logins else use.trouble, 80))
_OF_ALL = (
    *(_USE[0], Column("sessions", kind=COUNT), *_USE[1:]),
    Column("trouble", lambda one: _trouble(one)),
)
_TOOLS = (
    Column("tool", lambda pair: pair[0], NAME),
    Column("calls", lambda pair: pair[1].calls, COUNT),
    Column("definition", lambda pair: pair[1].definition or None, TOKENS),
    Column("in all requests", lambda pair: pair[1].sent or None, TOKENS),
    Column("results", lambda pair: pair[1].results or None, TOKENS),
)
_MOST = 8


def tools_shown(tools: Sequence[tuple[str, ToolUse]]) -> Iterator[Block]:
    """The tools that took most tokens, and what the columns are."""
    if tools:
        yield f"\nTokens by tool ({min(len(tools), _MOST):,} of {len(tools):,})"
        yield Table.of(_TOOLS, tools[:_MOST])
        yield f"results: arguments and results that the model read, each once; {NOTHING} if none"


def tools_json(tools: Sequence[tuple[str, ToolUse]]) -> list[dict[str, Any]]:
    """Every tool that took tokens."""
    return [
        {
            "tool": tool_id,
            "calls": use.calls,
            "definition_tokens": use.definition or None,
            "sent_tokens": use.sent or None,
            "result_tokens": use.results,
        }
        for tool_id, use in tools
    ]


def reported_text(reported: Reported) -> str:
    """What providers reported, and what it costs at list prices."""
    reckoned = f"; the agent reckons {money(reported.reckoned)}" if reported.reckoned else ""
    if not (reported.calls or reported.input):
        return f"no tokens were reported{reckoned}"
    calls = count(reported.calls, "model call") if reported.calls else "all model calls together"
    output = f"{tokens(reported.output)} output"
    if not reported.input:
        return f"reported for {calls}: {output}, but not the input{reckoned}"
    cached = f"{tokens(reported.read)} read from the cache, {tokens(reported.written)} written"
    if reported.priced:
        share = "" if reported.priced == reported.calls else f" for {reported.priced:,} of the calls"
        price = f"{money(reported.dollars)} at list prices{share}"
    else:
        price = "no price is known"
    price += reckoned
    return f"reported for {calls}: {tokens(reported.input)} input ({cached}), {output}; {price}"


def agents_report(report: AgentReport) -> Iterator[Block]:
    """What agents did with their servers and tools, over many sessions."""
    agents = Counter(session.agent for session in report.sessions)
    told = ", ".join(f"{number:,} from {agent}" for agent, number in agents.most_common())
    yield f"{count(len(report.sessions), 'session')} ({told})"
    yield f"{reported_text(report.reported)}\n"
    yield Table.of(_OF_ALL, report.servers)
    yield "definitions: summed over all model calls"
    yield from tools_shown(report.tools)
    searches = count(report.searches, "search", "searches")
    yield f"\n{searches}, {report.missed:,} missed; `toolsight sessions metrics` lists them"
    if report.rewrites:
        yield "\nWhere the prompt cache was lost"
        lost = sorted(report.rewrites.items(), key=lambda pair: -pair[1][1])
        yield Table.of(_REWRITES, lost)


_REWRITES = (
    Column("probable cause", lambda pair: pair[0]),
    Column("times", lambda pair: pair[1][0], COUNT),
    Column("tokens", lambda pair: pair[1][1], TOKENS),
)


def _trouble(total: ServerUse) -> str:
    others = total.failed - total.logins
    told = (f"{total.logins:,}x login" if total.logins else "", f"{others:,}x failed" if others > 0 else "")
    return ", ".join(filter(None, told))


def agents_json(report: AgentReport) -> dict[str, Any]:
    """All of it; costs are US dollars."""
    reported = report.reported
    return {
        "sessions": [
            {
                "id": one.session,
                "agent": one.agent,
                "model": one.model,
                "model_calls": one.model_calls,
                "reported_definition_tokens": one.tool_tokens,
            }
            for one in report.sessions
        ],
        "searches": report.searches,
        "missed": report.missed,
        "reported": {
            "model_calls": reported.calls,
            "input": reported.input,
            "output": reported.output,
            "cache_read": reported.read,
            "cache_written": reported.written,
            "priced_calls": reported.priced,
            "dollars": reported.dollars if reported.priced else None,
            "reckoned_dollars": reported.reckoned or None,
        },
        "servers": list(map(_server_json, report.servers)),
        "tools": tools_json(report.tools),
        "cache_rewrites": [
            {"cause": cause, "count": times, "tokens": lost}
            for cause, (times, lost) in report.rewrites.items()
        ],
    }


def _server_json(total: ServerUse) -> dict[str, Any]:
    return {
        "server": total.server,
        "own_tools": total.is_own,
        "sessions": total.sessions,
        "loaded": total.loaded,
        "called": total.called,
        "calls": total.calls,
        "missed": total.missed,
        "known": len(total.known),
        "deferred": len(total.deferred),
        "never_called": total.known - total.called,
        "loaded_never_called": total.loaded - total.called,
        "definition_tokens": total.tokens or None,
        "result_tokens": total.results or None,
        "failed_sessions": total.failed,
        "login_sessions": total.logins,
    }


def folders_text(found: Sequence[Found]) -> str:
    """Where transcripts are, and what becomes of them."""
    lines = [
        f"{one.agent}: {count(one.files, 'file')}, {byte_size(one.bytes)} in {one.folder}" for one in found
    ]
    told = "Files are only read, nothing leaves this machine, and likely secrets are redacted."
    return "\n".join([*lines, told])


def import_line(done: Imported) -> str:
    """What an import did, with what was not understood, on one line."""
    odd = done.tally.unknown.total() + done.tally.malformed.total()
    parts = (
        f"{count(done.transcripts, 'transcript')}: {done.new:,} new, {done.grown:,} extended",
        f"{count(done.added, 'event')} stored",
        f"{count(odd, 'record')} not understood" if odd else "",
        f"{count(len(done.skipped), 'file')} skipped" if done.skipped else "",
        f"{count(len(done.held), 'session')} still being written" if done.held else "",
        "" if done.is_complete else "stopped early",
    )
    return "; ".join(filter(None, parts))


def import_report(done: Imported) -> Iterator[str]:
    """What an import did, and what it did not understand, by kind."""
    yield import_line(done)
    for agent in sorted({one.agent for one in done.sessions}):
        yield _counted(agent, [one.counts for one in done.sessions if one.agent == agent])
    for what, kinds in (("not understood", done.tally.unknown), ("malformed", done.tally.malformed)):
        if kinds:
            yield f"{what}: {', '.join(f'{number:,} {kind}' for kind, number in kinds.most_common())}"
    yield (
        "Summarize them with `toolsight sessions agents`, or show one with `toolsight sessions show SESSION`."
    )


def _counted(agent: str, counts: Sequence[Counts]) -> str:
    """What the transcripts of an agent say, and what none of them has."""
    names = ("requests", "calls", "failed", "input", "output")
    asked, calls, failed, used, output = (sum(getattr(one, name) or 0 for one in counts) for name in names)
    dollars = sum(one.dollars or 0.0 for one in counts)
    told = [f"{agent}: {count(len(counts), 'session')}", count(asked, "model call")]
    told.append(f"{count(calls, 'tool call')} ({failed:,} failed)")
    told += [f"{tokens(used)} input and {tokens(output)} output tokens"] if used or output else []
    told += [f"{money(dollars)} as the agent reckons"] if dollars else []
    lacking = [what for what in counts[0].lacks if all(what in one.lacks for one in counts)]
    lacks = f"; the transcripts have {', '.join(lacking)}" if lacking else ""
    return f"{', '.join(told)}{lacks}"


def import_json(done: Imported) -> dict[str, Any]:
    """What an import did."""
    return {
        "transcripts": done.transcripts,
        "records": done.tally.records,
        "sessions": [{**to_builtins(one), "lacks": one.counts.lacks} for one in done.sessions],
        "events_stored": done.added,
        "not_understood": done.tally.unknown,
        "malformed": done.tally.malformed,
        "left_out": done.tally.left_out,
        "being_written": done.held,
        "complete": done.is_complete,
        "skipped": [{"path": path, "reason": reason} for path, reason in done.skipped],
    }


_LONGEST, _MISSES = 200, 8


def session_report(found: Findings) -> Iterator[Block]:
    """What a session shows: servers, misses, what was loaded for nothing, lost caches, money."""
    searches = count(found.searches, "search", "searches")
    missed = f", {len(found.misses):,} missed" if found.searches else ""
    yield Facts((), f"{count(found.model_calls, 'model call')}, {searches}{missed}")
    yield reported_text(found.reported)
    if found.servers:
        yield ""
        # Without the column the table fits beside the names of most servers on a narrow terminal.
        in_trouble = any(use.logins or use.trouble for use in found.servers.values())
        yield Table.of((*_USE, _TROUBLE) if in_trouble else _USE, found.servers.values())
    yield from _missed(found)
    yield from _taken(found)
    unused = sorted(tool_id for use in found.servers.values() for tool_id in use.unused)
    if unused:
        yield ""
        yield Facts((), f"{count(len(unused), 'tool')} loaded but never called")
        yield _short(", ".join(unused), _LONGEST * 2)
    if found.rewrites:
        yield ""
        lost = (
            Fact(
                f"call {one.call}",
                f"{tokens(one.tokens)} tokens, probably because {' and '.join(one.causes)}",
            )
            for one in found.rewrites[:_MISSES]
        )
        yield Facts(tuple(lost), f"Prompt cache lost {count(len(found.rewrites), 'time')}")


def _missed(found: Findings) -> Iterator[Block]:
    groups = backlog(found.misses)
    if groups:
        yield ""
        facts = (
            Fact(f"{one.count:,}x", _short("; ".join(one.queries), _LONGEST)) for one in groups[:_MISSES]
        )
        yield Facts(tuple(facts), "Missed searches")
    if len(groups) > _MISSES:
        yield f"and {len(groups) - _MISSES:,} more"


def _taken(found: Findings) -> Iterator[Block]:
    """What the tools took: their definitions, which go with every request, and their calls."""
    yield from tools_shown(by_tokens([found]))
    if found.tool_tokens is not None:
        yield f"the agent itself counts {tokens(found.tool_tokens)} for one request"


def _short(text: str, most: int) -> str:
    return " ".join(text[:most].split())
