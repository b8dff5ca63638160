"""Pictures of the running app; `make screenshots` takes them again."""
