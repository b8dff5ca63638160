"""Literals in a query (quoted text, addresses, paths, ids, numbers), and what is an example only.

A literal tells what to do something with, not what to do: `notes/2024.md` resembles tools for notes and for
dates. Its type does tell: a “.md” path is a markdown file.
"""

import re

SMALL_TALK = (
    "Good morning, I hope you slept well.",
    "Thank you, that was really helpful.",
    "Ok great, that is what I meant.",
    "No worries, it happens to everybody.",
    "I am so tired today.",
    "What a long week this has been.",
    "Lovely weather, it makes me want to sit outside.",
    "It has been raining here for days.",
    "Haha, that is a good one.",
    "You are the best, honestly.",
    "I had coffee with my sister this morning.",
    "We went hiking at the weekend and got lost.",
    "My boss is in a terrible mood again.",
    "I never liked Mondays.",
    "That sounds about right.",
    "Hmm, I am not sure how I feel about that.",
    "Sorry for the confusion earlier.",
    "I think I will make some tea now.",
    "The meeting went on forever, as usual.",
    "Computers and I will never be friends.",
    "I hate it when the printer does that.",
    "My cat just walked over the keyboard.",
    "The kids are finally asleep.",
    "Anyway, where were we?",
    "Never mind, forget what I said.",
    "I love how quiet the office is on Fridays.",
    "It is funny how time flies.",
    "Fingers crossed that it works this time.",
    "Everyone keeps sending me emails about it.",
    "We have been through a lot with this project.",
    "How are you doing today?",
    "See you tomorrow, have a nice evening.",
)
REQUESTS = (
    "list all open orders",
    "Send a mail to the whole team",
    "get the current weather in Oslo",
    "What is the exchange rate of the euro?",
    "create a calendar event for Thursday",
    "Show me the logs of the last hour",
    "delete the draft page",
    "How many users signed up in May?",
    "search papers on protein folding",
    "convert this document to PDF",
    "Turn off the lamp in the hall",
    "Who owns the domain example.com?",
    "restart the database server",
    "Is there a train to Lyon tonight?",
    "translate text into Polish",
    "add a comment to the ticket",
    "find restaurants near the station",
    "Book a table for four",
    "resize an image",
    "calculate the monthly rate of a loan",
    "I would like to order the blue one again",
    "Refund the last payment",
    "run a query on the sales table",
    "Which files did we change yesterday?",
    "play some jazz",
    "download the invoice",
    "recommend a film for tonight",
    "update the address of a customer",
    "summarize the meeting notes",
    "upload a picture to the gallery",
    "check whether the backup is complete",
    "plan a route with three stops",
)


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


def typed(text: str) -> str:
    """The text with each literal replaced by its type, or left out where it has none."""
    text = _URL.sub(" url ", text)
    text = _MAIL.sub(" email ", text)
    text = _QUOTE.sub(_quoted, text)
    text = _PATH.sub(_path, text)
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
