"""What keeps tools from being found, chosen and called right."""
