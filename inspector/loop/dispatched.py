"""What came of a model's call."""

from dataclasses import dataclass

from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The text the model reads, whether the guard detected a loop, and whether the call failed.

    `definitions` are those that the provider loads with the result.
    """

    text: str
    is_loop: bool = False
    failed: bool = False
    definitions: tuple[JsonObject, ...] = ()
