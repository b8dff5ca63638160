"""What a session does beyond discovery: it predicts, goes around what fails, and tells what changed."""
