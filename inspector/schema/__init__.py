"""A JSON Schema: read, compared, checked, made into a form."""
