"""What lists of skills cost, beside what was measured; and that no file breaks anything."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.features.skills.cost import ListCost, list_cost
from inspector.features.skills.rule import RULES
from inspector.features.skills.shown import State, shown_in
from inspector.features.skills.skill import Place, Skill, parse_skill
from inspector.tokens.counter import TiktokenCounter

PLACE = Place("", Path("/"), frozenset(RULES))
PATH = Path("/" + "p" * 89)


@pytest.mark.parametrize(
    ("client", "last", "whole"), [("claude-code", 68, 69), ("copilot-cli", 36, 37), ("droid", 23, 24)]
)
def test_the_alphabet_decides_which_skills_keep_a_description(client: str, last: int, whole: int) -> None:
    def cost(number: int, length: int) -> ListCost:
        names = (f"skill-{at:05}" for at in range(number))
        skills = [Skill(name, name, PATH, PLACE, "x" * length) for name in names]
        return list_cost(RULES[client], shown_in(RULES[client], skills), len)

    found = cost(200, 300)
    assert found.last == f"skill-{last:05}"
    assert (found.listed, found.described, found.whole) == (200, whole, whole)
    assert not cost(12, 100).last


# What its requests held of the skills of `numbered`, with a model of so many tokens: the tokens of the list,
# and how many characters the last skill keeps.
CAPTURED = [
    ("claude-code", None, 12, 100, 394, 100),
    ("claude-code", None, 200, 300, 6_040, 0),
    ("claude-code", 200_000, 200, 300, 1_174, 0),
    ("claude-code", 1_000_000, 200, 300, 8_394, 0),
    ("codex", None, 12, 100, 596, 100),
    ("codex", None, 200, 300, 10_949, 148),
    ("codex", 272_000, 200, 300, 7_104, 56),
    ("droid", None, 12, 100, 382, 100),
    ("droid", None, 200, 300, 2_690, 0),
    ("kimi-code", None, 12, 100, 742, 100),
    ("kimi-code", None, 200, 300, 18_510, 247),
    ("opencode", None, 12, 100, 982, 100),
    ("opencode", None, 200, 300, 25_010, 300),
    ("gemini-cli", None, 12, 100, 1_137, 100),
    ("gemini-cli", None, 200, 300, 27_635, 300),
    ("qwen-code", None, 12, 100, 730, 100),
    ("qwen-code", None, 200, 300, 20_810, 300),
    ("copilot-cli", None, 12, 100, 699, 100),
    ("copilot-cli", None, 200, 300, 4_408, 0),
    ("cline-cli", None, 12, 100, 257, 0),
    ("cline-cli", None, 200, 300, 1_197, 0),
    ("continue-cli", None, 12, 100, 441, 100),
    ("continue-cli", None, 200, 300, 16_009, 300),
    ("vibe", None, 12, 100, 982, 100),
    ("vibe", None, 200, 300, 25_010, 300),
    ("openhands", None, 12, 100, 847, 100),
    ("openhands", None, 200, 300, 19_235, 300),
    ("fast-agent", None, 12, 100, 2_354, 100),
    ("fast-agent", None, 200, 300, 31_270, 300),
    ("gptme", None, 12, 100, 704, 77),
    ("gptme", None, 200, 300, 11_320, 77),
]
PLACES = {"codex": "codex-s12/1/home/.agents/skills"}
ABOUT = {"kimi-code": 0.005, "gemini-cli": 0.001, "copilot-cli": 0.008, "continue-cli": 0.003}


def numbered(place: Path, number: int, length: int) -> list[Skill]:
    said = (
        "it explains how to prepare, run and check the step in this project so that nothing is forgotten, "
        "and whom to ask. "
    )
    abouts = (
        f"Use skill number {at} when the task is about area {at} of the work: {said * 5}"
        for at in range(number)
    )
    found = ((f"skill-n-{at:03}", f"{about[: length - 1].rstrip()}.") for at, about in enumerate(abouts))
    return [
        Skill(name, name, place / name / "SKILL.md", Place("", place, frozenset(RULES)), about)
        for name, about in found
    ]


@pytest.mark.parametrize(("client", "window", "number", "length", "captured", "last"), CAPTURED)
def test_a_list_whose_text_is_known_costs_what_the_captured_request_has(
    client: str, window: int | None, number: int, length: int, captured: int, last: int
) -> None:
    rule = RULES[client].at(window)
    # Paths cost tokens, and these are those that were captured.
    place = PLACES.get(client, f"{client}-s12/1/shop/{rule.project[0]}")
    shown = shown_in(rule, numbered(Path(f"/srv/sk/{place}"), number, length))
    found = list_cost(rule, shown, TiktokenCounter("").count).tokens
    # Exactly so, unless its budget drops some of the client's own descriptions. Others join names where texts
    # meet, name their session in the same request, or say of a folder without skills that it is empty.
    is_off = (client == "codex" and number == 200) or window
    off = 0.025 if is_off else ABOUT.get(client, 0)
    assert found == pytest.approx(captured, rel=off)
    assert len(shown[-1].text) == last


def test_lists_are_in_the_order_of_the_client() -> None:
    skills = [Skill(name, name, PATH, PLACE, "x") for name in ("b", "a", "c")]
    found = {client: "".join(one.name for one in shown_in(rule, skills)) for client, rule in RULES.items()}
    on_disk = dict.fromkeys(("cline-cli", "continue-cli", "vibe", "openhands"), "bac")
    assert found == dict.fromkeys(RULES, "abc") | on_disk | {"gemini-cli": "cba"}


ODD = st.sampled_from(
    [
        b"---\n",
        b"name: a\n",
        b"description: ",
        b"description: |\n",
        b": ",
        b"'",
        b'"',
        b"\t",
        b"- ",
        b"&a ",
        b"*a",
    ]
)


@given(
    st.lists(st.one_of(st.binary(max_size=40), ODD)).map(b"".join), st.sampled_from(["a", "", "é", "\udcff"])
)
def test_any_bytes_are_a_skill_in_exactly_one_state_of_each_client(data: bytes, folder: str) -> None:
    found = (
        parse_skill(data, folder, PATH, PLACE),
        parse_skill(b"---\n" + data + b"\n---\n", folder, PATH, PLACE),
    )
    for skill in found:
        for rule in RULES.values():
            (shown,) = shown_in(rule, [skill])
            assert shown.state in State
            assert rule.longest is None or len(shown.text) <= rule.longest or shown.state is State.WHOLE
            assert list_cost(rule, [shown], len).tokens >= 0
            assert all(0 <= flaw.line <= data.count(b"\n") + 4 and str(flaw) for flaw in skill.flaws)


@given(st.lists(st.integers(0, 3_000), max_size=150), st.integers(1, 200), st.sampled_from(sorted(RULES)))
def test_a_longer_description_costs_no_less_where_none_is_cut(
    lengths: list[int], more: int, client: str
) -> None:
    skills = [Skill(f"s{at}", f"s{at}", PATH, PLACE, "x" * length) for at, length in enumerate(lengths)]
    longer = [
        *skills[:-1],
        *(Skill(o.folder, o.name, PATH, PLACE, o.description + "x" * more) for o in skills[-1:]),
    ]
    rule = RULES[client]
    before, after = (shown_in(rule, listed) for listed in (skills, longer))
    assert len(before) == len(skills)
    if all(one.state is State.WHOLE for one in after):
        assert list_cost(rule, after, len).tokens >= list_cost(rule, before, len).tokens >= 0
