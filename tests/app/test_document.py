"""A page to send: whatever the texts are, it is a page without a script, an address or a secret."""

import re
from html.parser import HTMLParser

import pytest

from fixtures import hostile as shipped
from inspector.app.draw.document import Document
from inspector.core.redaction import SECRETS
from inspector.core.report import Block, Fact, Facts, Table
from tests.widgets.hostile import HOSTILE, LONG, dangerous

TEXTS = (*HOSTILE, *shipped.MARKUP.values(), "</style><script>alert(1)</script>", "\" onload='x", "&lt;b&gt;")
TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "main",
    "h1",
    "h2",
    "p",
    "pre",
    "code",
} | {*("dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td")}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "data-of", "tabindex", "scope"}


class Read(HTMLParser):
    """The tags, attributes and texts of a page, as a browser reads them."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page_of(*report: Block, title: str = "Cost", words: tuple[str, ...] = ("cost",)) -> bytes:
    return Document(title, report, words, at=1_767_225_600.0).html()


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_becomes_markup_and_nothing_is_hidden_in_it(text: str) -> None:
    blocks = (
        text,
        f"a  {text}",
        Facts((Fact(text, text),), text),
        Table(text, (text, "b"), ((text, "✓"),), notes=(text,)),
    )
    read = Read(page_of(*blocks, title=text, words=(text,)))
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
    assert dangerous("".join(read.texts).replace("\n", "").replace("\t", "")) == []


def test_a_page_says_what_it_is_and_loads_nothing() -> None:
    page = page_of(
        "said", Table("Tools", ("tool", "tokens"), (("shop:list", "1,024"),), frozenset({1}))
    ).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert not re.search(r"https?://|url\(|@import|<script|<link|<img|<a ", page)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert "2026-01-01 00:00 UTC by Toolsight" in page
    assert "<code>toolsight cost</code>" in page
    assert '<td data-of="tool">' not in page
    assert '<td class="n" data-of="tokens">1,024</td>' in page


def test_a_secret_is_on_no_page() -> None:
    SECRETS.learn({"TOKEN": "hunter2-hunter2&hunter2"})
    page = page_of("use hunter2-hunter2&hunter2", words=("call", "--header", "hunter2-hunter2&hunter2"))
    assert b"hunter2" not in page
    assert page.count(b"[redacted]") == 2


def test_what_is_too_long_is_cut_and_says_so() -> None:
    rows = tuple((str(number), LONG[:1000]) for number in range(6_000))
    page = page_of(LONG, Table("", ("#", "text"), (("0", LONG),)), Table("", ("#", "text"), rows)).decode()
    assert len(page) < 4_100_000
    assert "[980000 more characters]" in page
    assert "[996000 more characters]" in page
    assert re.search(r"2,\d{3} more rows left out", page)
