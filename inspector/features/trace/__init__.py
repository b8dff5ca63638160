"""What was recorded: model calls, events, sessions, and statistics over them."""
