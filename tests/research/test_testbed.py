"""The testbed has the servers, tools and tokens of table 2, and is the same for the same seed."""

import hashlib
from statistics import mean

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from inspector.core.tool import definition
from inspector.research.testbed import TABLE_2, Testbed, build_testbed, plans_of, tokens_of
from inspector.research.vocabulary import plural, with_article
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter
from tests.support.examples import examples


def quarter(text: str) -> int:
    return len(text) // 4


@pytest.fixture(scope="module")
def exact() -> Testbed:
    return build_testbed(TiktokenCounter("gpt-4").count)


def test_every_server_has_the_stated_tools_and_tokens_within_three_percent(exact: Testbed) -> None:
    for size in TABLE_2:
        assert sum(tool.server == size.server for tool in exact.tools) == size.tools
        assert exact.average(size.server) == pytest.approx(size.tokens, rel=0.03)
    assert len(exact.tools) == 120


def test_sizes_differ_between_tools_of_a_server(exact: Testbed) -> None:
    for size in TABLE_2:
        tokens = [exact.tokens[tool.id] for tool in exact.tools if tool.server == size.server]
        assert max(tokens) > 1.4 * mean(tokens)
        assert min(tokens) < 0.8 * mean(tokens)


def test_the_counted_tokens_are_those_of_the_compact_definition(exact: Testbed) -> None:
    count = TiktokenCounter("gpt-4").count
    for tool in exact.tools[::10]:
        assert exact.tokens[tool.id] == tokens_of(tool, count) == count(compact(definition(tool)))


def test_no_two_tools_are_the_same() -> None:
    tools = build_testbed(quarter, total=1000).tools
    assert len({tool.id for tool in tools}) == len({compact(definition(tool)) for tool in tools}) == 1000
    assert len({tool.wire_name for tool in tools}) == 1000


def test_schemas_are_valid_and_require_only_what_they_have() -> None:
    for tool in build_testbed(quarter, total=200).tools:
        Draft202012Validator.check_schema(dict(tool.input_schema))
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
        assert "{" not in tool.name + tool.description


def test_a_larger_testbed_has_every_tool_of_a_smaller_one_in_the_same_words() -> None:
    small, large = (build_testbed(quarter, total=total) for total in (120, 500))
    described = {tool.id: tool.description for tool in large.tools}
    assert all(described[tool.id] == tool.description for tool in small.tools)


@pytest.mark.slow
@examples(share=0.1)
@given(seed=st.integers(0, 1000))
def test_the_same_seed_makes_the_same_tools(seed: int) -> None:
    assert build_testbed(quarter, seed).tools == build_testbed(quarter, seed).tools


def test_another_seed_makes_other_definitions() -> None:
    assert build_testbed(quarter, 1).tools != build_testbed(quarter, 2).tools


def test_more_tools_than_there_are_words_for_are_refused() -> None:
    with pytest.raises(ValueError, match="not for 10000"):
        plans_of(TABLE_2[0].domain, 10_000)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("branch", "branches"),
        ("reply", "replies"),
        ("status", "statuses"),
        ("line of development", "lines of development"),
        ("change up for review", "changes up for review"),
        ("rights", "rights"),
    ],
)
def test_plurals_follow_the_head_of_a_noun(one: str, many: str) -> None:
    assert plural(one) == many


def test_an_article_fits_the_sound_after_it() -> None:
    assert with_article("a issue, a user, a old index") == "an issue, a user, an old index"


def test_the_tools_that_the_documented_numbers_are_of_have_not_changed() -> None:
    testbed = build_testbed(quarter, total=1000)
    texts = [compact({**definition(tool), "read_only": tool.annotations.read_only}) for tool in testbed.tools]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest.startswith("c1e9545bee25")
