"""A section like those of `toolsight reproduce`, with fixed numbers, for pictures and key presses."""

from inspector.domain.report import Section, Table
from inspector.research.catalog_size import HEADERS

CATALOG_SIZE = Section(
    "catalog-size",
    "Tokens by catalog size",
    "semantic tool discovery, section 11.1, Table 1, and section 11.4",
    "tokens of the `tools` array as compact JSON (o200k_base, exact), meta-tool, manifest and always-include "
    "set counted, under the default settings",
    (
        Table(
            "generated catalogs, 420 tokens a tool, 20 tools a server",
            HEADERS,
            (
                ("10", "0", "4,200", "4,200", "1,800", "222", "57 %", "94.7 %", "2,322", "4,422"),
                ("50", "11", "21,000", "21,000", "2,400", "1,975", "89 %", "90.5 %", "4,454", "7,924"),
                ("100", "3", "42,000", "42,000", "2,800", "722", "93 %", "98.2 %", "2,870", "5,877"),
                ("200", "11", "84,000", "84,000", "3,200", "2,148", "96 %", "97.4 %", "4,330", "7,385"),
            ),
            frozenset(range(10)),
        ),
        Table(
            "Other people's catalogs",
            ("catalog", "state"),
            (("none", "skipped: name a folder of catalogs with --data"),),
        ),
    ),
    ("Static binding is exactly 420 tokens a tool at every size: a constant times the number of tools.",),
    (
        ("100 tools of 420 tokens, 3 always included: first call cut by 95 %", "98.2 %", True),
        ("100 tools of 420 tokens, 11 always included: first call cut by 95 %", "94.0 %", False),
    ),
)
