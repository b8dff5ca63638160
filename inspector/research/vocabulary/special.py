"""What only some servers do."""

from collections.abc import Mapping

from inspector.research.vocabulary.word import Action


def _action(
    name: str,
    sentences: tuple[str, str],
    queries: tuple[str, ...],
    parameters: str = "{one}_id",
    note: str = "",
    *,
    writes: bool = True,
) -> Action:
    return Action(name, sentences, queries, tuple(parameters.split()), (note,) if note else (), writes)


_CODE: Mapping[str, Action] = {
    "merge": _action(
        "merge_{one}",
        ("Merge a {one} into its base.", "Merge a {one} by merge commit, squash or rebase."),
        ("bring {object} {where} into main, that {said} is approved", "land the {said} {object} {where}"),
        "{one}_id method commit_title",
        "Refused while required checks have not passed.",
    ),
    "close": _action(
        "close_{one}",
        ("Close a {one} with an optional reason.", "Set the state of a {one} to closed."),
        ("{object} {where} is solved, mark that {said} as done", "we can shut the {said} {object} {where}"),
        "{one}_id reason",
    ),
    "comment": _action(
        "add_{one}_comment",
        ("Comment on a {one}.", "Add a comment in Markdown to the thread of a {one}."),
        (
            "reply under {object} {where} that we look into it, it is a {said}",
            "leave a remark on the {said} {object} {where} for {person}",
        ),
        "{one}_id body",
        "Mentions notify the people named.",
    ),
    "rerun": _action(
        "rerun_{one}",
        ("Run a {one} again.", "Start a failed {one} of a {scope} once more."),
        ("{object} {where} was flaky, kick off that {said} again", "retry the {said} {object} {where}"),
        "{one}_id only_failed",
    ),
    "assign": _action(
        "assign_{one}",
        ("Assign a {one} to a person.", "Set or clear who is responsible for a {one}."),
        (
            "{person} should take over {object} {where}, a {said}",
            "hand the {said} {object} {where} to {person}",
            "make {person} the owner of {object}, the {said} {where}",
        ),
        "{one}_id assignee",
    ),
    "label": _action(
        "add_{one}_labels",
        ("Add labels to a {one}.", "Tag a {one} of a {scope} with one or more labels."),
        ("tag {object} {where} as urgent, that {said}", "mark the {said} {object} {where} with {topic}"),
        "{one}_id labels",
    ),
    "transition": _action(
        "transition_{one}",
        ("Move a {one} to another workflow status.", "Apply a workflow transition to a {one}."),
        (
            "{object} {where} is now being worked on, move the {said} along",
            "push the {said} {object} {where} to the review column",
            "{object} {where} passed testing, so advance that {said} to done",
        ),
        "{one}_id transition_id comment",
        "Ask for the transitions that are possible from the present status first.",
    ),
    "link": _action(
        "link_{many}",
        ("Link two {many} with a relation such as blocks or duplicates.", "Connect two {many}."),
        ("{object} cannot start before {other} {where}, connect these {saids}",),
        "{one}_id other_{one}_id relation",
    ),
    "rank": _action(
        "rank_{many}",
        ("Change the order of {many} in the backlog.", "Rank {many} before or after another one."),
        ("put the {said} {object} at the very top {where}", "{object} matters more than {other} {where}"),
        "{one}_id before_id after_id",
    ),
}
_TALK: Mapping[str, Action] = {
    "post": _action(
        "post_{one}",
        ("Post a {one} to a channel or a person.", "Send a {one}, with blocks and attachments if needed."),
        (
            "let everybody {where} know about {topic}",
            "write to {person} {where} that {topic} is finished",
            "drop a line on {topic} {where}",
        ),
        "text blocks",
        "Text over 4,000 characters is cut.",
    ),
    "react": _action(
        "add_{one}_reaction",
        ("React to a {one} with an emoji.", "Add an emoji reaction to a {one}."),
        ("give {object} {where} a thumbs up", "put a check mark under the {said} {object} {where}"),
        "{one}_id emoji",
    ),
    "pin": _action(
        "pin_{one}",
        ("Pin a {one} to its channel.", "Pin a {one} so that it stays on top."),
        ("keep the {said} {object} at the top {where}", "stick {object} where all can see it {where}"),
    ),
    "schedule": _action(
        "schedule_{one}",
        ("Schedule a {one} for later.", "Queue a {one} to be sent at a given time."),
        ("tomorrow at nine write about {topic} {where}", "have a {said} on {topic} go out {where} on Friday"),
        "text send_at",
    ),
    "invite": _action(
        "invite_to_{one}",
        ("Invite users to a {one}.", "Add one or more members to a {one}."),
        ("bring {person} into the {said} {object} {where}", "{person} has to be let in on {object} {where}"),
        "{one}_id users",
    ),
}
_FILES: Mapping[str, Action] = {
    "read": _action(
        "read_{one}",
        ("Read a {one} from disk.", "Return the content of a {one}, whole or in part."),
        (
            "what is written in {object} {where}",
            "let me see what {object} {where} holds",
            "show the content of the {said} {object} {where}",
        ),
        "{one}_path",
        writes=False,
    ),
    "write": _action(
        "write_{one}",
        ("Write a {one} to disk.", "Replace or create a {one} with new content."),
        ("save my notes on {topic} {where} as a {said}", "put this text about {topic} into {object} {where}"),
        "{one}_path content",
    ),
    "move": _action(
        "move_{one}",
        ("Move or rename a {one}.", "Move a {one} to another path."),
        (
            "{object} {where} should live somewhere else, relocate that {said}",
            "give {object} {where} another name",
        ),
        "{one}_path destination",
    ),
    "append": _action(
        "append_to_{one}",
        ("Append text to the end of a {one}.", "Add lines to a {one} without touching what is there."),
        ("add a line on {topic} at the bottom of {object} {where}", "tack {topic} onto {object} {where}"),
        "{one}_path content",
    ),
    "pack": _action(
        "compress_{many}",
        ("Compress {many} into an archive.", "Pack {many} as zip or tar."),
        ("zip up the {saids} {where}", "make one small package of all {saids} {where} for {person}"),
        "paths format",
    ),
}
_DATA: Mapping[str, Action] = {
    "query": _action(
        "query_{many}",
        ("Query {many} with a read-only SQL statement.", "Run a SELECT over {many} and return the result."),
        (
            "pull the numbers on {topic} out of the {saids} {where}",
            "which {saids} {where} have to do with {topic}, ten of them are enough",
            "work out {topic} {when} from what is stored {where}",
        ),
        "sql limit",
        "Anything but a SELECT is refused.",
        writes=False,
    ),
    "describe": _action(
        "describe_{one}",
        ("Describe a {one}: its structure, types and constraints.", "Return the definition of a {one}."),
        (
            "how is {object} {where} built",
            "what does the structure of the {said} {object} {where} look like",
            "which parts does {object} {where} have and of what type, it is a {said}",
        ),
        "{one}_name",
        writes=False,
    ),
    "insert": _action(
        "insert_{many}",
        ("Insert {many} into a table.", "Add one or more {many}, all of them or none."),
        ("store these new {saids} on {topic} {where}", "enter what {person} sent about {topic} {where}"),
        "table values",
    ),
    "explain": _action(
        "explain_{one}",
        ("Explain how a {one} is executed.", "Return the plan of a {one} with costs."),
        ("why is {object} {where} so slow", "what does the planner make of {object} {where}"),
        "{one}_text analyze",
        writes=False,
    ),
    "alter": _action(
        "alter_{one}",
        ("Alter the definition of a {one}.", "Change the structure of a {one} by a migration."),
        (
            "{object} {where} needs another field, extend that {said}",
            "rework how {object} {where} is defined",
        ),
        "{one}_name statement",
    ),
}
_WEB: Mapping[str, Action] = {
    "fetch": _action(
        "fetch_{one}",
        ("Fetch a {one} by its URL.", "Download a {one} and return it as Markdown."),
        (
            "grab {object} {where} and give me the text",
            "go to {object} {where} and tell me what it says",
            "what can be read on {object} {where}",
        ),
        "url",
        writes=False,
    ),
    "extract": _action(
        "extract_{many}",
        ("Extract the {many} of a web page.", "Return all {many} that a page has, as structured data."),
        (
            "pick all {saids} out of what is {where}",
            "I only need the {saids} from {object} {where}",
            "collect every {said} {where} in a list",
        ),
        "url",
        writes=False,
    ),
    "capture": _action(
        "capture_{one}",
        ("Capture an image of a {one}.", "Render a {one} in a browser and take a screenshot."),
        ("I want a picture of how {object} {where} looks", "take a snapshot of {object} {where}"),
        "url width",
        writes=False,
    ),
    "check": _action(
        "check_{one}",
        ("Check whether a {one} is reachable.", "Test a {one} and report status and latency."),
        ("is {object} {where} up", "does {object} {where} still answer"),
        "url timeout",
        writes=False,
    ),
}
SPECIAL: Mapping[str, Action] = {**_CODE, **_TALK, **_FILES, **_DATA, **_WEB}
