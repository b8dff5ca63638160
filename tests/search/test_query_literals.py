"""Literals are taken out of a wording of a query, and leave their type behind."""

import pytest
from hypothesis import given, strategies as st

from inspector.search.query import parse, typed


@pytest.mark.parametrize(
    ("query", "without"),
    [
        ("read notes/2024/plan.md", "read markdown file"),
        ("put offer-2044.pdf into the “Sales” folder", "put pdf file into the folder"),
        ("open C:\\data\\table.xlsx", "open spreadsheet file"),
        ("list everything in /var/log/", "list everything in folder"),
        ("summarize https://example.com/a?b=1#c please", "summarize url please"),
        ("write to jo@example.co.uk now", "write to email now"),
        ('search for "blue whale" in the wiki', "search for in the wiki"),
        ("add `x = 1` to 'main.py'", "add to python file"),
        ("close #42 and T-1001, pay pi_3Nx", "close and , pay"),
        ("find 550e8400-e29b-41d4-a716-446655440000", "find"),
        ("what happened on 2026-11-22 at 10:30?", "what happened on at ?"),
        ("servers in us-east-1", "servers in us-east-1"),
    ],
)
def test_a_literal_leaves_its_type_or_nothing(query: str, without: str) -> None:
    assert typed(query) == without


@pytest.mark.parametrize("name", ["Neo4j", "S3", "oauth2", "3D", "B2B", "k8s", "don't", "rock 'n' roll"])
def test_a_name_with_a_digit_or_an_apostrophe_is_no_literal(name: str) -> None:
    assert typed(f"ask about {name} today") == f"ask about {name} today"


@given(st.text(max_size=300))
def test_any_text_is_read_and_what_is_left_is_read_the_same_again(text: str) -> None:
    without = typed(text)
    assert "  " not in without
    assert parse(text).wordings[0] == text


@given(st.lists(st.sampled_from(["list", "orders", "send", "the", "mail", "Neo4j"]), min_size=1))
def test_a_query_without_literals_has_one_wording(words: list[str]) -> None:
    assert parse(" ".join(words)).wordings == (" ".join(words),)
