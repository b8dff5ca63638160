"""The literals of a query, and their kinds.

A literal (quoted text, an address, a path, a cell, a date, an amount, an id) tells what to do something with,
not what to do: `notes/2024.md` resembles tools for notes and for dates. Its kind does tell: a “.md” path is a
markdown file, and “go to example.com” asks for what takes a URL.
"""

import re

_KINDS = {
    "markdown": "md",
    "text": "txt",
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "spreadsheet": "xls xlsx ods",
    "word": "doc docx",
    "presentation": "ppt pptx",
    "image": "png jpg jpeg gif svg webp",
    "audio": "mp3 wav flac",
    "video": "mp4 mov avi mkv",
    "archive": "zip gz tar",
    "yaml": "yaml yml",
    "script": "sh",
    "database": "db sqlite",
    "notebook": "ipynb",
}
_SAME = ["json", "csv", "pdf", "html", "xml", "sql", "log", "parquet", "toml", "ini"]
_TYPES = {ending: kind for kind, endings in _KINDS.items() for ending in endings.split()} | dict(
    zip(_SAME, _SAME, strict=True)
)
_ENDINGS = "|".join(sorted(_TYPES, key=len, reverse=True))
_QUOTE = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{2,300}'(?!\w)|(?<!\w)‘[^’\n]{1,300}’(?!\w)"
)
_URL = re.compile(r"\b(?:https?|ftp|s3|git)://[^\s\"'<>)]+|\bwww\.[^\s\"'<>)]+", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_PATH = re.compile(
    rf"(?<![\w/])(?:~|\.{{1,2}})?/?(?:[\w.-]{{1,99}}/)+[\w.-]*|\b[\w-]{{1,99}}\.(?:{_ENDINGS})\b|\b[A-Z]:\\\S+",
    re.IGNORECASE,
)
# A word with two digits or more, or with one and an underscore, is an id; `Neo4j` and `S3` are names.
_ID = re.compile(
    r"#\d+|(?<![\w-])\d(?:[\d.,:/-]*\d)?(?!\w)|\b(?=\w*\d)(?=\w*_)\w+\b|\b(?=[\w-]{0,99}\d[\w-]{0,99}\d)[A-Za-z\d][\w-]*\b"
)


_TOP = "com|org|net|io|dev|edu|gov|app|ai|info|co|eu|uk|de|fr|no|se|nl|es|it|ch|at|us|ca|au"
_DOMAIN = re.compile(
    rf"(?<![\w@./-])(?:[a-z0-9-]{{1,63}}\.){{1,4}}(?:{_TOP})(?:/[^\s\"'<>)]*)?(?![\w.])", re.IGNORECASE
)
# What a spreadsheet, a calendar or an account is told. One cell alone has two digits: Q3 and S3 are names.
_PLAIN = (
    (re.compile(r"(?<![\w-])[A-Z]{1,2}\d{1,5}\s?(?::|-|–|to)\s?[A-Z]{1,2}\d{1,5}(?![\w-])"), " cell range "),
    (re.compile(r"(?<![\w-])[A-Z]\d{2,4}(?![\w-])"), " cell "),
    (re.compile(r"(?<![\w-])(?:\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2}))(?![\w-])"), " date "),
    (
        re.compile(r"(?<![\w:])(?:\d{1,2}:\d{2}(?:\s?[ap]m)?|\d{1,2}\s?[ap]m)(?![\w:])", re.IGNORECASE),
        " time ",
    ),
    (
        re.compile(
            r"[$€£]\s?\d[\d.,]*|(?<![\w.])\d[\d.,]*\s?(?:dollars?|euros?|pounds?|usd|eur|gbp)(?!\w)",
            re.IGNORECASE,
        ),
        " amount ",
    ),
)


def typed(text: str) -> str:
    """The text with each literal replaced by its kind, or left out where it has none."""
    text = _URL.sub(" url ", text)
    text = _MAIL.sub(" email ", text)
    text = _QUOTE.sub(_quoted, text)
    text = _DOMAIN.sub(" url ", text)
    text = _PATH.sub(_path, text)
    for pattern, kind in _PLAIN:
        text = pattern.sub(kind, text)
    return " ".join(_ID.sub(" ", text).split())


def _quoted(match: re.Match[str]) -> str:
    path = _PATH.fullmatch(match[0][1:-1])
    return _path(path) if path else " "


def _path(match: re.Match[str]) -> str:
    last = match[0].replace("\\", "/").rsplit("/", 1)[-1]
    kind = _TYPES.get(last.rsplit(".", 1)[-1].lower(), "") if "." in last else ""
    if kind:
        return f" {kind} file "
    return " file " if "." in last else " folder "
