"""Place 2: servers, their tools, and the manifest as sent."""
