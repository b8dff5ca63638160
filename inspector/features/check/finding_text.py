"""A finding in full: what is wrong, the texts that show it, and what mending it changes."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from textual.content import Content, Span

from inspector.app.draw.line import MUTED, shown_place
from inspector.clients.client import all_clients
from inspector.clients.seen import Cut, see
from inspector.core.number import count
from inspector.core.tool import Catalog, Tool
from inspector.features.check.definition_rule import CUT, INSTRUCTIONS_CUT, SIBLING
from inspector.features.check.facts import FALLS, LOSES, RISES, effect_lines
from inspector.features.check.finding import Effect, Finding, Severity, Stage
from inspector.features.check.trust_rule import HIDDEN, hidden_in
from inspector.schema.schema import fields
from inspector.search.index.vocabulary import split_words, terms
from inspector.session.client_view import view_as
from widgets import plain, visible

SIGNS: Mapping[Severity, tuple[str, str]] = {
    Severity.ERROR: ("✕", "$text-error"),
    Severity.WARNING: ("⚠", "$text-warning"),
    Severity.NOTE: ("•", MUTED),
}
_LOST = f"strike {MUTED}"
_SHARED = "$accent bold underline"
_LIMIT = 20_000
# Of a text that a client cuts, so much of what it keeps stands before the lost part.
_BEFORE_CUT = 200
_MOST_SIBLINGS = 3
_COLORS = {RISES: "$text-success", FALLS: "$text-error", LOSES: "$text-warning"}


def detail(finding: Finding, catalog: Catalog, instructions: Mapping[str, str]) -> Content:
    """Return a finding with its proof and its effects; texts are those of the catalog."""
    rule = finding.rule
    sign, color = SIGNS[rule.severity]
    stage = "trust" if rule.stage is Stage.TRUST else f"keeps it from being {rule.stage}"
    where = f"\n{shown_place(finding.place.path, finding.place.line)}" if finding.place else ""
    lines = [
        Content.assemble(
            (f"{sign} {rule.severity}  ", color), plain(rule.title, newlines=False).stylize("bold")
        ),
        Content.assemble(
            plain(finding.subject, newlines=False, limit=200), (f"   {stage}{_as(finding)}{where}", MUTED)
        ),
        Content(),
        plain(finding.message, limit=600),
        plain(rule.help, limit=600).stylize(MUTED),
        *_proof(finding, catalog, instructions),
        *_effects(finding),
    ]
    return Content("\n").join(lines)


def _as(finding: Finding) -> str:
    return f"   in {visible(finding.client, newlines=False, limit=200)}" if finding.client else ""


def _heading(text: str) -> Iterator[Content]:
    yield Content()
    yield Content.styled(text, "bold")


def _proof(finding: Finding, catalog: Catalog, instructions: Mapping[str, str]) -> Iterator[Content]:
    """The text itself where a mark in it shows more than a quotation."""
    tool = catalog.get(finding.subject)
    if finding.rule == SIBLING and tool is not None:
        yield from _beside(finding, tool, catalog)
        return
    yield from _heading("Proof")
    if finding.proof:
        yield plain(finding.proof, limit=_LIMIT)
    if finding.rule == HIDDEN:
        yield _with_hidden(tool.description if tool is not None else instructions.get(finding.server, ""))
    elif finding.rule in (CUT, INSTRUCTIONS_CUT):
        yield from _cut(finding, tool, instructions)


def _cut(finding: Finding, tool: Tool | None, instructions: Mapping[str, str]) -> Iterator[Content]:
    """Around the place where each client cuts, with what is lost struck."""
    named = finding.client.split(", ")
    for client in (one for one in all_clients() if one.name in named):
        if finding.rule == CUT and tool is not None:
            text = see(client, tool).description
        else:
            view = view_as(client, (), {finding.server: instructions.get(finding.server, "")}, lambda _: 0)
            text = next((one.instructions for one in view.servers), Cut("", 0))
        kept = text.shown[-_BEFORE_CUT:]
        yield Content.assemble(
            (
                f"\n✂ {client.title}, after {text.kept:,} of {count(len(text.text), 'character')}\n",
                "bold $text-warning",
            ),
            "…" if len(kept) < text.kept else "",
            plain(kept, limit=_LIMIT),
            plain(text.lost, limit=_LIMIT).stylize(_LOST),
        )


def _with_hidden(text: str) -> Content:
    """The text with each hidden character as its code point."""
    marks = {one.position: f"⟨U+{ord(one.character):04X}⟩" for one in hidden_in("", text)}
    parts, last = [Content("\n")], 0
    for position, mark in marks.items():
        parts += [plain(text[last:position], limit=_LIMIT), Content.styled(mark, "$text-error reverse")]
        last = position + 1
    return Content("").join([*parts, plain(text[last:], limit=_LIMIT)]) if marks else Content()


def siblings(finding: Finding, catalog: Catalog) -> tuple[Tool, ...]:
    """The tools that a finding says are nearly the same, the closest first."""
    named = (
        (part.rpartition(": ")[0] for part in finding.proof.split("; ")) if finding.rule == SIBLING else ()
    )
    return tuple(tool for name in named if (tool := catalog.get(name)) is not None)


def _beside(finding: Finding, tool: Tool, catalog: Catalog) -> Iterator[Content]:
    """The tool's words and those of its siblings, with the words that both have marked."""
    others = siblings(finding, catalog)
    for other in others[:_MOST_SIBLINGS]:
        shared = _terms(tool) & _terms(other)
        for one in (tool, other):
            yield from _heading(visible(one.id, newlines=False, limit=200))
            yield from _words(one, shared)
    if len(others) > _MOST_SIBLINGS:
        yield Content.styled(f"\nand {len(others) - _MOST_SIBLINGS:,} more: {finding.proof}", MUTED)


def _terms(tool: Tool) -> frozenset[str]:
    described = (text for one in fields(tool.input_schema) for text in (one.name, one.description))
    texts = (tool.name, tool.description, *described)
    return frozenset(term for text in texts for term in terms(text[:_LIMIT]))


def _words(tool: Tool, shared: Collection[str]) -> Iterator[Content]:
    none = Content.styled("The server gives no description.", MUTED)
    yield marked(tool.description, shared) if tool.description else none
    for one in fields(tool.input_schema):
        star = ("* ", "$text-warning") if one.required else "  "
        text = ("  ", marked(one.description, shared)) if one.description else ()
        yield Content.assemble(star, marked(one.name, shared).stylize("bold"), *text)


def marked(text: str, shared: Collection[str]) -> Content:
    """Return the text with every word marked whose term is shared, in any form."""
    content, wanted = plain(text, limit=_LIMIT), set(shared)
    spans: list[Span] = []
    end = 0
    for word in split_words(content.plain):
        start = content.plain.index(word, end)
        end = start + len(word)
        if not wanted.isdisjoint(terms(word)):
            spans.append(Span(start, end, _SHARED))
    return content.add_spans(spans)


def _effects(finding: Finding) -> Iterator[Content]:
    """What mending it changes: for each ranker and client the ranks, the tokens, and who loses."""
    if finding.rule.stage is Stage.TRUST:
        return
    yield from _heading("If it were mended")
    if not finding.effects:
        yield Content.styled("not measured", MUTED)
    for effect in finding.effects:
        yield from drawn_effect(effect)


def drawn_effect(effect: Effect) -> Iterator[Content]:
    """Yield the lines of an effect, with what rises, falls and loses in color."""
    for line in effect_lines(effect):
        sign = line.strip()[:1]
        shown = plain(line, newlines=False, limit=300)
        yield shown.stylize(_COLORS.get(sign, ""), 0, None if sign == LOSES else len(f"  {sign}"))


def in_short(effects: Sequence[Effect]) -> Content:
    """Return how many requests would rise or fall over all effects, and how many tools would lose one."""
    if not effects:
        return Content.styled("–", MUTED)
    pairs = [ranks for effect in effects for ranks in effect.ranks.values()]
    better = sum(new is not None and (old is None or new < old) for old, new in pairs)
    losers = len({loser.tool_id for effect in effects for loser in effect.losers})
    parts = [Content.styled(f"▲ {better} of {len(pairs)}", "$text-success" if better else MUTED)]
    parts += [Content.styled(f"✕ {losers}", "$text-warning")] if losers else []
    return Content("  ").join(parts)
