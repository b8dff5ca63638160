"""The events of a session: what each says, and how it is told."""
