"""The marketplace on the command line."""
