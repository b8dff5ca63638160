"""The cost of tokens under a prompt cache, by delivery, and what-if."""
