"""Parameters that tools of every kind have, with what servers write about them."""

from collections.abc import Mapping
from typing import Any

from inspector.domain.jsonvalue import JsonObject

_NUMBER: JsonObject = {"type": "integer"}
_SWITCH: JsonObject = {"type": "boolean"}
_NAMES: JsonObject = {"type": "array", "items": {"type": "string"}}


def text(about: str, **more: Any) -> JsonObject:
    """A string parameter."""
    return {"type": "string", "description": about, **more}


def choice(about: str, *values: str) -> JsonObject:
    """A string parameter with the values that it may have."""
    return {"type": "string", "enum": list(values), "description": about}


def _of(kind: JsonObject, about: str, **more: Any) -> JsonObject:
    return {**kind, "description": about, **more}


LOCATED: Mapping[str, JsonObject] = {
    "owner": text("Account that owns the repository, a user or an organisation. Not case sensitive."),
    "repo": text("Name of the repository without the .git at its end. Not case sensitive."),
    "project_key": text("Key of the project, the capital letters that its issues begin with."),
    "channel": text("Id of the channel or conversation, or its name with a # in front."),
    "database": text("Name of the database as it is configured for this server."),
    "schema": text("Schema to work in; public where none is given."),
    "path": text("Absolute path of the folder."),
    "url": text("Address of the page, with http or https."),
}
KNOWN: Mapping[str, JsonObject] = {
    "page": _of(_NUMBER, "Page of the results, counted from 1.", minimum=1, default=1),
    "per_page": _of(_NUMBER, "Results on a page, 100 at most.", minimum=1, maximum=100, default=30),
    "sort": choice("What the results are ordered by.", "created", "updated", "name", "relevance"),
    "query": text("Words to look for. Put a phrase in quotes."),
    "confirm": _of(_SWITCH, "Has to be true, as a guard against accidents.", default=False),
    "group_by": choice("Count by group instead of in total.", "status", "author", "day", "month"),
    "filter": text("Expression that records have to meet, such as status = open."),
    "format": choice("Format of the output.", "json", "csv", "markdown", "text"),
    "reason": text("Why this is done; it is shown in the log."),
    "since": text("Only what happened at or after this time, ISO 8601.", format="date-time"),
    "until": text("Only what happened before this time, ISO 8601.", format="date-time"),
    "events": _of(_NAMES, "Kinds of event to be told about; all of them where the list is empty."),
    "labels": _of(_NAMES, "Labels to set. Those that do not exist yet are created."),
    "user": text("User name or e-mail address of the person."),
    "users": _of(_NAMES, "User names or e-mail addresses of the people."),
    "assignee": text("User name of the person; empty for nobody."),
    "only_failed": _of(_SWITCH, "Only the steps that failed.", default=True),
    "method": choice("How it is done.", "merge", "squash", "rebase"),
    "limit": _of(_NUMBER, "Results at most.", minimum=1, maximum=1000, default=100),
    "depth": _of(_NUMBER, "Levels to go down at most.", minimum=0, maximum=10, default=2),
    "timeout": _of(_NUMBER, "Seconds to wait for an answer.", minimum=1, maximum=120, default=30),
    "width": _of(_NUMBER, "Width of the window in pixels.", minimum=320, maximum=3840, default=1280),
    "private": _of(_SWITCH, "Whether only invited people can see it.", default=False),
    "paths": _of(_NAMES, "Absolute paths, relative ones are refused."),
    "sql": text("One SQL statement. Values go in as $1, $2 and so on."),
    "values": _of({"type": "array", "items": {"type": "object"}}, "Records as objects, a key a column."),
    "send_at": text("When it is sent, ISO 8601 with a time zone.", format="date-time"),
    "analyze": _of(_SWITCH, "Run the statement and measure instead of estimating.", default=False),
}
_ANY: Mapping[str, JsonObject] = {
    "fields": _of(_NAMES, "Fields to return. Fewer fields make the answer shorter; all where it is empty."),
    "expand": _of(_NAMES, "Related records to put into the answer instead of their ids alone."),
    "locale": text("Language of texts in the answer, as a BCP 47 tag such as en-GB or nb.", default="en"),
    "time_zone": text("Time zone that dates are told in, by its IANA name.", default="UTC"),
    "max_wait_ms": _of(
        _NUMBER, "Milliseconds to wait before the call goes on in the background.", minimum=0, default=5000
    ),
    "retry": {
        "type": "object",
        "description": "What to do when the backend is busy.",
        "properties": {
            "attempts": _of(_NUMBER, "Attempts at most.", minimum=1, maximum=5, default=3),
            "delay_ms": _of(_NUMBER, "Pause before the second one; it doubles after each.", default=250),
        },
    },
    "response_detail": choice("How much of each record comes back.", "ids", "summary", "normal", "full"),
    "requested_by": text("Person in whose name this is done, where that is not who is signed in."),
    "audit_note": text("A line for the audit log, 200 characters at most.", maxLength=200),
    "trace_id": text("Id that this call is found by in the logs of the backend, 32 hexadecimal digits."),
}
READING: Mapping[str, JsonObject] = {
    **_ANY,
    "include_archived": _of(_SWITCH, "Also consider what was archived or hidden.", default=False),
    "direction": choice("Order of the results.", "asc", "desc"),
    "state": choice("Only those in this state.", "open", "closed", "merged", "draft", "all"),
    "created_after": text("Only those created after this time, ISO 8601.", format="date-time"),
    "created_before": text("Only those created before this time, ISO 8601.", format="date-time"),
    "updated_after": text("Only those changed after this time, ISO 8601.", format="date-time"),
    "author": text("Only those of this person, by user name. `me` stands for whoever is signed in."),
    "cursor": text("Opaque mark from the last answer, to go on where it ended. Not together with page."),
    "tags": _of(_NAMES, "Tags that all have to be there. Upper and lower case are the same."),
    "exclude": _of(_NAMES, "Ids to leave out, for example those that were dealt with already."),
    "highlight": _of(_SWITCH, "Mark in the answer the words that were met.", default=False),
    "encoding": choice("Encoding of text in the answer.", "utf-8", "utf-16", "latin-1"),
    "date_range": {
        "type": "object",
        "description": "Span of time to look at; both ends are part of it.",
        "properties": {
            "from": text("First day, ISO 8601.", format="date"),
            "to": text("Last day, ISO 8601.", format="date"),
        },
        "required": ["from"],
    },
    "cache": choice("Whether an answer that was given before will do.", "never", "minute", "hour", "day"),
    "as_of": text("State at this time instead of now, ISO 8601; 30 days back at most.", format="date-time"),
}
WRITING: Mapping[str, JsonObject] = {
    **_ANY,
    "dry_run": _of(
        _SWITCH, "Check everything and report what would be done, without doing it.", default=False
    ),
    "idempotency_key": text("A text of your own. A second request with the same one changes nothing."),
    "if_match": text("Version that was read before. The call fails when somebody else changed it since."),
    "notify": choice("Who is told about this call.", "nobody", "watchers", "participants", "everyone"),
    "visibility": choice("Who can see the result.", "private", "team", "internal", "public"),
    "priority": choice("How urgent this is for the queue.", "lowest", "low", "normal", "high", "highest"),
    "metadata": {
        "type": "object",
        "description": "Keys and values of your own that are kept with the record and returned with it.",
        "additionalProperties": {"type": "string"},
    },
    "on_conflict": choice(
        "What happens where a record of that name exists.", "fail", "skip", "replace", "merge"
    ),
    "checksum": text("SHA-256 of the content as 64 hexadecimal digits; compared before anything happens."),
    "template": text("Name of a template whose values stand for whatever is not given here."),
    "effective_at": text("Do it at this time instead of now, ISO 8601 with a time zone.", format="date-time"),
    "approval": {
        "type": "object",
        "description": "Who agreed, where the rules ask for a second pair of eyes.",
        "properties": {
            "approved_by": text("User name of the person who agreed."),
            "approved_at": text("When that was, ISO 8601.", format="date-time"),
            "comment": text("What was said about it."),
        },
        "required": ["approved_by"],
    },
    "rollback_on_error": _of(_SWITCH, "Undo everything when one part of it fails.", default=True),
    "source": choice("Where the request comes from, for statistics.", "chat", "form", "import", "schedule"),
    "expires_at": text(
        "Undo this by itself at that time, ISO 8601; never where none is given.", format="date-time"
    ),
}
