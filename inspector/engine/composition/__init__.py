"""What a session does beyond discovery to compose its tools: it predicts, it goes around what fails."""
