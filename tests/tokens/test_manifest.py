"""The manifest: as the PRD prints it, within a budget, and no way for a server to write lines of its own."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, strategies as st

from inspector.core.settings import ManifestSettings
from inspector.tokens.manifest import (
    HEADER,
    Manifest,
    ManifestEntry,
    fitted_manifest,
    search_tools_definition,
)

SUMMARY = "Orders of the shop. Newest first, with their customers."
SHOP = (
    ManifestEntry("shop", ("list", "get", "refund", "cancel", "deliver_parcel", "accept_return"), SUMMARY),
    ManifestEntry("mail", ("send", "search"), "Messages. To send and to find."),
    ManifestEntry("calculator-of-very-large-and-very-small-numbers", ("add",)),
)
LONG = tuple(
    ManifestEntry(f"{entry.server}-{n}", entry.tools, f"A sentence that is {'very ' * 17}long. " * 3)
    for n in range(4)
    for entry in SHOP
)
WORD = st.text("abc.", min_size=1, max_size=6)
ENTRY = st.builds(
    ManifestEntry,
    WORD,
    st.lists(WORD, min_size=1, max_size=14).map(tuple),
    st.lists(WORD, max_size=30).map(" ".join),
)
CATALOG = st.lists(ENTRY, min_size=1, max_size=6, unique_by=lambda entry: entry.server)
HOSTILE = st.text(st.characters() | st.sampled_from("\n\r\x0b\x85\u2028-\ud800"), max_size=40)
HOSTILE_ENTRY = st.builds(ManifestEntry, HOSTILE, st.lists(HOSTILE, min_size=1).map(tuple), HOSTILE)


def manifest_text(servers: Sequence[ManifestEntry]) -> str:
    """The whole manifest, without a budget."""
    return fitted_manifest(servers, ManifestSettings(0), len).text


def words(text: str) -> int:
    return len(text.split())


def quarters(text: str) -> int:
    return len(text) // 4


def uneven(text: str) -> int:
    """A counter for which a shorter text may well have more tokens."""
    return sum(map(ord, text)) % 97


COUNTERS = st.sampled_from([words, quarters, len, uneven])


def names(count: int) -> tuple[str, ...]:
    return tuple(f"tool_{index}" for index in range(count))


def test_a_server_of_ten_tools_is_listed_in_full_and_one_of_more_shows_four_and_counts_the_rest() -> None:
    text = manifest_text([ManifestEntry("weather", names(10), "Forecasts"), ManifestEntry("calc", names(11))])
    assert f"- weather (10 tools): {', '.join(names(10))}\n  Forecasts\n\n" in text
    assert text.splitlines()[-1] == "- calc (11 tools): tool_0, tool_1, tool_2, tool_3, ... and 7 more"


def test_the_meta_tool_carries_the_manifest_and_three_optional_parameters() -> None:
    function = search_tools_definition("THE MANIFEST")["function"]
    assert function["name"] == "search_tools"
    assert function["description"].endswith("<manifest>\nTHE MANIFEST\n</manifest>")
    assert list(function["parameters"]["properties"]) == ["query", "server_name", "tool_names"]
    assert "required" not in function["parameters"]
    assert "<manifest>" not in search_tools_definition("")["function"]["description"]


@pytest.mark.parametrize("most", [0, len(manifest_text(SHOP))])
def test_what_fits_is_left_as_it_is(most: int) -> None:
    manifest = fitted_manifest(SHOP, ManifestSettings(most), len)
    assert manifest == Manifest(manifest_text(SHOP), len(manifest_text(SHOP)), ())
    assert fitted_manifest((), ManifestSettings(most), len) == Manifest("", 0, ())


def shortened(servers: Sequence[ManifestEntry]) -> list[Manifest]:
    """The different manifests, each with a budget of one less than the one before has."""
    found = [fitted_manifest(servers, ManifestSettings(0), len)]
    while HEADER not in found[-1].text or "- " in found[-1].text:
        found.append(fitted_manifest(servers, ManifestSettings(found[-1].tokens - 1), len))
    return found


def test_the_steps_come_one_after_the_other() -> None:
    told = [
        (),
        ("descriptions cut to their first sentence",),
        ("descriptions cut to 80 characters",),
        ("descriptions left out",),
        ("descriptions and names of tools left out",),
        ("servers named on one line",),
        *((f"only the {n} of 12 servers with the most tools named",) for n in range(11, 0, -1)),
        ("none of 12 servers named",),
    ]
    assert [manifest.rules for manifest in shortened(LONG)] == told


@pytest.mark.parametrize(
    ("rule", "begins"),
    [
        (
            "descriptions left out",
            f"- shop-0 (6 tools): {', '.join(SHOP[0].tools)}\n\n- mail-0 (2 tools): send, search\n\n",
        ),
        ("descriptions and names of tools left out", "- shop-0 (6 tools)\n\n- mail-0 (2 tools)\n\n"),
        ("servers named on one line", "- shop-0, mail-0, "),
        ("only the 5 of 12 servers with the most tools named", "- shop-0, mail-0, shop-1, shop-2, shop-3\n"),
        ("none of 12 servers named", "12 servers"),
    ],
)
def test_what_is_left_after_a_step(rule: str, begins: str) -> None:
    manifest = next(one for one in shortened(LONG) if one.rules and one.rules[-1] == rule)
    assert manifest.text.removeprefix(HEADER).lstrip().startswith(begins)


@given(CATALOG, st.integers(1, 400), COUNTERS)
def test_a_manifest_is_within_its_budget_or_the_header_alone(
    servers: list[ManifestEntry], most: int, count: Callable[[str], int]
) -> None:
    manifest = fitted_manifest(servers, ManifestSettings(most), count)
    assert manifest.tokens == count(manifest.text)
    assert manifest.tokens <= most or manifest.text.startswith(f"{HEADER} {len(servers)} server")
    assert bool(manifest.rules) == (manifest.text != manifest_text(servers))


@given(st.lists(HOSTILE_ENTRY, min_size=1, max_size=4), st.integers(0, 200))
def test_no_text_of_a_server_begins_a_line(servers: list[ManifestEntry], most: int) -> None:
    text = fitted_manifest(servers, ManifestSettings(most), len).text
    begun = [line for line in text.splitlines()[1:] if line and not line.startswith("  ")]
    assert all(line.startswith(("- ", "... ")) for line in begun)
    assert len(begun) <= len(servers) + 1
