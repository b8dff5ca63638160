"""Place 1: the conversation, and the race between static binding and discovery."""
