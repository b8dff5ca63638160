"""What a prompt cache makes of the tokens, the ways to deliver tools, and what-if."""
