"""What a chain of tool calls is protected by while tools and servers fail."""
