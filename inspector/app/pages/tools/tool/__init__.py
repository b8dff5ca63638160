"""The tool page: a tool's definition, a form to call it, and the result."""
