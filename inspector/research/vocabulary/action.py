"""What is done with things on any server. The words of a request are not those of the tool's own text."""

from collections.abc import Mapping

from inspector.research.vocabulary.word import Action

USUAL: Mapping[str, Action] = {
    "list": Action(
        "list_{many}",
        (
            "List the {many} of a {scope}, newest first.",
            "List all {many} in a {scope}, one page at a time.",
        ),
        (
            "which {saids} are there {where}",
            "give me an overview of every {said} {where}",
            "what {saids} do we have {where} at the moment",
            "show me the latest {saids} {where}",
        ),
        ("page", "per_page", "sort"),
        ("Returns a page of short records; ask for one of them to see the rest.",),
    ),
    "get": Action(
        "get_{one}",
        (
            "Get one {one} of a {scope}: {about}.",
            "Return a single {one} with everything that is known about it.",
        ),
        (
            "pull up {object} {where}, I need the details of that {said}",
            "what exactly does the {said} for {object} say {where}",
            "open {object} for me, the {said} {where}",
            "tell me what is in {object}, it is a {said} {where}",
        ),
        ("{one}_id",),
        ("Fails when the id is not known; look for it by words first.",),
    ),
    "create": Action(
        "create_{one}",
        (
            "Create a {one} in a {scope}.",
            "Add a new {one}, {about}, to a {scope}.",
        ),
        (
            "we need a fresh {said} on {topic} {where}, make one",
            "set up a {said} for {topic} {where}",
            "start a new {said} {where}, it is about {topic}",
            "put together a {said} on {topic} {where}",
        ),
        (),
        ("The id of what was created is part of the answer.",),
        writes=True,
        sets_fields=True,
    ),
    "update": Action(
        "update_{one}",
        (
            "Update the settings of an existing {one}.",
            "Change one or more properties of a {one} in a {scope}.",
        ),
        (
            "the {field} of {object} is wrong, correct that {said} {where}",
            "adjust the {field} on the {said} for {object} {where}",
            "{object} {where} should get a different {field}, fix the {said}",
            "edit the {said} {object} {where} so that its {field} is right",
        ),
        ("{one}_id",),
        ("What is not given stays as it is.",),
        writes=True,
        sets_fields=True,
    ),
    "delete": Action(
        "delete_{one}",
        (
            "Delete a {one} of a {scope} for good.",
            "Permanently delete one {one} and everything that belongs to it.",
        ),
        (
            "get rid of {object} {where}, nobody needs that {said} any more",
            "throw the {said} for {object} away {where}",
            "the {said} {object} {where} can be removed",
            "wipe out {object}, an obsolete {said} {where}",
        ),
        ("{one}_id", "confirm"),
        ("This cannot be undone.",),
        writes=True,
    ),
    "search": Action(
        "search_{many}",
        (
            "Search the {many} of a {scope} by words and filters.",
            "Full-text search over {many}, best match first.",
        ),
        (
            "is there any {said} {where} that mentions {topic}",
            "look for {saids} on {topic} {where}",
            "I remember a {said} about {topic} {where}, find it",
            "track down whatever {saids} talk of {topic} {where}",
        ),
        ("query", "page", "per_page"),
        ("Supports quotes for phrases and a minus sign for words to leave out.",),
    ),
    "count": Action(
        "count_{many}",
        (
            "Count the {many} of a {scope}, in total or by group.",
            "Return the number of {many} that match a filter.",
        ),
        (
            "how many {saids} are there {where}",
            "what is the number of {saids} {where} {when}",
            "give me a tally of {saids} {where}",
            "I just want to know how large the pile of {saids} {where} is",
        ),
        ("group_by", "filter"),
        ("Cheaper than paging through all of them.",),
    ),
    "export": Action(
        "export_{many}",
        (
            "Export {many} to a CSV, JSON or spreadsheet file.",
            "Write all {many} of a {scope} into a file for download.",
        ),
        (
            "put all {saids} {where} into a spreadsheet",
            "I need a CSV with the {saids} {where}",
            "save the {saids} {where} to a file that I can mail to {person}",
            "dump every {said} {where} as JSON",
        ),
        ("format", "filter"),
        ("Large exports run in the background; the answer has a link.",),
    ),
    "archive": Action(
        "archive_{one}",
        (
            "Archive a {one}, which hides it from lists without deleting it.",
            "Move a {one} to the archive of its {scope}.",
        ),
        (
            "hide {object} {where}, but keep the {said} just in case",
            "put the {said} {object} away {where} without losing it",
            "we are done with {object} {where}, take that {said} out of sight",
            "shelve the {said} for {object} {where}",
        ),
        ("{one}_id", "reason"),
        ("It can be brought back later.",),
        writes=True,
    ),
    "restore": Action(
        "restore_{one}",
        (
            "Restore a deleted or archived {one}.",
            "Bring a {one} back from the archive of its {scope}.",
        ),
        (
            "{object} {where} was put away by mistake, get that {said} back",
            "undo the removal of the {said} {object} {where}",
            "we want the old {said} for {object} {where} again",
            "revive {object}, the {said} we lost {where}",
        ),
        ("{one}_id", "version"),
        ("Works for 90 days after the removal.",),
        writes=True,
    ),
    "history": Action(
        "get_{one}_history",
        (
            "Get the change log of a {one}: who changed what, and when.",
            "Return all earlier versions of one {one} of a {scope}.",
        ),
        (
            "who touched the {said} {object} {where} {when}",
            "what did the {said} for {object} {where} look like before",
            "trace every edit of {object}, the {said} {where}",
            "when was {object} {where} modified and by whom, it is a {said}",
        ),
        ("{one}_id", "since", "until"),
        ("Entries are ordered from the oldest to the newest.",),
    ),
    "compare": Action(
        "compare_{many}",
        (
            "Compare two {many} and return their differences.",
            "Show what differs between two {many} of a {scope}.",
        ),
        (
            "what is different between {object} and {other}, both {saids} {where}",
            "put the {saids} {object} and {other} side by side {where}",
            "do the {saids} {object} and {other} {where} disagree anywhere",
        ),
        ("{one}_id", "other_{one}_id", "format"),
        ("Equal parts are left out.",),
    ),
    "copy": Action(
        "copy_{one}",
        (
            "Copy a {one} within a {scope} or to another one.",
            "Duplicate a {one} under a new name.",
        ),
        (
            "make a second {said} just like {object} {where}",
            "clone {object} {where}, I want to try things on a twin of that {said}",
            "take the {said} for {object} {where} as the basis of an identical one",
        ),
        ("{one}_id", "name"),
        ("Links to other records are kept.",),
        writes=True,
    ),
    "watch": Action(
        "watch_{one}",
        (
            "Subscribe a user to the notifications of a {one}.",
            "Watch a {one} and be notified of every change.",
        ),
        (
            "tell {person} whenever something happens to the {said} {object} {where}",
            "keep me posted on {object}, the {said} {where}",
            "alert us about changes of the {said} for {object} {where}",
        ),
        ("{one}_id", "events", "user"),
        ("Calling it twice changes nothing.",),
        writes=True,
    ),
}
