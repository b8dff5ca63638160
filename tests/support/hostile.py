"""Hostile text by kind, for tests that draw several pages a text: one for all strings of a kind."""

from fixtures.hostile import HUGE, MARKUP, SIZE, TERMINAL, UNICODE

KINDS = {
    "markup": " | ".join(MARKUP.values()),
    "terminal": " | ".join(TERMINAL.values()),
    "unicode": " | ".join(UNICODE.values()),
    "size": " | ".join(text for name, text in SIZE.items() if name not in HUGE),
}
HUGE_KINDS = {**KINDS, **{name: SIZE[name] for name in HUGE}}
