"""What a session does beyond discovery: it predicts, works around failures, and reports changes."""
