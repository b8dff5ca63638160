"""A model's failure as a command ends with it."""

from inspector.core.error import ModelError
from inspector.core.events import Failed


def model_failure(failed: Failed, session: str) -> ModelError:
    """The error to end with; its hint says where what came back can be read."""
    more = f"`toolsight sessions show {session} --kind error --json` shows the reply." if failed.raw else ""
    return ModelError(failed.message, hint=" ".join(filter(None, (failed.hint, more))), raw=failed.raw)
