"""One tool: its definition, a form to call it, and the answer."""
