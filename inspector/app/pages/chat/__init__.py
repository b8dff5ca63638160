"""Place 1: the conversation, and the race of its last question."""
