"""A section like those of `toolsight bench papers`, with fixed numbers, for pictures and key presses."""

from inspector.core.report import Origin, Section, Table
from inspector.research.catalog_size import CALIBRATED, HEADERS
from inspector.research.source import recorded

CATALOG_SIZE = Section(
    "catalog-size",
    "Tokens by catalog size",
    "semantic tool discovery, section 11.1, Table 1, and section 11.4",
    "tokens of the `tools` array as compact JSON (o200k_base, exact), meta-tool, manifest and always-include "
    "set counted, under the default settings",
    (
        Table(
            "The demo's catalog",
            HEADERS,
            (
                ("10", "0", "4,200", "1,608", "1,800", "228", "57 %", "85.8 %", "1,032", "1,836"),
                ("50", "11", "21,000", "6,220", "2,400", "1,149", "89 %", "81.5 %", "1,852", "3,400"),
                ("84", "3", "–", "10,376", "–", "675", "–", "93.4 %", "1,305", "2,692"),
                ("84", "11", "–", "10,376", "–", "1,207", "–", "88.3 %", "1,871", "3,333"),
            ),
            frozenset(range(10)),
        ),
        Table(
            "Other people's catalogs",
            ("catalog", "state"),
            (("none", "skipped: name a folder of catalogs with --data"),),
        ),
        Table(
            "generated catalogs, 420 tokens per tool, 20 tools per server",
            HEADERS,
            (
                ("100", "3", "42,000", "42,000", "2,800", "719", "93 %", "98.2 %", "2,867", "7,592"),
                ("200", "11", "84,000", "84,000", "3,200", "2,145", "96 %", "97.4 %", "4,327", "9,127"),
            ),
            frozenset(range(10)),
            origin=Origin.CALIBRATION,
            why=CALIBRATED,
        ),
    ),
    ("Static binding is exactly 420 tokens a tool at every size: a constant times the number of tools.",),
    (
        ("calibration, 100 tools of 420 tokens, 3 always included: first call cut by 95 %", "98.2 %", True),
        ("calibration, 100 tools of 420 tokens, 11 always included: first call cut by 95 %", "94.0 %", False),
    ),
    recorded("tool tokens of a model call, with the searches that the agents made"),
)
