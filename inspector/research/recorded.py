"""Where a report points for what recorded runs of real agents show: another command measures them."""

COMMAND = "toolsight bench runs FOLDER --tools FILE"
RESULTS = "docs/papers/recorded-runs.md"


def recorded(what: str) -> str:
    """The command that measures this on recorded runs, and where its results stand; numbers stay there."""
    return f"{what}: `{COMMAND}`, with results in {RESULTS}; the runs are other people's and not shipped"
