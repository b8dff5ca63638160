"""What is kept between sessions: events, calls and memory, in SQLite."""
